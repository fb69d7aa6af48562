//! The pages and their figures are what the records make.

use egg_reproduce::page;

use crate::data::{results, root};

#[test]
fn the_page_is_what_the_records_make() {
    let page = std::fs::read_to_string(root().join("docs/RESULTS.md")).unwrap();
    assert!(
        page::rendered(&results()).unwrap() == page,
        "docs/RESULTS.md is not what its records make: `cargo xtask bench paper --render`"
    );
    let details = std::fs::read_to_string(results().join("DETAILS.md")).unwrap();
    assert!(
        page::details(&results()).unwrap() == details,
        "docs/results/DETAILS.md is not what its records make: `cargo xtask bench paper --render`"
    );
    let figures = page::drawn(&results()).unwrap();
    assert_eq!(figures.len(), 7);
    for (name, file) in figures {
        // They are part of every checkout.
        assert!(file.len() < 400_000, "{name} has {} bytes", file.len());
        let drawn = std::fs::read_to_string(results().join("figures").join(&name)).unwrap();
        assert!(
            drawn == file,
            "{name} is not what its records make: `cargo xtask bench paper --render`"
        );
    }
}

#[test]
fn a_copy_of_the_records_makes_the_same_page() {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("results");
    copy_folder(&results(), &copy);
    std::fs::remove_dir_all(copy.join("figures")).unwrap();
    std::fs::remove_file(copy.join("DETAILS.md")).unwrap();
    let page = page::write(&copy).unwrap();
    let ours = std::fs::read_to_string(root().join("docs/RESULTS.md")).unwrap();
    assert!(std::fs::read_to_string(page).unwrap() == ours);
    let details = |results: &std::path::Path| std::fs::read_to_string(results.join("DETAILS.md")).unwrap();
    assert!(details(&copy) == details(&results()));
    assert_eq!(std::fs::read_dir(copy.join("figures")).unwrap().count(), 7);
}

fn copy_folder(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy_folder(&entry.path(), &target),
            false => drop(std::fs::copy(entry.path(), target).unwrap()),
        }
    }
}
