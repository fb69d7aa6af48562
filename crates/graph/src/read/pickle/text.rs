//! Text as protocol 0 writes it down.

use std::str::FromStr;

/// One character per byte.
pub(super) fn latin1(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

/// `None` if a character is not in Latin-1.
pub(super) fn encode_latin1(text: &str) -> Option<Vec<u8>> {
    text.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect()
}

pub(super) fn parse_text<T: FromStr>(bytes: &[u8]) -> Option<T> {
    std::str::from_utf8(bytes).ok()?.parse().ok()
}

/// A string of Python 2 in quotes, with escapes.
pub(super) fn unescape(quoted: &[u8]) -> Option<Vec<u8>> {
    let mut rest = match quoted {
        [b'\'', inner @ .., b'\''] | [b'"', inner @ .., b'"'] => inner,
        _ => return None,
    };
    let mut bytes = Vec::new();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let (&escaped, after) = rest.split_first()?;
        rest = after;
        bytes.push(match escaped {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'a' => 0x07,
            b'b' => 0x08,
            b'f' => 0x0c,
            b'v' => 0x0b,
            b'\\' | b'\'' | b'"' => escaped,
            b'x' => {
                let (digits, after) = rest.split_at_checked(2)?;
                rest = after;
                u8::try_from(hexadecimal(digits)?).ok()?
            }
            b'0'..=b'7' => {
                let mut value = u32::from(escaped - b'0');
                for _ in 0..2 {
                    if let Some((digit @ b'0'..=b'7', after)) = rest.split_first() {
                        value = value * 8 + u32::from(digit - b'0');
                        rest = after;
                    }
                }
                u8::try_from(value).ok()?
            }
            _ => return None,
        });
    }
    Some(bytes)
}

/// Latin-1 in which a backslash and `u` or `U` announce other characters.
pub(super) fn raw_unicode(line: &[u8]) -> Option<String> {
    let mut text = String::new();
    let mut rest = line;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        let length = match (byte, after.first()) {
            (b'\\', Some(b'u')) => 4,
            (b'\\', Some(b'U')) => 8,
            _ => {
                text.push(char::from(byte));
                continue;
            }
        };
        let (digits, after) = after.get(1..)?.split_at_checked(length)?;
        rest = after;
        text.push(char::from_u32(hexadecimal(digits)?)?);
    }
    Some(text)
}

/// At most eight digits.
fn hexadecimal(digits: &[u8]) -> Option<u32> {
    let digits = std::str::from_utf8(digits).ok()?;
    // `from_str_radix` would take a sign.
    if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    u32::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_raw_unicode_escapes_are_decoded() {
        assert_eq!(unescape(br#"'a\x00\'\n\101"'"#), Some(b"a\0'\nA\"".to_vec()));
        assert_eq!(raw_unicode(b"a\\u00e9\xe9\\U0001f600\\"), Some("aéé😀\\".into()));
        for bad in [&br"'\x1'"[..], br"'\q'", b"'", b"plain", br"'\'", br"'\x+1'"] {
            assert_eq!(unescape(bad), None);
        }
        for bad in [&br"\u12"[..], br"\ud800", br"\UFFFFFFFF", br"\u-123"] {
            assert_eq!(raw_unicode(bad), None);
        }
    }
}
