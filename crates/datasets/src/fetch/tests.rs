//! Fetching small data sets in every way that they can come.

use std::cell::RefCell;

use super::*;
use crate::registry::Registry;
use crate::zipped::zipped;

const A: &[u8] = b"1, 2\n2, 1\n";
const B: &[u8] = b"1\n1\n";

fn sum(content: &[u8]) -> String {
    checksum::copy(&mut { content }, &mut std::io::sink())
        .unwrap()
        .sha256
}

/// `Packed` comes in `P.zip` (`root/a`, `root/b`, an optional `root/readme`),
/// `Plain` in two files, `Vague` in one of unknown content.
fn registry() -> Registry {
    let head = |name: &str, layout: &str, path: &str| {
        format!(
            "[[dataset]]\nname = '{name}'\naliases = []\ntask = 'graph-classification'\nlayout = '{layout}'\n\
             path = '{path}'\nstem = 'x'\nlicence = 'none'\ncitations = ['none']\n\
             [dataset.counts]\ngraphs = 1\nnodes = 2\nedges = 1\nfeatures = 0\nclasses = 1\n"
        )
    };
    let file = |path: &str, content: &[u8], more: &str| {
        format!(
            "[[dataset.file]]\npath = '{path}'\nsize = {}\nsha256 = '{}'\n{more}\n",
            content.len(),
            sum(content)
        )
    };
    let text = [
        "format = 1\n".to_owned(),
        head("Packed", "tu", "P"),
        "[dataset.archive]\npath = 'P.zip'\nurl = 'https://localhost/P.zip'\nroot = 'root'\n".to_owned(),
        file("P/a", A, ""),
        file("P/b", B, ""),
        file("P/readme", b"read", "optional = true"),
        head("Turned", "tu", "T"),
        "[dataset.archive]\npath = 'T.zip'\nurl = 'https://localhost/T.zip'\nroot = 'T'\n".to_owned(),
        file("T/a", A, "reordered = true"),
        head("Plain", "planetoid", "planes"),
        file("planes/x.a", A, "url = 'https://localhost/x.a'"),
        file("planes/x.b", B, "url = 'https://localhost/x.b'"),
        head("Vague", "wiki-cs", "v/data"),
        "[[dataset.file]]\npath = 'v/data'\nurl = 'https://localhost/data'\n".to_owned(),
    ];
    Registry::parse(&text.concat()).unwrap()
}

fn good_zip() -> Vec<u8> {
    zipped(&[("root/a", A), ("root/b", B), ("root/readme", b"read")])
}

struct Scene {
    registry: Registry,
    _parent: tempfile::TempDir,
    mirror: PathBuf,
    to: PathBuf,
}

impl Scene {
    fn new() -> Self {
        let parent = tempfile::tempdir().unwrap();
        let (mirror, to) = (parent.path().join("mirror"), parent.path().join("to"));
        fs::create_dir(&mirror).unwrap();
        Self {
            registry: registry(),
            _parent: parent,
            mirror,
            to,
        }
    }

    fn mirrored(&self, path: &str, content: &[u8]) {
        write(&self.mirror.join(path), content);
    }

    fn fetch(&self, name: &str, transport: Option<&dyn Transport>) -> Result<Outcome> {
        let folders = DataFolders::only(&self.to).with_mirror(Some(self.mirror.clone()));
        let fetcher = Fetcher {
            transport,
            ..Fetcher::open(&folders)?
        };
        fetcher.fetch(self.registry.get(name).unwrap(), &mut |_| {})
    }

    /// All files in the destination, but for the lock.
    fn files(&self) -> Vec<String> {
        let mut files = Vec::new();
        let mut folders = vec![self.to.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else if entry.file_name() != ".lock" {
                    let relative = path.strip_prefix(&self.to).unwrap();
                    files.push(relative.to_string_lossy().replace('\\', "/"));
                }
            }
        }
        files.sort();
        files
    }
}

/// A transport that a test makes up.
struct By<F>(F);

impl<F: Fn(&Download<'_>) -> std::result::Result<(), DownloadError>> Transport for By<F> {
    fn download(
        &self,
        download: &Download<'_>,
        _: &mut dyn FnMut(Event<'_>),
    ) -> std::result::Result<(), DownloadError> {
        (self.0)(download)
    }
}

fn dead(download: &Download<'_>) -> DownloadError {
    DownloadError {
        url: download.url.to_owned(),
        problem: "the line went dead".into(),
    }
}

fn write(path: &Path, content: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

fn fetched(outcome: Result<Outcome>) -> (&'static str, Vec<String>) {
    match outcome.unwrap() {
        Outcome::Fetched { from, notes } => (from, notes),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_archive_of_the_mirror_is_unpacked_once() {
    let scene = Scene::new();
    scene.mirrored("P.zip", &good_zip());
    assert_eq!(
        fetched(scene.fetch("packed", None)),
        ("the mirror's archive", vec![])
    );
    assert_eq!(scene.files(), ["P/a", "P/b", "P/readme"]);
    assert_eq!(fs::read(scene.to.join("P/a")).unwrap(), A);
    assert_eq!(scene.fetch("packed", None).unwrap(), Outcome::AlreadyThere);
    assert_eq!(
        fs::read_dir(&scene.mirror).unwrap().count(),
        1,
        "the mirror stays as it was"
    );
}

#[test]
fn an_unpacked_mirror_is_copied() {
    let scene = Scene::new();
    scene.mirrored("P/a", A);
    scene.mirrored("P/b", B);
    assert_eq!(fetched(scene.fetch("packed", None)).0, "the mirror");
    assert_eq!(scene.files(), ["P/a", "P/b"]);
    scene.mirrored("planes/x.a", A);
    scene.mirrored("planes/x.b", B);
    assert_eq!(fetched(scene.fetch("plain", None)).0, "the mirror");
}

#[test]
fn repacked_archive_is_checked_by_its_members() {
    let scene = Scene::new();
    let other = zipped(&[
        ("root/", b""),
        ("root/b", B),
        ("root/extra", b"more"),
        ("root/a", A),
        ("root/readme", b"changed"),
    ]);
    scene.mirrored("P.zip", &other);
    let (_, notes) = fetched(scene.fetch("packed", None));
    assert!(notes[0].contains("P/readme"), "{notes:?}");
    assert_eq!(scene.files(), ["P/a", "P/b"]);
}

#[test]
fn bad_or_partial_data_are_not_installed() {
    let mut short = good_zip();
    short.truncate(short.len() / 2);
    let mut flipped = good_zip();
    flipped[40] ^= 0x55;
    for (what, bytes) in [
        ("changed", zipped(&[("root/a", b"1, 2\n2, 2\n"), ("root/b", B)])),
        ("lacking", zipped(&[("root/a", A)])),
        ("short", short),
        ("flipped", flipped),
        ("escaping", zipped(&[("root/a", A), ("root/b", B), ("C:x", B)])),
    ] {
        let scene = Scene::new();
        scene.mirrored("P.zip", &bytes);
        assert!(scene.fetch("packed", None).is_err(), "{what}");
        assert!(scene.files().is_empty(), "{what}: {:?}", scene.files());
        // And it does not stand in the way of a good one.
        scene.mirrored("P.zip", &good_zip());
        fetched(scene.fetch("packed", None));
    }
}

#[test]
fn failure_of_one_file_installs_none() {
    let scene = Scene::new();
    let fetch = By(|download: &Download<'_>| {
        if download.url.ends_with("x.b") {
            return Err(dead(download));
        }
        write(download.to, A);
        Ok(())
    });
    let refused = scene.fetch("plain", Some(&fetch)).unwrap_err().to_string();
    assert!(
        refused.contains("went dead") && refused.contains("x.b"),
        "{refused}"
    );
    assert!(scene.files().is_empty());
}

#[test]
fn interrupted_run_installs_nothing() {
    let scene = Scene::new();
    write(&scene.to.join(".staging-dead/P/a"), A);
    write(&scene.to.join("P/a"), &A[..3]);
    scene.mirrored("P.zip", &good_zip());
    fetched(scene.fetch("packed", None));
    assert_eq!(scene.files(), ["P/a", "P/b", "P/readme"]);
    assert_eq!(fs::read(scene.to.join("P/a")).unwrap(), A);
}

#[test]
fn without_transport_missing_files_are_listed() {
    let scene = Scene::new();
    let missing = |name| match scene.fetch(name, None).unwrap() {
        Outcome::Missing { files } => files,
        other => panic!("{other:?}"),
    };
    let root = fs::canonicalize(scene.mirror.parent().unwrap())
        .unwrap()
        .join("to");
    assert_eq!(
        missing("packed"),
        [("https://localhost/P.zip".to_owned(), root.join("P.zip"))]
    );
    assert_eq!(missing("plain").len(), 2);

    write(&scene.to.join("P.zip"), &good_zip());
    assert_eq!(
        fetched(scene.fetch("packed", None)).0,
        "the archive in the folder"
    );
    write(&scene.to.join("planes/x.a"), A);
    assert_eq!(
        missing("plain"),
        [("https://localhost/x.b".to_owned(), root.join("planes/x.b"))]
    );
}

#[test]
fn only_files_not_in_the_mirror_are_downloaded() {
    let scene = Scene::new();
    scene.mirrored("planes/x.a", A);
    let asked = RefCell::new(Vec::new());
    let fetch = By(|download: &Download<'_>| {
        asked.borrow_mut().push(download.url.to_owned());
        assert_eq!(download.sha256, Some(sum(B).as_str()));
        write(download.to, B);
        Ok(())
    });
    assert_eq!(fetched(scene.fetch("plain", Some(&fetch))).0, "upstream");
    assert_eq!(*asked.borrow(), ["https://localhost/x.b"]);
    assert_eq!(scene.files(), ["planes/x.a", "planes/x.b"]);
}

#[cfg(feature = "fetch")]
#[test]
fn data_set_is_fetched_from_a_server() {
    use crate::https::Https;
    use crate::server::{Answer, Server};

    let scene = Scene::new();
    let server = Server::start(&good_zip(), Some("\"1\""), &[Answer::Cut(60), Answer::Well]);
    let https = Https::from_mirror(&server.url);
    assert_eq!(fetched(scene.fetch("packed", Some(&https))).0, "upstream");
    assert_eq!(scene.files(), ["P/a", "P/b", "P/readme"]);
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    assert!(requests[0].starts_with("get /file/p.zip "), "{}", requests[0]);
}

#[test]
fn bad_downloaded_archive_is_deleted() {
    let scene = Scene::new();
    let bad = By(|download: &Download<'_>| {
        write(download.to, b"<html>sorry</html>");
        Ok(())
    });
    assert!(scene.fetch("packed", Some(&bad)).is_err());
    assert!(scene.files().is_empty());
}

#[test]
fn rows_in_another_order_need_a_fingerprint() {
    let scene = Scene::new();
    scene.mirrored("T.zip", &zipped(&[("T/a", b"2, 1\n1, 2\n")]));
    let refused = scene.fetch("turned", None).unwrap_err().to_string();
    assert!(refused.contains("fingerprint"), "{refused}");
    assert!(scene.files().is_empty());
    scene.mirrored("T.zip", &zipped(&[("T/a", A)]));
    fetched(scene.fetch("turned", None));
}

#[test]
fn file_without_checksum_is_checked_by_counts() {
    let scene = Scene::new();
    scene.mirrored("v/data", b"{}");
    match scene.fetch("vague", None) {
        Ok(Outcome::Fetched { notes, .. }) => assert!(notes[0].contains("no checksum"), "{notes:?}"),
        Ok(other) => panic!("{other:?}"),
        // Once there is a reader: `{}` is no data set.
        Err(_) => assert!(scene.files().is_empty()),
    }
}

#[test]
fn the_mirror_is_refused_as_destination() {
    let scene = Scene::new();
    let scene = Scene {
        to: scene.mirror.join("inside"),
        ..scene
    };
    assert!(scene.fetch("packed", None).is_err());
    assert!(!scene.to.exists());
}

#[test]
fn rows_in_another_order_are_accepted_by_their_fingerprint_and_other_rows_are_not() {
    let rest: [(&str, &[u8]); 2] = [
        ("T/T_graph_indicator.txt", b"1\n1\n1\n"),
        ("T/T_graph_labels.txt", b"1\n"),
    ];
    let zip = |rows: &[u8]| zipped(&[("T/T_A.txt", rows), rest[0], rest[1]]);
    let ordered: &[u8] = b"1, 2\n2, 1\n2, 3\n3, 2\n";
    let mut scene = Scene::new();
    let archive = scene.mirror.join("T.zip");
    write(&archive, &zip(ordered));
    let fingerprint = egg_graph::read_tu(&archive, &egg_graph::ReadOptions::default())
        .unwrap()
        .fingerprint();

    let mut text = format!(
        "format = 1\n[[dataset]]\nname = 'T'\naliases = []\ntask = 'graph-classification'\nlayout = 'tu'\n\
         path = 'T'\nstem = 'T'\nlicence = 'none'\ncitations = ['none']\nfingerprint = '{fingerprint}'\n\
         [dataset.counts]\ngraphs = 1\nnodes = 3\nedges = 2\nfeatures = 0\nclasses = 1\n\
         [dataset.archive]\npath = 'T.zip'\nurl = 'https://localhost/T.zip'\nroot = 'T'\n\
         [[dataset.file]]\npath = 'T/T_A.txt'\nsha256 = '{}'\nreordered = true\n",
        sum(ordered)
    );
    for (path, content) in rest {
        text += &format!("[[dataset.file]]\npath = '{path}'\nsha256 = '{}'\n", sum(content));
    }
    scene.registry = Registry::parse(&text).unwrap();

    write(&archive, &zip(b"1, 2\n2, 1\n1, 3\n3, 1\n"));
    let refused = scene.fetch("T", None).unwrap_err().to_string();
    assert!(refused.contains("fingerprint"), "{refused}");
    assert!(scene.files().is_empty());

    write(&archive, &zip(b"3, 2\n2, 1\n1, 2\n2, 3\n"));
    let (_, notes) = fetched(scene.fetch("T", None));
    assert!(notes[0].contains("another order"), "{notes:?}");
    assert_eq!(scene.fetch("T", None).unwrap(), Outcome::AlreadyThere);
}
