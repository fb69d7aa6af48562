//! Several files in one input, and a folder to put them into.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Begins a line that names a file; the rest of the input up to the next such
/// line is its content. (A file's last line break belongs to the mark.)
const MARK: &[u8] = b"=== ";

/// The files that an input describes, by name.
pub struct Sections<'a>(Vec<(&'static str, &'a [u8])>);

impl<'a> Sections<'a> {
    /// Takes an input apart. Names that are not among `known` are left out, so
    /// that no input decides where a file goes.
    ///
    /// ```
    /// let files = egg_fuzz::Sections::parse(b"=== A\n1, 2\n\n=== B\n3", &["A", "B"]);
    /// assert_eq!(files.get("A"), Some(&b"1, 2\n"[..]));
    /// assert_eq!(files.get("B"), Some(&b"3"[..]));
    /// ```
    pub fn parse(input: &'a [u8], known: &[&'static str]) -> Self {
        let files = Self::everything(input).filter_map(|(name, content)| {
            let name = known.iter().find(|known| **known == name)?;
            Some((*name, content))
        });
        Self(files.collect())
    }

    /// Every file that an input describes, whatever its name.
    pub(crate) fn everything(input: &'a [u8]) -> impl Iterator<Item = (&'a str, &'a [u8])> {
        let mut starts = Vec::new();
        for at in 0..input.len() {
            if input[at..].starts_with(MARK) && (at == 0 || input[at - 1] == b'\n') {
                starts.push(at);
            }
        }
        let ends: Vec<usize> = (1..=starts.len())
            .map(|index| starts.get(index).map_or(input.len(), |next| next - 1))
            .collect();
        starts.into_iter().zip(ends).filter_map(|(start, end)| {
            let start = start + MARK.len();
            let section = &input[start..end.max(start)];
            let (name, content) = match section.iter().position(|byte| *byte == b'\n') {
                Some(line) => (&section[..line], &section[line + 1..]),
                None => (section, &[][..]),
            };
            Some((std::str::from_utf8(name).ok()?, content))
        })
    }

    /// The content of a file; of several of one name, the last.
    pub fn get(&self, name: &str) -> Option<&'a [u8]> {
        self.0
            .iter()
            .rev()
            .find(|(known, _)| *known == name)
            .map(|(_, content)| *content)
    }

    /// Every name and content, in the input's order.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &'a [u8])> + '_ {
        self.0.iter().copied()
    }

    /// The input that [`Sections::parse`] takes apart into these.
    pub fn join<'b>(files: impl IntoIterator<Item = (&'b str, &'b [u8])>) -> Vec<u8> {
        let mut input = Vec::new();
        for (name, content) in files {
            if !input.is_empty() {
                input.push(b'\n');
            }
            input.extend_from_slice(MARK);
            input.extend_from_slice(name.as_bytes());
            input.push(b'\n');
            input.extend_from_slice(content);
        }
        input
    }
}

/// How the paths begin at which this process may write: in `EGG_FUZZ_FOLDER`, which
/// is the driver's, or in memory where there is such a place.
fn scratch() -> &'static str {
    static BEGIN: OnceLock<String> = OnceLock::new();
    BEGIN.get_or_init(|| {
        let memory = Path::new("/dev/shm");
        match std::env::var("EGG_FUZZ_FOLDER") {
            Ok(folder) => format!("{folder}/"),
            Err(_) => {
                let place = if memory.is_dir() {
                    memory.to_owned()
                } else {
                    std::env::temp_dir()
                };
                format!("{}/egg-fuzz-{}-", place.display(), std::process::id())
            }
        }
    })
}

/// A folder whose content is replaced for every input. Each thread has its own, which is
/// removed when the thread ends.
pub(crate) struct Folder {
    path: PathBuf,
    names: RefCell<BTreeSet<&'static str>>,
}

impl Folder {
    /// An empty folder.
    pub(crate) fn new(name: &str) -> Self {
        let thread = format!("{:?}", std::thread::current().id());
        let digits: String = thread.chars().filter(char::is_ascii_digit).collect();
        let path = PathBuf::from(format!("{}{name}-{digits}", scratch()));
        let _ = fs::remove_dir_all(&path);
        let made = fs::create_dir_all(&path);
        assert!(made.is_ok(), "{}: {made:?}", path.display());
        Self {
            path,
            names: RefCell::default(),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Makes the folder hold these files and no others that it put there.
    pub(crate) fn fill(&self, files: &[(&'static str, &[u8])]) -> &Path {
        let mut names = self.names.borrow_mut();
        names.retain(|name| {
            let kept = files.iter().any(|(wanted, _)| wanted == name);
            if !kept {
                let path = self.path.join(name);
                let _ = fs::remove_file(&path);
                // Folders too: readers check whether they exist.
                for folder in path.ancestors().skip(1).take_while(|folder| *folder != self.path) {
                    let _ = fs::remove_dir(folder);
                }
            }
            kept
        });
        for (name, content) in files {
            let path = self.path.join(name);
            if names.insert(name)
                && let Some(folder) = path.parent()
            {
                let _ = fs::create_dir_all(folder);
            }
            let written = fs::write(&path, content);
            // The disk is not what is tested here.
            assert!(written.is_ok(), "{}: {written:?}", path.display());
        }
        &self.path
    }

    /// A file in it.
    pub(crate) fn file(&self, name: &'static str, content: &[u8]) -> PathBuf {
        self.fill(&[(name, content)]).join(name)
    }

    /// An empty folder in it; its old content is removed.
    pub(crate) fn emptied(&self, name: &str) -> PathBuf {
        let path = self.path.join(name);
        let _ = fs::remove_dir_all(&path);
        let made = fs::create_dir_all(&path);
        assert!(made.is_ok(), "{}: {made:?}", path.display());
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_round_trip() {
        let files: [(&'static str, &[u8]); 3] = [
            ("A", b"1\n2\n"),
            ("B", b""),
            ("C", b"binary \n==\x00= \n=== no name of ours"),
        ];
        let input = Sections::join(files);
        let apart = Sections::parse(&input, &["A", "B", "C"]);
        assert_eq!(apart.get("A"), Some(files[0].1));
        assert_eq!(apart.get("B"), Some(files[1].1));
        // A line that begins like a mark is one.
        assert_eq!(apart.get("C"), Some(&b"binary \n==\x00= "[..]));
        for odd in [
            &b"=== "[..],
            b"=== A",
            b"\n\n=== \n=== \n",
            b"",
            b"=== A\n=== A\n=== ",
        ] {
            let _ = Sections::parse(odd, &["A"]);
        }
    }

    #[test]
    fn folder_holds_only_the_last_input() {
        let folder = Folder::new("test-of-folders");
        let path = folder.path().to_owned();
        folder.fill(&[("a", b"1"), ("b/c", b"2")]);
        folder.fill(&[("b/c", b"3")]);
        assert!(!folder.path().join("a").exists());
        assert_eq!(fs::read(folder.path().join("b/c")).unwrap(), b"3");
        folder.fill(&[("a", b"4")]);
        assert!(!folder.path().join("b").exists());
        drop(folder);
        assert!(!path.exists());
    }
}
