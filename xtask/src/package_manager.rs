//! Installing OpenBLAS with whatever the system installs things with, as long
//! as that asks no questions.

use std::process::Command;
use std::time::Duration;

use crate::process::{self, Ended, output_of};

/// A mirror that is far away is slow; one that is down should not hold us up
/// for ever.
const TIMEOUT: Duration = Duration::from_secs(600);

#[derive(Debug)]
pub(crate) struct PackageManager {
    program: &'static str,
    /// The commands that install OpenBLAS. All but the last may fail.
    commands: &'static [&'static str],
    /// Homebrew refuses to run as root.
    as_root: bool,
}

const fn system(program: &'static str, commands: &'static [&'static str]) -> PackageManager {
    PackageManager {
        program,
        commands,
        as_root: true,
    }
}

const BREW: PackageManager = PackageManager {
    program: "brew",
    commands: &["brew install openblas"],
    as_root: false,
};

const KNOWN: &[PackageManager] = &[
    // Fresh containers have no package lists.
    system(
        "apt-get",
        &["apt-get update", "apt-get install -y libopenblas-dev"],
    ),
    system("dnf", &["dnf install -y openblas-devel"]),
    system("pacman", &["pacman -S --noconfirm openblas"]),
    BREW,
];

/// Never asks for a password. sudo clears the environment, so apt's variable is set behind it.
const SUDO: &[&str] = &["sudo", "-n", "env", "DEBIAN_FRONTEND=noninteractive"];

impl PackageManager {
    pub(crate) fn find() -> Option<&'static Self> {
        let known = if cfg!(target_os = "macos") { &[BREW] } else { KNOWN };
        known.iter().find(|manager| in_path(manager.program))
    }

    /// What a person would type.
    pub(crate) fn advice(&self) -> String {
        let sudo = if self.as_root { "sudo " } else { "" };
        let commands: Vec<_> = self.commands.iter().map(|c| format!("{sudo}{c}")).collect();
        commands.join(" && ")
    }

    /// What goes before a command; `None` where it would ask for a password.
    fn prefix(&self) -> Option<&'static [&'static str]> {
        if !self.as_root || output_of(Command::new("id").arg("-u")).as_deref() == Some("0") {
            return Some(&[]);
        }
        output_of(Command::new("sudo").args(["-n", "true"])).map(|_| SUDO)
    }

    /// Says what went wrong, if anything did.
    pub(crate) fn install(&self) -> Result<(), String> {
        let prefix = self.prefix().ok_or("installing needs root")?;
        println!("Installing it:");
        let mut outcome = Ok(());
        for line in self.commands {
            let words = [prefix, &line.split(' ').collect::<Vec<_>>()].concat();
            println!("  $ {}", words.join(" "));
            let mut command = Command::new(words[0]);
            command.args(&words[1..]).env("DEBIAN_FRONTEND", "noninteractive");
            outcome = match process::run(&mut command, TIMEOUT, |_| {}) {
                Ok(Ended::Well) => Ok(()),
                Ok(Ended::Badly(_)) => Err(format!("`{line}` failed")),
                Ok(Ended::TimedOut) => Err(format!("`{line}` took over {} s", TIMEOUT.as_secs())),
                Err(error) => Err(format!("`{line}` could not be started: {error}")),
            };
        }
        outcome
    }
}

fn in_path(program: &str) -> bool {
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|entry| entry.join(program).is_file()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_is_a_shell_command() {
        assert_eq!(
            KNOWN[0].advice(),
            "sudo apt-get update && sudo apt-get install -y libopenblas-dev"
        );
        assert_eq!(BREW.advice(), "brew install openblas");
    }

    #[test]
    fn sudo_is_non_interactive_and_brew_runs_without_it() {
        assert_eq!(SUDO[..2], ["sudo", "-n"]);
        assert_eq!(BREW.prefix(), Some(&[][..]));
    }

    #[test]
    fn programs_are_found_in_the_path() {
        assert!(!in_path("surely-no-such-program"));
        #[cfg(unix)]
        assert!(in_path("sh"));
    }
}
