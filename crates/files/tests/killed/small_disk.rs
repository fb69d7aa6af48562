//! Disks that are full, or can only be read: a small tmpfs, mounted in a namespace of its
//! own, so that it disappears afterwards and no other process sees it. For the tests of every
//! crate that keeps something on disk; they take this file in by its path.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Runs a shell script in `place` with a disk of `kib` KiB mounted at `disk`;
/// `false`, and a line that says so, where the system does not let us. In the script
/// `larger` makes room, and `read_only` does what it says.
pub(crate) fn on_a_disk(place: &Path, kib: u64, script: &str) -> bool {
    let run = |namespace: &str, script: &str| {
        Command::new("unshare")
            .args([namespace, "sh", "-ec", script])
            .current_dir(place)
            .stdin(Stdio::null())
            .output()
    };
    std::fs::create_dir_all(place.join("disk")).unwrap();
    let mount = format!("mount -t tmpfs -o size={kib}k none disk");
    let allowed = |namespace: &&str| run(namespace, &mount).is_ok_and(|output| output.status.success());
    // As root; or as one who is root in there only.
    let Some(namespace) = ["-m", "-rm"].into_iter().find(allowed) else {
        // Past the test harness, which would show it only if the test fails.
        let line = b"skipped: no small disk can be mounted here (unshare -m, mount -t tmpfs)\n";
        let _ = std::io::stderr().write_all(line);
        return false;
    };
    let script = format!(
        "{mount}\nlarger() {{ mount -o remount,size=256m disk; }}\nread_only() {{ mount -o remount,ro disk; \
         }}\n{script}"
    );
    let output = run(namespace, &script).unwrap();
    assert!(
        output.status.success(),
        "{}\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    true
}
