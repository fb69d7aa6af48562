//! The page in a real browser.
//!
//! Needs Debian's `chromium`. Where it is missing and this is root on a machine
//! with apt-get, it is installed if `CI` or `EGG_INSTALL_CHROMIUM` is set;
//! otherwise the test says that it is skipped. Pictures of the page are left in
//! `target/tmp/report-screenshots`.

#![expect(clippy::print_stderr, reason = "says what is skipped, and where pictures are")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::made_up;

const LIMIT: Duration = Duration::from_secs(120);

/// Runs a command to its end or to the limit; its standard output if it went well.
fn run(command: &mut Command, limit: Duration) -> Option<String> {
    let folder = tempfile::tempdir().ok()?;
    let output = folder.path().join("output");
    let file = std::fs::File::create(&output).ok()?;
    let errors = folder.path().join("errors");
    let error_file = std::fs::File::create(&errors).ok()?;
    let mut child = command
        .stdin(Stdio::null())
        .stdout(file)
        .stderr(error_file)
        .spawn()
        .ok()?;
    let begun = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => {
                if !status.success() {
                    eprintln!(
                        "{command:?}: {status}\n{}",
                        std::fs::read_to_string(errors).unwrap_or_default()
                    );
                    return None;
                }
                return std::fs::read_to_string(output).ok();
            }
            Ok(None) if begun.elapsed() < limit => std::thread::sleep(Duration::from_millis(50)),
            _ => {
                eprintln!("{command:?}: not done after {limit:?}");
                // It may have ended just now.
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    }
}

fn chromium() -> Option<PathBuf> {
    let found = || {
        let folders = std::env::var_os("PATH")?;
        let names = ["chromium", "chromium-browser"];
        std::env::split_paths(&folders)
            .flat_map(|folder| names.map(|name| folder.join(name)))
            .find(|path| path.is_file())
    };
    if let Some(path) = found() {
        return Some(path);
    }
    let wanted = ["CI", "EGG_INSTALL_CHROMIUM"]
        .iter()
        .any(|name| std::env::var_os(name).is_some_and(|v| !v.is_empty()));
    let root = run(Command::new("id").arg("-u"), LIMIT).is_some_and(|id| id.trim() == "0");
    if !(wanted && root && Path::new("/usr/bin/apt-get").exists()) {
        return None;
    }
    let apt = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
        run(&mut command, Duration::from_secs(300))
    };
    let install = ["install", "-y", "-q", "--no-install-recommends", "chromium"];
    if apt(&install).is_none() {
        apt(&["update", "-q"])?;
        apt(&install)?;
    }
    found()
}

fn browser(program: &Path, profile: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
        ])
        .args([
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
        ])
        .args(["--hide-scrollbars", "--allow-file-access-from-files"])
        .arg(format!("--user-data-dir={}", profile.display()));
    command
}

#[test]
fn page_opens_in_a_browser() {
    let Some(program) = chromium() else {
        eprintln!(
            "skipped: no chromium; install it, or set EGG_INSTALL_CHROMIUM=1 to let this test do so (as root, with apt-get)"
        );
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("report.html");
    egg_report::write_html(&page, &made_up::records()).unwrap();
    // The browser itself reports what it could not load or run.
    let text = std::fs::read_to_string(&page).unwrap();
    let watch = "<script>window.failed = [];\
        addEventListener('error', e => failed.push(String(e.message || e.target.outerHTML)), true);\
        addEventListener('securitypolicyviolation', e => failed.push('policy: ' + e.blockedURI));\
        addEventListener('load', () => {\
          const fetched = performance.getEntriesByType('resource').map(e => e.name);\
          const boxes = [...document.querySelectorAll('figure svg')].filter(e => !e.closest('details')).map(e => e.getBoundingClientRect());\
          const seen = boxes.filter(b => b.width > 100 && b.height > 60).length;\
          const wide = document.documentElement.scrollWidth > innerWidth;\
          const scrolling = [...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth + 1).length;\
          const hit = document.querySelector('.hits > rect');\
          hit.dispatchEvent(new PointerEvent('pointermove', {bubbles: true, clientX: 9, clientY: 9}));\
          const tip = document.getElementById('tip').textContent;\
          document.documentElement.setAttribute('data-checked', JSON.stringify({failed, fetched, seen, wide, scrolling, tip}));\
        });</script>";
    let watched = folder.path().join("watched.html");
    std::fs::write(&watched, text.replacen("<title>", &format!("{watch}<title>"), 1)).unwrap();

    let dump = |width: u32| {
        let profile = folder.path().join(format!("profile-{width}"));
        let mut command = browser(&program, &profile);
        command
            .arg(format!("--window-size={width},900"))
            .arg("--dump-dom");
        let dom = run(command.arg(format!("file://{}", watched.display())), LIMIT)
            .expect("the browser opens the page");
        let start = dom.find("data-checked=\"").expect("the page's script ran") + "data-checked=\"".len();
        let end = start + dom[start..].find('"').unwrap();
        let checked: serde_json::Value =
            serde_json::from_str(&dom[start..end].replace("&quot;", "\"")).unwrap();
        (dom, checked)
    };
    let (dom, checked) = dump(1200);
    assert_eq!(checked["failed"], serde_json::json!([]), "something failed");
    assert_eq!(checked["fetched"], serde_json::json!([]), "something was fetched");
    assert_eq!(checked["wide"], false, "the page is wider than the window");
    assert_eq!(checked["scrolling"], 0, "a table is wider than the page");
    assert!(
        checked["tip"].as_str().unwrap().contains("EGG"),
        "hovering shows nothing: {checked}"
    );
    // Scores, 2 curves, 2 maps, ranks, 2 confusions, 2 scores and a loss of clusterings, a sweep.
    assert_eq!(checked["seen"], 12, "{checked}");
    for chart in [
        "Validation loss by epoch",
        "What was taken for what",
        "Test accuracy against threshold r",
    ] {
        assert!(dom.contains(chart), "no {chart}");
    }
    let (_, narrow) = dump(500);
    assert_eq!(narrow["wide"], false, "the page is wider than a narrow window");

    let pictures = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("report-screenshots");
    std::fs::create_dir_all(&pictures).unwrap();
    let picture = pictures.join("report.png");
    let _ = std::fs::remove_file(&picture);
    let mut command = browser(&program, &folder.path().join("profile-picture"));
    command
        .arg("--window-size=1200,5200")
        .arg(format!("--screenshot={}", picture.display()));
    run(command.arg(format!("file://{}", page.display())), LIMIT).expect("the browser takes a picture");
    let size = std::fs::metadata(&picture).unwrap().len();
    assert!(size > 50_000, "an empty picture: {size} bytes");
    eprintln!("picture: {}", picture.display());
}
