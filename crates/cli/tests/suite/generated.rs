//! Completions and manual pages.

use crate::program::{egg, place};

#[test]
fn every_shell_has_completions() {
    let place = place();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = egg(place.path(), &["completions", shell]).ok().out;
        assert!(
            script.contains("cluster") && script.contains("weight-decay"),
            "{shell}"
        );
    }
}

#[test]
fn every_command_has_a_page() {
    let place = place();
    egg(place.path(), &["man", "man"]).ok();
    for command in [
        "",
        "-info",
        "-data",
        "-data-fetch",
        "-train",
        "-predict",
        "-embed",
        "-cluster",
        "-angles",
        "-sweep",
        "-report",
    ] {
        let page = std::fs::read_to_string(place.path().join(format!("man/egg{command}.1"))).unwrap();
        assert!(page.contains(".SH NAME"), "egg{command}.1");
    }
}
