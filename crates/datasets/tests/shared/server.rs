//! A web server for tests: one file, on this machine, well behaved or not.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// How the server answers one request.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    /// As the standard says, ranges and `If-Range` included.
    Well,
    /// The whole file whatever was asked for.
    NoRanges,
    /// Says how long it is, sends this many bytes, hangs up.
    Cut(usize),
    /// A range that begins elsewhere than asked.
    WrongRange,
    /// This status, with nothing.
    Status(u16),
    /// To this address.
    Redirect(String),
}

pub(crate) struct Server {
    pub(crate) url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Gives the answers in turn, and the last one for ever.
    pub(crate) fn start(content: &[u8], etag: Option<&str>, answers: &[Answer]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/file", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (content, etag, answers) = (content.to_vec(), etag.map(String::from), answers.to_vec());
        let seen = requests.clone();
        thread::spawn(move || {
            for (count, stream) in listener.incoming().enumerate() {
                let Ok(mut stream) = stream else { return };
                let answer = answers[count.min(answers.len() - 1)].clone();
                let request = read_request(&stream);
                seen.lock().unwrap().push(request.clone());
                let _ = respond(&mut stream, &content, etag.as_deref(), &answer, &request);
            }
        });
        Self { url, requests }
    }

    /// The heads of the requests so far, in lower case.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

fn read_request(stream: &TcpStream) -> String {
    let mut text = String::new();
    for line in BufReader::new(stream.take(1 << 16)).lines() {
        let Ok(line) = line else { break };
        if line.is_empty() {
            break;
        }
        text += &line.to_lowercase();
        text.push('\n');
    }
    text
}

pub(crate) fn header<'a>(request: &'a str, name: &str) -> Option<&'a str> {
    let lines = request.lines().filter_map(|line| line.split_once(": "));
    lines
        .filter(|(found, _)| *found == name)
        .map(|(_, value)| value)
        .next()
}

fn respond(
    stream: &mut TcpStream,
    content: &[u8],
    etag: Option<&str>,
    answer: &Answer,
    request: &str,
) -> std::io::Result<()> {
    let tag = etag.map_or_else(String::new, |etag| format!("ETag: {etag}\r\n"));
    let whole = |stream: &mut TcpStream, sent: usize| {
        let length = content.len();
        write!(
            stream,
            "HTTP/1.1 200 OK\r\nConnection: close\r\n{tag}Content-Length: {length}\r\n\r\n"
        )?;
        stream.write_all(&content[..sent.min(length)])
    };
    match answer {
        Answer::NoRanges => whole(stream, content.len()),
        Answer::Cut(sent) => whole(stream, *sent),
        Answer::Status(status) => write!(
            stream,
            "HTTP/1.1 {status} No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
        ),
        Answer::Redirect(to) => write!(
            stream,
            "HTTP/1.1 302 Found\r\nConnection: close\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n"
        ),
        Answer::Well | Answer::WrongRange => {
            let asked = header(request, "range")
                .and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok());
            let unchanged = header(request, "if-range")
                .is_none_or(|tag| Some(tag) == etag.map(str::to_lowercase).as_deref());
            let Some(start) = asked.filter(|_: &usize| unchanged) else {
                return whole(stream, content.len());
            };
            let total = content.len();
            if start >= total {
                return write!(
                    stream,
                    "HTTP/1.1 416 No\r\nConnection: close\r\nContent-Range: bytes */{total}\r\nContent-Length: 0\r\n\r\n"
                );
            }
            let start = if matches!(answer, Answer::WrongRange) {
                start - 1
            } else {
                start
            };
            write!(
                stream,
                "HTTP/1.1 206 Partial\r\nConnection: close\r\n{tag}Content-Length: {}\r\n\
                 Content-Range: bytes {start}-{}/{total}\r\n\r\n",
                total - start,
                total - 1
            )?;
            stream.write_all(&content[start..])
        }
    }
}
