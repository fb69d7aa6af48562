//! Which connections are allowed, and which certificates are trusted.

use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use ureq::Agent;
use ureq::http::Uri;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};

/// HTTPS, also after redirects. Plain HTTP only within this machine, for tests.
pub(super) fn agent(url: &str, silence: Duration) -> Result<Agent, String> {
    let uri: Uri = url.parse().map_err(|e| format!("{url} is not an address: {e}"))?;
    let secure = uri.scheme_str() == Some("https");
    let plain = uri.scheme_str() == Some("http") && matches!(uri.host(), Some("127.0.0.1" | "[::1]"));
    if !secure && !plain {
        return Err(format!("{url} is refused: only https is used"));
    }
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .https_only(secure)
        .timeout_connect(Some(silence))
        .timeout_recv_response(Some(silence))
        .timeout_per_read(Some(silence))
        .user_agent(concat!("egg-datasets/", env!("CARGO_PKG_VERSION")));
    let config = if secure {
        let trusted = trusted(std::env::var_os("SSL_CERT_FILE"))?;
        config
            .max_redirects(5)
            .tls_config(TlsConfig::builder().root_certs(trusted).build())
    } else {
        config
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(None)
    };
    Ok(config.build().new_agent())
}

/// Mozilla's list, which is compiled in, or the file that the user names, as
/// OpenSSL and curl understand it.
fn trusted(file: Option<OsString>) -> Result<RootCerts, String> {
    let Some(file) = file.filter(|file| !file.is_empty()) else {
        return Ok(RootCerts::WebPki);
    };
    let wrong = |why: &str| format!("SSL_CERT_FILE={}: {why}", file.display());
    let text = std::fs::read(&file).map_err(|e| wrong(&e.to_string()))?;
    let certificates: Vec<Certificate<'static>> = parse_pem(&text)
        .filter_map(|item| match item {
            Ok(PemItem::Certificate(certificate)) => Some(certificate),
            _ => None,
        })
        .collect();
    if certificates.is_empty() {
        return Err(wrong("no certificate in it"));
    }
    Ok(RootCerts::Specific(Arc::new(certificates)))
}

/// What to do, if the trouble is that the server could not be trusted.
pub(super) fn distrusted(error: &ureq::Error) -> Option<String> {
    let text = error.to_string();
    // ureq passes it on as an I/O error, so that only the text identifies it.
    text.contains("invalid peer certificate").then(|| {
        format!(
            "{text}; if your network has certificates of its own, set SSL_CERT_FILE to the file that has them \
             (Debian: /etc/ssl/certs/ca-certificates.crt)"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_http_stays_on_this_machine() {
        let silence = Duration::from_secs(1);
        for url in [
            "http://example.org/x",
            "http://127.0.0.1.example.org/x",
            "http://127.0.0.1@example.org/x",
            "ftp://127.0.0.1/x",
            "file:///etc/passwd",
            "x",
        ] {
            assert!(agent(url, silence).is_err(), "{url}");
        }
        assert!(agent("http://127.0.0.1:80/x", silence).is_ok());
    }

    #[test]
    fn certificate_file_without_certificates_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("certificates.pem");
        assert!(trusted(Some(file.clone().into())).is_err());
        std::fs::write(&file, "nothing").unwrap();
        assert!(trusted(Some(file.into())).is_err());
        assert!(matches!(trusted(None), Ok(RootCerts::WebPki)));
        assert!(matches!(trusted(Some("".into())), Ok(RootCerts::WebPki)));
    }

    #[test]
    fn certificate_error_names_the_remedy() {
        let error = |text: &str| ureq::Error::Io(std::io::Error::other(text.to_owned()));
        let remedy = distrusted(&error("invalid peer certificate: UnknownIssuer")).unwrap();
        assert!(remedy.contains("SSL_CERT_FILE"), "{remedy}");
        assert!(distrusted(&error("connection reset")).is_none());
    }
}
