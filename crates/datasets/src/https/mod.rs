//! Files over HTTPS: resumed, retried, checked, and then given their names.

mod connection;
mod part;

use std::fs;
use std::io::{Read, Write};
use std::thread;
use std::time::Duration;

use ureq::Agent;
use ureq::http::{HeaderMap, header};

use crate::checksum;
use crate::transport::{Download, DownloadError, Event, Transport};

use part::Part;

/// No file of the registry is nearly this large.
const MAX_BYTES: u64 = 4 << 30;
/// Bounds all attempts, as a multiple of those without progress: also for a server whose
/// progress is lost again and again.
const MAX_TRIES: u32 = 10;

/// Downloads over HTTPS, also after redirects. An interrupted download is resumed.
///
/// Trusted are Mozilla's certificates, or those in the file that `SSL_CERT_FILE` names;
/// `HTTPS_PROXY` names a proxy.
#[derive(Debug, Clone, Default)]
pub struct Https {
    mirror: Option<String>,
    patience: Patience,
}

/// How often and how soon to try again when the network fails.
#[derive(Debug, Clone)]
struct Patience {
    /// Consecutive attempts without progress.
    attempts: u32,
    /// Before the second; doubled each time.
    pause: Duration,
    /// Longest silence of the server.
    silence: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            attempts: 4,
            pause: Duration::from_secs(1),
            silence: Duration::from_secs(30),
        }
    }
}

impl Https {
    /// Takes files not from their publishers but from a mirror: an address below which they lie
    /// as in a data folder. They are checked all the same.
    ///
    /// ```
    /// let mirror = egg_datasets::Https::from_mirror("https://data.example.org/graphs");
    /// ```
    pub fn from_mirror(address: impl Into<String>) -> Self {
        Self {
            mirror: Some(address.into()),
            ..Self::default()
        }
    }
}

impl Transport for Https {
    fn download(
        &self,
        download: &Download<'_>,
        observe: &mut dyn FnMut(Event<'_>),
    ) -> Result<(), DownloadError> {
        let url = match &self.mirror {
            Some(mirror) => format!("{}/{}", mirror.trim_end_matches('/'), download.path),
            None => download.url.to_owned(),
        };
        let download = Download {
            url: &url,
            ..*download
        };
        match fetch(&download, &self.patience, observe) {
            Ok(()) => Ok(()),
            Err(problem) => Err(DownloadError { url, problem }),
        }
    }
}

/// Why an attempt failed.
enum Failure {
    /// Another may succeed.
    Transient(String),
    /// It won't.
    Permanent(String),
}

/// Ends with the whole, checked file at `download.to`, or with nothing there.
fn fetch(
    download: &Download<'_>,
    patience: &Patience,
    observe: &mut dyn FnMut(Event<'_>),
) -> Result<(), String> {
    let agent = connection::agent(download.url, patience.silence)?;
    let part = Part::for_file(download.to);
    let mut fruitless = 0;
    let mut tries = 0;
    loop {
        tries += 1;
        let before = part.len();
        let why = match attempt(&agent, download, &part, observe) {
            Ok(()) => return Ok(()),
            Err(Failure::Permanent(why)) => return Err(why),
            Err(Failure::Transient(why)) => why,
        };
        fruitless = if part.len() > before { 1 } else { fruitless + 1 };
        if fruitless >= patience.attempts || tries >= MAX_TRIES * patience.attempts {
            return Err(format!("{why} ({tries} attempts)"));
        }
        let pause = patience.pause * 2u32.saturating_pow(fruitless - 1);
        observe(Event::Retrying {
            url: download.url,
            problem: &why,
            pause,
        });
        thread::sleep(pause);
    }
}

fn attempt(
    agent: &Agent,
    download: &Download<'_>,
    part: &Part,
    observe: &mut dyn FnMut(Event<'_>),
) -> Result<(), Failure> {
    if download.size.is_some_and(|size| part.len() > size) {
        part.discard();
    }
    let mut have = part.len();
    let tag = part.tag();
    // Without a tag only the checksum shows whether old and new bytes belong together.
    if tag.is_none() && download.sha256.is_none() {
        have = 0;
    }
    let resumed = have > 0;
    if Some(have) != download.size {
        let mut request = agent.get(download.url);
        if resumed {
            request = request.header(header::RANGE, format!("bytes={have}-"));
            if let Some(tag) = &tag {
                request = request.header(header::IF_RANGE, tag);
            }
        }
        let response = request
            .call()
            .map_err(|error| match connection::distrusted(&error) {
                Some(why) => Failure::Permanent(why),
                None => Failure::Transient(error.to_string()),
            })?;
        let status = response.status().as_u16();
        let headers = response.headers();
        let total = match status {
            200 => {
                have = 0;
                part.begin(headers).map_err(|e| on_disk(part, &e))?;
                number(headers, header::CONTENT_LENGTH)
            }
            206 if resumed => match range(headers) {
                Some((start, total)) if start == have => total,
                _ => {
                    part.discard();
                    return Err(Failure::Transient("the server sent another range".into()));
                }
            },
            416 if resumed => {
                part.discard();
                return Err(Failure::Transient("the server has no such range".into()));
            }
            408 | 429 | 500.. => return Err(Failure::Transient(format!("status {status}"))),
            _ => return Err(Failure::Permanent(format!("status {status}"))),
        };
        if let (Some(size), Some(total)) = (download.size, total)
            && size != total
        {
            part.discard();
            return Err(Failure::Permanent(format!(
                "the server has {total} bytes, expected {size}"
            )));
        }
        let body = response.into_body().into_reader();
        receive(body, download, part, (have, total), observe)?;
    }
    finish(download, part, resumed)
}

fn receive(
    mut body: impl Read,
    download: &Download<'_>,
    part: &Part,
    (mut have, total): (u64, Option<u64>),
    observe: &mut dyn FnMut(Event<'_>),
) -> Result<(), Failure> {
    let limit = download.size.unwrap_or(MAX_BYTES);
    let mut file = part.append().map_err(|e| on_disk(part, &e))?;
    let mut block = vec![0; 1 << 16];
    loop {
        let read = match body.read(&mut block) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) => return Err(Failure::Transient(error.to_string())),
        };
        have += read as u64;
        if have > limit {
            part.discard();
            return Err(Failure::Permanent(format!(
                "the server sends more than {limit} bytes"
            )));
        }
        file.write_all(&block[..read]).map_err(|e| on_disk(part, &e))?;
        observe(Event::Downloading {
            url: download.url,
            bytes: have,
            total: total.or(download.size),
        });
    }
    file.sync_all().map_err(|e| on_disk(part, &e))?;
    match total.or(download.size) {
        Some(total) if have < total => {
            Err(Failure::Transient(format!("ended after {have} of {total} bytes")))
        }
        _ => Ok(()),
    }
}

fn finish(download: &Download<'_>, part: &Part, resumed: bool) -> Result<(), Failure> {
    if let Some(expected) = download.sha256 {
        let found = checksum::of_file(&part.path).map_err(|e| Failure::Permanent(e.to_string()))?;
        if found.sha256 != expected {
            part.discard();
            let why = format!("SHA-256 is {}, expected {expected}", found.sha256);
            // The first half may be from an older file: once more, from the start.
            return Err(if resumed {
                Failure::Transient(why)
            } else {
                Failure::Permanent(why)
            });
        }
    }
    fs::rename(&part.path, download.to).map_err(|e| on_disk(part, &e))?;
    let _ = fs::remove_file(&part.tag);
    Ok(())
}

fn on_disk(part: &Part, error: &std::io::Error) -> Failure {
    Failure::Permanent(format!("{}: {error}", part.path.display()))
}

fn number(headers: &HeaderMap, name: header::HeaderName) -> Option<u64> {
    headers.get(name)?.to_str().ok()?.trim().parse().ok()
}

/// The first byte of a `Content-Range`, and the whole length if it is said.
fn range(headers: &HeaderMap) -> Option<(u64, Option<u64>)> {
    let text = headers.get(header::CONTENT_RANGE)?.to_str().ok()?;
    let (range, total) = text.trim().strip_prefix("bytes ")?.split_once('/')?;
    let (start, _) = range.split_once('-')?;
    Some((start.parse().ok()?, total.parse().ok()))
}

#[cfg(test)]
mod tests;
