//! Tells the program which compiler made it, for its records.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=RUSTC");
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc).arg("--version").output();
    let version = version
        .ok()
        .and_then(|output| String::from_utf8(output.stdout).ok());
    println!("cargo:rustc-env=EGG_RUSTC={}", version.unwrap_or_default().trim());
}
