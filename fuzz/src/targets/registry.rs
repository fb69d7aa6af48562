//! The list of data sets.

use egg_datasets::Registry;

use super::Target;
use crate::outcome::Outcome;

pub(super) const TARGET: Target = Target {
    name: "registry",
    run,
    words: WORDS,
    reader: None,
};

const WORDS: &[&str] = &[
    "[[dataset]]\n",
    "[dataset.counts]\n",
    "[dataset.archive]\n",
    "[[dataset.file]]\n",
    "name = ",
    "aliases = []\n",
    "layout = \"ogb\"\n",
    "path = \"../x\"\n",
    "stem = \"x\"\n",
    "sha256 = \"",
    "optional = true\n",
    "format = 1\n",
    "\"\"\"",
];

fn run(input: &[u8]) -> Outcome {
    let text = String::from_utf8_lossy(input);
    match Registry::parse(&text) {
        Ok(registry) => {
            for entry in registry.entries() {
                assert!(registry.get(&entry.name).is_ok());
                // Whatever a list says, data sets lie in the data folder.
                let path = entry.path_below("data".as_ref());
                assert!(path.starts_with("data") && !path.components().any(|part| part.as_os_str() == ".."));
            }
            let _ = registry.get(&text);
            Outcome::read(&[registry.entries().len()])
        }
        Err(error) => Outcome::refused(&error),
    }
}
