//! Where data are taken from and where they go.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::workspace::Workspace;

use super::Request;

pub(super) struct Folders {
    pub(super) to: PathBuf,
    /// A folder that exists; only read.
    pub(super) mirror: Option<PathBuf>,
}

impl Folders {
    pub(super) fn find(workspace: &Workspace, request: &Request) -> Result<Self> {
        let to = match &request.to {
            Some(folder) => absolute(folder)?,
            None => workspace.root.join("datasets").join("prepared"),
        };
        let mirror = mirror(
            &workspace.root,
            request.mirror.as_deref(),
            std::env::var_os("EGG_DATASETS"),
        )?;
        Ok(Self { to, mirror })
    }
}

fn mirror(root: &Path, asked: Option<&Path>, variable: Option<OsString>) -> Result<Option<PathBuf>> {
    let variable = variable.filter(|value| !value.is_empty()).map(PathBuf::from);
    let (folder, said) = match (asked, variable) {
        (Some(folder), _) => (folder.to_owned(), "--mirror"),
        (None, Some(folder)) => (folder, "EGG_DATASETS"),
        (None, None) => {
            let beside = root.parent().map(|parent| parent.join("shared").join("datasets"));
            return Ok(beside.filter(|folder| folder.is_dir()));
        }
    };
    let folder = absolute(&folder)?;
    if folder.is_dir() {
        Ok(Some(folder))
    } else {
        Err(Error::Failed(format!(
            "{said} names {}, which is not a folder",
            folder.display()
        )))
    }
}

fn absolute(folder: &Path) -> Result<PathBuf> {
    std::path::absolute(folder).map_err(|e| Error::while_doing(folder.display(), e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_option_wins_over_the_variable_and_that_over_the_neighbour() {
        let parent = tempfile::tempdir().unwrap();
        let folder = |name: &str| {
            let path = parent.path().join(name);
            std::fs::create_dir_all(&path).unwrap();
            path
        };
        let (root, option, variable) = (folder("work"), folder("option"), folder("variable"));
        let set = || Some(variable.clone().into_os_string());
        assert_eq!(mirror(&root, None, None).unwrap(), None);
        let beside = folder("shared/datasets");
        assert_eq!(mirror(&root, None, None).unwrap(), Some(beside.clone()));
        assert_eq!(mirror(&root, None, Some("".into())).unwrap(), Some(beside));
        assert_eq!(mirror(&root, None, set()).unwrap(), Some(variable.clone()));
        assert_eq!(mirror(&root, Some(&option), set()).unwrap(), Some(option));
        assert!(mirror(&root, Some(&root.join("none")), None).is_err());
    }
}
