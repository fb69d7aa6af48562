use super::*;
use crate::server::{Answer, Server, header};
use std::path::PathBuf;

const QUICK: Patience = Patience {
    attempts: 3,
    pause: Duration::from_millis(1),
    silence: Duration::from_secs(10),
};

fn quick() -> Https {
    Https {
        mirror: None,
        patience: QUICK,
    }
}

fn content() -> Vec<u8> {
    (0..50_000u32).flat_map(u32::to_le_bytes).collect()
}

struct Place {
    _folder: tempfile::TempDir,
    to: PathBuf,
    part: PathBuf,
    tag: PathBuf,
}

fn place() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("file");
    let Part { path, tag } = Part::for_file(&to);
    Place {
        _folder: folder,
        to,
        part: path,
        tag,
    }
}

fn sum(content: &[u8]) -> String {
    checksum::copy(&mut { content }, &mut std::io::sink())
        .unwrap()
        .sha256
}

/// Fetches with the right size and checksum of `content`.
fn fetched(server: &Server, place: &Place, content: &[u8]) -> Result<(), DownloadError> {
    let sha256 = sum(content);
    let download = Download {
        url: &server.url,
        path: "file",
        to: &place.to,
        size: Some(content.len() as u64),
        sha256: Some(&sha256),
    };
    quick().download(&download, &mut |_| {})
}

fn assert_whole(place: &Place, content: &[u8]) {
    assert!(fs::read(&place.to).unwrap() == content);
    assert!(!place.part.exists() && !place.tag.exists());
}

#[test]
fn download_is_complete() {
    let (content, place) = (content(), place());
    let server = Server::start(&content, Some("\"1\""), &[Answer::Well]);
    fetched(&server, &place, &content).unwrap();
    assert_whole(&place, &content);
    assert_eq!(server.requests().len(), 1);
    assert_eq!(header(&server.requests()[0], "range"), None);
}

#[test]
fn interrupted_download_is_resumed() {
    let (content, place) = (content(), place());
    let server = Server::start(&content, Some("\"1\""), &[Answer::Cut(70_000), Answer::Well]);
    fetched(&server, &place, &content).unwrap();
    assert_whole(&place, &content);
    let second = &server.requests()[1];
    assert_eq!(header(second, "range"), Some("bytes=70000-"));
    assert_eq!(header(second, "if-range"), Some("\"1\""));
}

#[test]
fn earlier_part_is_used_only_if_the_tag_matches() {
    let content = content();
    for (tag, reused) in [("\"1\"", true), ("\"0\"", false)] {
        let place = place();
        fs::write(&place.part, &content[..1000]).unwrap();
        fs::write(&place.tag, tag).unwrap();
        let server = Server::start(&content, Some("\"1\""), &[Answer::Well]);
        fetched(&server, &place, &content).unwrap();
        assert_whole(&place, &content);
        assert_eq!(header(&server.requests()[0], "if-range"), Some(tag));
        assert_eq!(server.requests().len(), 1, "{reused}");
    }
}

#[test]
fn without_tag_and_checksum_nothing_is_resumed() {
    let (content, place) = (content(), place());
    fs::write(&place.part, b"something else").unwrap();
    let server = Server::start(&content, None, &[Answer::Well]);
    let download = Download {
        url: &server.url,
        path: "file",
        to: &place.to,
        size: None,
        sha256: None,
    };
    quick().download(&download, &mut |_| {}).unwrap();
    assert_whole(&place, &content);
    assert_eq!(header(&server.requests()[0], "range"), None);
}

#[test]
fn part_with_wrong_checksum_is_fetched_again() {
    let (content, place) = (content(), place());
    fs::write(&place.part, b"from another file").unwrap();
    let server = Server::start(&content, None, &[Answer::Well]);
    fetched(&server, &place, &content).unwrap();
    assert_whole(&place, &content);
    assert_eq!(server.requests().len(), 2);
    assert_eq!(header(&server.requests()[1], "range"), None);
}

#[test]
fn server_without_range_support_restarts_the_download() {
    let (content, place) = (content(), place());
    fs::write(&place.part, &content[..1000]).unwrap();
    let server = Server::start(&content, Some("\"1\""), &[Answer::NoRanges]);
    fetched(&server, &place, &content).unwrap();
    assert_whole(&place, &content);
    assert!(header(&server.requests()[0], "range").is_some());
}

#[test]
fn wrong_range_is_not_appended() {
    let (content, place) = (content(), place());
    fs::write(&place.part, &content[..1000]).unwrap();
    let server = Server::start(&content, Some("\"1\""), &[Answer::WrongRange, Answer::Well]);
    fetched(&server, &place, &content).unwrap();
    assert_whole(&place, &content);
}

#[test]
fn complete_part_needs_no_request_and_oversized_part_is_discarded() {
    let (content, whole) = (content(), place());
    fs::write(&whole.part, &content).unwrap();
    let server = Server::start(&content, None, &[Answer::Well]);
    fetched(&server, &whole, &content).unwrap();
    assert_whole(&whole, &content);
    assert!(server.requests().is_empty());

    let long = place();
    fs::write(&long.part, [&content[..], b"more"].concat()).unwrap();
    fetched(&server, &long, &content).unwrap();
    assert_whole(&long, &content);
}

#[test]
fn wrong_checksum_removes_the_part() {
    let (content, place) = (content(), place());
    let mut other = content.clone();
    other[7] ^= 1;
    let server = Server::start(&other, Some("\"1\""), &[Answer::Well]);
    let refused = fetched(&server, &place, &content).unwrap_err().to_string();
    assert!(refused.contains("SHA-256"), "{refused}");
    assert!(!place.to.exists() && !place.part.exists());
    assert_eq!(server.requests().len(), 1, "asking again would not help");
}

#[test]
fn wrong_content_length_is_refused_before_download() {
    let (content, place) = (content(), place());
    let server = Server::start(&content[1..], None, &[Answer::Well]);
    let refused = fetched(&server, &place, &content).unwrap_err().to_string();
    assert!(refused.contains("has 199999 bytes, expected 200000"), "{refused}");
    assert!(!place.to.exists() && !place.part.exists());
}

#[test]
fn failed_download_keeps_only_its_part() {
    let (content, place) = (content(), place());
    let server = Server::start(&content, Some("\"1\""), &[Answer::Cut(500)]);
    assert!(fetched(&server, &place, &content).is_err());
    assert!(!place.to.exists());
    assert_eq!(fs::read(&place.part).unwrap(), &content[..500]);
}

#[test]
fn transient_errors_are_retried_and_permanent_ones_are_not() {
    let content = content();
    let transient = [Answer::Status(503), Answer::Status(429), Answer::Well];
    let server = Server::start(&content, None, &transient);
    let here = place();
    fetched(&server, &here, &content).unwrap();
    assert_whole(&here, &content);

    for (status, requests) in [(404, 1), (403, 1), (500, 3)] {
        let server = Server::start(&content, None, &[Answer::Status(status)]);
        let place = place();
        let refused = fetched(&server, &place, &content).unwrap_err().to_string();
        assert!(refused.contains(&format!("status {status}")), "{refused}");
        assert!(refused.contains(&server.url), "{refused}");
        assert_eq!(server.requests().len(), requests);
        assert!(!place.to.exists() && !place.part.exists());
    }
}

#[test]
fn total_number_of_attempts_is_bounded() {
    let (content, place) = (content(), place());
    let answers = vec![[Answer::Cut(500), Answer::Status(416)]; 100].concat();
    let server = Server::start(&content, Some("\"1\""), &answers);
    assert!(fetched(&server, &place, &content).is_err());
    let most = (MAX_TRIES * QUICK.attempts) as usize;
    assert_eq!(server.requests().len(), most);
    assert!(!place.to.exists());
}

#[test]
fn redirect_to_plain_http_is_refused() {
    let (content, place) = (content(), place());
    let away = Answer::Redirect("http://example.org/x".into());
    let server = Server::start(&content, None, &[away]);
    let refused = fetched(&server, &place, &content).unwrap_err().to_string();
    assert!(refused.contains("status 302"), "{refused}");
}
