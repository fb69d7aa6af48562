//! `egg data`: which benchmarks there are, where they are, and how they get here.

use std::fmt::Write;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::program::{Ended, command, egg, place, write};

fn in_folder(place: &std::path::Path, words: &[&str]) -> Ended {
    egg(place, &[words, &["--datasets", "data"]].concat())
}

#[test]
fn data_list_shows_counts_sizes_and_state() {
    let place = place();
    write(place.path(), "data/wiki_cs/data.json", "{}");
    let listed = in_folder(place.path(), &["data", "list"]).ok().out;
    let row = |name: &str| listed.lines().find(|line| line.trim().starts_with(name)).unwrap();
    for word in ["188", "3,371", "113.1 kB", "graph classification", "missing"] {
        assert!(row("MUTAG").contains(word), "{word}: {}", row("MUTAG"));
    }
    assert!(row("Wiki-CS").contains("node clustering") && row("Wiki-CS").ends_with("here"));
    assert!(listed.trim_end().ends_with("into data"), "{listed}");

    let objects = in_folder(place.path(), &["data", "list", "--json"]).ok().json();
    assert_eq!(objects.len(), 13);
    assert_eq!(objects[0]["name"], "MUTAG");
    assert_eq!(objects[0]["state"], "missing");
    assert_eq!(objects[0]["size"], 113_148);
    assert!(objects[0]["found"].is_null() && !objects[0]["citations"].as_array().unwrap().is_empty());
    assert_eq!(objects[12]["found"], "data/wiki_cs/data.json");
}

#[test]
fn data_path_prints_where_a_data_set_belongs() {
    let place = place();
    let path = |words: &[&str]| {
        let out = in_folder(place.path(), &[&["data", "path"], words].concat());
        out.ok().out.trim_end().to_owned()
    };
    assert_eq!(path(&[]), "data");
    assert_eq!(path(&["mutag"]), "data/MUTAG");
    write(place.path(), "data/MUTAG.zip", "x");
    assert_eq!(path(&["mutag"]), "data/MUTAG.zip");
    let object = in_folder(place.path(), &["data", "path", "CS", "--json"])
        .ok()
        .json();
    assert_eq!(object[0]["path"], "data/coauthor_cs/ms_academic_cs.npz");
    assert_eq!(object[0]["here"], false);
    in_folder(place.path(), &["data", "path", "MUTAGG"]).refused(1, &["did you mean MUTAG?"]);
}

/// The folder that is named by the variable comes first, and then the one that is fetched into.
#[test]
fn data_folders_are_searched_in_order() {
    let place = place();
    write(place.path(), "datasets/prepared/PROTEINS.zip", "x");
    write(place.path(), "named/PROTEINS.zip", "x");
    write(place.path(), "deep/er/readme", "");
    let path = |named: bool| {
        let mut egg = command(&place.path().join("deep/er"));
        if named {
            egg.env(egg_datasets::VARIABLE, place.path().join("named"));
        }
        let output = egg.args(["data", "path", "proteins"]).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(path(true).trim_end().ends_with("named/PROTEINS.zip"));
    assert!(path(false).trim_end().ends_with("datasets/prepared/PROTEINS.zip"));
}

#[test]
fn verification_finds_damaged_files() {
    let place = place();
    in_folder(place.path(), &["data", "verify"]).refused(1, &["no data set", "egg data fetch"]);
    in_folder(place.path(), &["data", "verify", "Cora", "DD"]).refused(1, &["egg data fetch DD Cora"]);
    write(place.path(), "data/MUTAG/MUTAG_A.txt", "1, 2\n2, 1\n");
    let ended = in_folder(place.path(), &["data", "verify"]);
    ended.refused(1, &["1 data set is not what the registry says", "egg data fetch"]);
    for word in [
        "MUTAG: wrong",
        "MUTAG_A.txt has 10 bytes",
        "SHA-256",
        "is missing",
    ] {
        assert!(ended.out.contains(word), "{word}: {}", ended.out);
    }
    let objects = in_folder(place.path(), &["data", "verify", "mutag", "--json"]).json();
    assert_eq!(objects.len(), 1);
    assert_eq!(objects[0]["verdict"], "wrong");
}

#[test]
fn missing_data_names_the_command_that_fetches_them() {
    let place = place();
    for words in [
        &["info", "MUTAG"][..],
        &["train", "--data", "MUTAG", "--pool", "sum"],
        &["cluster", "--data", "Cora"],
    ] {
        in_folder(place.path(), words).refused(1, &["is not here", "egg data fetch", "--datasets"]);
    }
    in_folder(
        place.path(),
        &["data", "fetch", "MUTAG", "--offline", "--mirror", "data"],
    )
    .refused(1, &["the mirror data is not a folder"]);
    write(place.path(), "empty/readme", "");
    let mirror = ["--offline", "--mirror", "empty"];
    let offline = |names: &[&str]| in_folder(place.path(), &[&["data", "fetch"], names, &mirror].concat());
    offline(&["MUTAG"]).refused(1, &["--offline", "get https://", "MUTAG.zip"]);
    let both = offline(&["MUTAG", "Cora"]);
    assert_eq!(both.code, 1);
    assert!(both.err.contains("error: 2 of 2 data sets"), "{}", both.err);
    let objects = offline(&["MUTAG", "--json"]).json();
    assert_eq!(objects[0]["event"], "failed");
    assert_eq!(objects[1]["failed"], 1);
    for words in [
        &["data", "fetch"][..],
        &["data", "fetch", "--all", "MUTAG"],
        &["data"],
    ] {
        assert_eq!(egg(place.path(), words).code, 2, "{words:?}");
    }
}

/// Wiki-CS is the one whose checksum is not known: anything of its shape is taken.
fn wiki_cs() -> String {
    let (nodes, features, classes) = (11_701, 300, 10);
    let row = vec!["0"; features].join(",");
    let mut text = String::from("{\"features\":[");
    for node in 0..nodes {
        write!(text, "{}[{row}]", if node == 0 { "" } else { "," }).unwrap();
    }
    let listed = |each: &dyn Fn(usize) -> String| (0..nodes).map(each).collect::<Vec<_>>().join(",");
    let labels = listed(&|node| (node % classes).to_string());
    let links = listed(&|node| format!("[{}]", (node + 1) % nodes));
    let mask = |part: usize| listed(&|node| (node % 4 == part).to_string());
    let (train, validation, stopping, test) = (mask(0), mask(1), mask(2), mask(3));
    write!(
        text,
        "],\"labels\":[{labels}],\"links\":[{links}],\"train_masks\":[[{train}]],\"val_masks\":[[{validation}]],\
         \"stopping_masks\":[[{stopping}]],\"test_mask\":[{test}]}}"
    )
    .unwrap();
    text
}

#[test]
fn a_mirror_that_is_a_folder_is_copied_checked_and_never_written_to() {
    let place = place();
    write(place.path(), "mirror/wiki_cs/data.json", &wiki_cs());
    let fetch = ["data", "fetch", "WikiCS", "--mirror", "mirror"];
    let fetched = in_folder(place.path(), &fetch).ok();
    assert!(
        fetched.out.starts_with("Wiki-CS: fetched from the mirror ("),
        "{}",
        fetched.out
    );
    assert!(
        fetched.err.contains("note: Wiki-CS: no checksum is known"),
        "{}",
        fetched.err
    );
    let again = in_folder(place.path(), &[&fetch[..], &["--json"]].concat()).ok();
    assert_eq!(again.json()[0]["event"], "already_there");
    assert_eq!(again.summary()["already_there"], 1);
    assert_eq!(std::fs::read_dir(place.path().join("mirror")).unwrap().count(), 1);

    let verified = in_folder(place.path(), &["data", "verify"]).ok();
    assert!(verified.out.contains("Wiki-CS: right"), "{}", verified.out);
    let info = in_folder(place.path(), &["info", "wiki-cs", "--json"])
        .ok()
        .json();
    assert_eq!(info[0]["nodes"], 11_701);

    // In its place there is something else now.
    write(place.path(), "data/wiki_cs/data.json", "{}");
    in_folder(place.path(), &fetch).refused(1, &["Wiki-CS", "remove it, and fetch it again"]);
    let inside = ["data", "fetch", "MUTAG", "--mirror", ".", "--datasets", "data"];
    egg(place.path(), &inside).refused(1, &["never written to", "--datasets"]);
}

#[cfg(feature = "fetch")]
#[test]
fn downloads_resume_and_bad_ones_leave_nothing() {
    use crate::server::{Answer, Server, header};

    let place = place();
    let content = wiki_cs();
    let server = Server::start(
        content.as_bytes(),
        Some("\"1\""),
        &[Answer::Cut(1_000_000), Answer::Well],
    );
    let fetch = ["data", "fetch", "wiki-cs", "--mirror", &server.url];
    let fetched = in_folder(place.path(), &fetch).ok();
    assert!(
        fetched.out.starts_with("Wiki-CS: fetched from upstream"),
        "{}",
        fetched.out
    );
    assert!(fetched.err.contains("again in 1 s"), "{}", fetched.err);
    let requests = server.requests();
    assert!(
        requests[0].starts_with("get /file/wiki_cs/data.json "),
        "{}",
        requests[0]
    );
    assert_eq!(header(&requests[1], "range"), Some("bytes=1000000-"));
    assert!(std::fs::read(place.path().join("data/wiki_cs/data.json")).unwrap() == content.as_bytes());

    let server = Server::start(b"<html>sorry</html>", None, &[Answer::Well]);
    let fetch = ["data", "fetch", "MUTAG", "--quiet", "--mirror", &server.url];
    in_folder(place.path(), &fetch).refused(1, &["MUTAG", "MUTAG.zip"]);
    let server = Server::start(b"", None, &[Answer::Status(404)]);
    let fetch = ["data", "fetch", "MUTAG", "--json", "--mirror", &server.url];
    let refused = in_folder(place.path(), &fetch);
    refused.refused(1, &["status 404", "put it at", "MUTAG.zip"]);
    assert_eq!(refused.json()[0]["event"], "failed");
    assert!(!place.path().join("data/MUTAG").exists() && !place.path().join("data/MUTAG.zip").exists());
    in_folder(
        place.path(),
        &["data", "fetch", "MUTAG", "--mirror", "http://example.org"],
    )
    .refused(1, &["only https"]);
}

/// A proxy that lets nothing through, and that counts who tried.
fn trap() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let count = Arc::new(AtomicUsize::new(0));
    let seen = count.clone();
    std::thread::spawn(move || {
        for _ in listener.incoming() {
            seen.fetch_add(1, Ordering::SeqCst);
        }
    });
    (address, count)
}

#[test]
fn only_fetch_opens_connections() {
    let place = place();
    let (proxy, count) = trap();
    let egg = |words: &[&str]| {
        let mut egg = command(place.path());
        for variable in ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY"] {
            egg.env(variable, &proxy).env_remove(variable.to_lowercase());
        }
        egg.env_remove("NO_PROXY").env_remove("no_proxy");
        let output = egg.args(words).args(["--datasets", "data"]).output().unwrap();
        assert_eq!(
            output.status.code(),
            Some(i32::from(words != ["data", "list"])),
            "{words:?}"
        );
    };
    egg(&["info", "MUTAG"]);
    egg(&["train", "--data", "MUTAG", "--pool", "sum"]);
    egg(&["cluster", "--data", "Cora"]);
    egg(&["data", "list"]);
    egg(&["data", "verify", "MUTAG"]);
    egg(&["data", "fetch", "MUTAG", "--offline"]);
    assert_eq!(count.load(Ordering::SeqCst), 0);
    // The trap does see those who go out.
    if cfg!(feature = "fetch") {
        egg(&["data", "fetch", "MUTAG"]);
        assert!(count.load(Ordering::SeqCst) > 0);
    }
}
