//! Installing OpenBLAS with whatever the system installs things with, as long
//! as that asks no questions.

use std::process::{Command, Stdio};
use std::time::Duration;

use crate::process::{self, Ended, output_of};

/// A mirror that is far away is slow; one that is down should not hold us up
/// for ever.
const PATIENCE: Duration = Duration::from_secs(600);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PackageManager {
    Apt,
    Dnf,
    Pacman,
    Brew,
}

/// How we may become root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Privilege {
    /// We are root, or need not be.
    Direct,
    /// sudo, which does not ask for a password now.
    Sudo,
    None,
}

impl PackageManager {
    pub(crate) fn find() -> Option<Self> {
        let known = if cfg!(target_os = "macos") {
            &[Self::Brew][..]
        } else {
            &[Self::Apt, Self::Dnf, Self::Pacman, Self::Brew][..]
        };
        known.iter().copied().find(|manager| in_path(manager.program()))
    }

    fn program(self) -> &'static str {
        match self {
            Self::Apt => "apt-get",
            Self::Dnf => "dnf",
            Self::Pacman => "pacman",
            Self::Brew => "brew",
        }
    }

    /// The commands that install OpenBLAS. All but the last may fail.
    fn commands(self) -> &'static [&'static str] {
        match self {
            // Fresh containers have no package lists.
            Self::Apt => &["apt-get update", "apt-get install -y libopenblas-dev"],
            Self::Dnf => &["dnf install -y openblas-devel"],
            Self::Pacman => &["pacman -S --noconfirm openblas"],
            Self::Brew => &["brew install openblas"],
        }
    }

    pub(crate) fn privilege(self) -> Privilege {
        // Homebrew refuses to run as root.
        if self == Self::Brew || output_of(Command::new("id").arg("-u")).as_deref() == Some("0") {
            Privilege::Direct
        } else if output_of(Command::new("sudo").args(["-n", "true"]).stderr(Stdio::null())).is_some() {
            Privilege::Sudo
        } else {
            Privilege::None
        }
    }

    /// What a person would type.
    pub(crate) fn advice(self) -> String {
        let sudo = if self == Self::Brew { "" } else { "sudo " };
        let commands: Vec<_> = self.commands().iter().map(|c| format!("{sudo}{c}")).collect();
        commands.join(" && ")
    }

    /// Says what went wrong, if anything did.
    pub(crate) fn install(self, privilege: Privilege) -> Result<(), String> {
        let mut outcome = Ok(());
        for line in self.commands() {
            let words = words(line, privilege);
            println!("  $ {}", words.join(" "));
            let mut command = Command::new(&words[0]);
            command.args(&words[1..]).env("DEBIAN_FRONTEND", "noninteractive");
            outcome = match process::run(&mut command, PATIENCE, |_| {}) {
                Ok(Ended::Well) => Ok(()),
                Ok(Ended::Badly(_)) => Err(format!("`{line}` failed")),
                Ok(Ended::TimedOut) => Err(format!("`{line}` took over {} s", PATIENCE.as_secs())),
                Err(error) => Err(format!("`{line}` could not be started: {error}")),
            };
        }
        outcome
    }
}

fn words(line: &str, privilege: Privilege) -> Vec<String> {
    let sudo: &[&str] = match privilege {
        // sudo clears the environment, so apt's variable is set behind it.
        Privilege::Sudo => &["sudo", "-n", "env", "DEBIAN_FRONTEND=noninteractive"],
        Privilege::Direct | Privilege::None => &[],
    };
    sudo.iter()
        .copied()
        .chain(line.split_whitespace())
        .map(String::from)
        .collect()
}

fn in_path(program: &str) -> bool {
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|entry| entry.join(program).is_file()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sudo_never_asks_and_brew_never_uses_it() {
        assert_eq!(
            words("dnf install -y openblas-devel", Privilege::Sudo)[..2],
            ["sudo", "-n"]
        );
        assert_eq!(words("pacman -S x", Privilege::Direct)[0], "pacman");
        assert_eq!(PackageManager::Brew.privilege(), Privilege::Direct);
        assert_eq!(PackageManager::Brew.advice(), "brew install openblas");
    }

    #[test]
    fn advice_can_be_pasted() {
        assert_eq!(
            PackageManager::Apt.advice(),
            "sudo apt-get update && sudo apt-get install -y libopenblas-dev"
        );
    }

    #[test]
    fn programs_are_found_in_the_path() {
        assert!(!in_path("surely-no-such-program"));
        #[cfg(unix)]
        assert!(in_path("sh"));
    }
}
