//! Looks for the words of `glossary.txt` in names, comments, texts and pages of the tracked files.

use std::collections::HashMap;
use std::fs;
use std::process::Command;

use crate::process::output_of;
use crate::workspace::Workspace;

const GLOSSARY: &str = include_str!("glossary.txt");

/// Inputs of tests are as they are; a list of changes names what things were called.
const EXEMPT: [&str; 2] = ["/fixtures/", "CHANGELOG.md"];

/// Prints each word that is found, with what to say instead; their number is the error.
pub(super) fn check(workspace: &Workspace) -> Result<String, String> {
    let glossary = Glossary::parse(GLOSSARY)?;
    let mut git = Command::new("git");
    git.args(["ls-files", "*.rs", "*.md"])
        .current_dir(&workspace.root);
    let files = output_of(&mut git).ok_or("`git ls-files` does not say which files there are")?;
    let (mut looked_at, mut found) = (0, 0);
    for file in files
        .lines()
        .filter(|file| !EXEMPT.iter().any(|part| file.contains(part)))
    {
        // One that is deleted but not committed yet is listed.
        let Ok(text) = fs::read_to_string(workspace.root.join(file)) else {
            continue;
        };
        looked_at += 1;
        for (line, word, say) in glossary.search(file, &text) {
            found += 1;
            println!("{file}:{line}: {word} -> {say}");
        }
    }
    match found {
        0 => Ok(format!("{looked_at} files")),
        _ => Err(format!(
            "{found} uses of words that xtask/src/test/glossary.txt replaces"
        )),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Word,
    Part,
    Exact,
    Whole,
}

#[derive(Debug)]
struct Rule {
    kind: Kind,
    /// One word for `Exact` and `Whole`; for the others each part in lower case.
    words: Vec<String>,
    /// A name for `Whole`, parts of paths for the others.
    unless: Option<String>,
    say: String,
}

impl Rule {
    fn is_for(&self, file: &str) -> bool {
        let exempt = self.unless.as_deref().unwrap_or_default();
        self.kind == Kind::Whole || !exempt.split_whitespace().any(|part| file.contains(part))
    }
}

/// Rules by the first of their words.
struct Glossary(HashMap<String, Vec<Rule>>);

impl Glossary {
    fn parse(text: &str) -> Result<Self, String> {
        let mut rules: HashMap<String, Vec<Rule>> = HashMap::new();
        for line in text
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
        {
            let parts = line
                .split_once(": ")
                .and_then(|(kind, rest)| Some((kind, rest.split_once(" | ")?)));
            let (kind, (words, say)) = parts.ok_or_else(|| format!("glossary: no rule: {line}"))?;
            let kind = match kind {
                "word" => Kind::Word,
                "part" => Kind::Part,
                "exact" => Kind::Exact,
                "whole" => Kind::Whole,
                _ => return Err(format!("glossary: no such kind: {line}")),
            };
            let (words, unless) = match words.split_once(" (unless ") {
                Some((words, name)) => (words, Some(name.trim_end_matches(')').to_owned())),
                None => (words, None),
            };
            for term in words.split(", ") {
                let words = match kind {
                    Kind::Word | Kind::Part => parts_of(&term.replace([' ', '-'], "_")),
                    Kind::Exact | Kind::Whole => vec![term.to_owned()],
                };
                rules.entry(words[0].clone()).or_default().push(Rule {
                    kind,
                    words,
                    unless: unless.clone(),
                    say: say.to_owned(),
                });
            }
        }
        Ok(Self(rules))
    }

    /// Line, word and what to say instead, in the order of the lines.
    fn search(&self, file: &str, text: &str) -> Vec<(usize, String, &str)> {
        let tokens = tokens(text, file.ends_with(".rs"));
        let mut declared = declared(&tokens);
        declared.extend(file.split(['/', '.']).map(|name| (1, name)));
        let mut found = Vec::new();
        for &(line, name) in &declared {
            for rule in self.starting_with(name).filter(|rule| rule.kind == Kind::Whole) {
                let other = rule.unless.as_deref();
                if !declared.iter().any(|(_, name)| Some(*name) == other) {
                    found.push((line, name.to_owned(), &*rule.say));
                }
            }
        }
        let words = tokens.iter().filter(|token| token.is_word());
        let parts: Vec<(&Token<'_>, String)> = words
            .flat_map(|token| parts_of(token.text).into_iter().map(move |part| (token, part)))
            .collect();
        for (index, (token, part)) in parts.iter().enumerate() {
            for rule in self.starting_with(part).filter(|rule| rule.is_for(file)) {
                let Some(here) = parts.get(index..index + rule.words.len()) else {
                    continue;
                };
                let is_one_name = here.iter().all(|(other, _)| std::ptr::eq(*other, *token));
                let is_name = is_one_name && (token.place != Place::Prose || token.text.contains('_'));
                let is_prose = here.iter().all(|(other, _)| other.place == Place::Prose);
                let is_meant = match rule.kind {
                    Kind::Word => is_one_name || is_prose,
                    Kind::Part => is_name,
                    Kind::Exact | Kind::Whole => false,
                };
                if is_meant && here.iter().map(|(_, part)| part).eq(&rule.words) {
                    found.push((token.line, rule.words.join(" "), &*rule.say));
                }
            }
        }
        for token in tokens.iter().filter(|token| token.place != Place::Prose) {
            let rules = self
                .starting_with(token.text)
                .filter(|rule| rule.kind == Kind::Exact);
            found.extend(rules.map(|rule| (token.line, token.text.to_owned(), &*rule.say)));
        }
        found.sort();
        found.dedup();
        found
    }

    fn starting_with(&self, word: &str) -> impl Iterator<Item = &Rule> {
        self.0.get(word).into_iter().flatten()
    }
}

/// `off_diagonal`, `OffDiagonal` and `offDiagonal` are `off` and `diagonal`.
fn parts_of(word: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut was_lower = false;
    for letter in word.chars() {
        if letter == '_' || (was_lower && letter.is_uppercase()) {
            parts.push(String::new());
        }
        was_lower = letter.is_lowercase();
        if let Some(part) = parts.last_mut().filter(|_| letter != '_') {
            part.extend(letter.to_lowercase());
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Code,
    /// Between backticks in a comment, a text or a page.
    Quoted,
    Prose,
}

/// A word, or in code a sign.
#[derive(Debug)]
struct Token<'a> {
    line: usize,
    place: Place,
    text: &'a str,
}

impl Token<'_> {
    fn is_word(&self) -> bool {
        self.text
            .starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
    }
}

/// What the letters at a place of a file belong to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Span {
    Code,
    Page,
    LineComment,
    BlockComment,
    Text,
    /// With this many `#`.
    RawText(usize),
}

fn tokens(text: &str, is_rust: bool) -> Vec<Token<'_>> {
    let bytes = text.as_bytes();
    let (mut tokens, mut line, mut at, mut is_quoted) = (Vec::new(), 1, 0, false);
    let mut span = if is_rust { Span::Code } else { Span::Page };
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    while at < bytes.len() {
        let rest = &bytes[at..];
        let mut length = 1;
        match rest[0] {
            b'\n' => {
                line += 1;
                is_quoted = false;
                if span == Span::LineComment {
                    span = Span::Code;
                }
            }
            letter if is_letter(&letter) => {
                length = rest.iter().take_while(|byte| is_letter(byte)).count();
                let word = &text[at..at + length];
                let hashes = rest[length..].iter().take_while(|byte| **byte == b'#').count();
                if span == Span::Code
                    && matches!(word, "r" | "br" | "cr")
                    && rest.get(length + hashes) == Some(&b'"')
                {
                    span = Span::RawText(hashes);
                    length += hashes + 1;
                } else {
                    let place = match span {
                        Span::Code => Place::Code,
                        _ if is_quoted => Place::Quoted,
                        _ => Place::Prose,
                    };
                    tokens.push(Token {
                        line,
                        place,
                        text: word,
                    });
                }
            }
            sign => match span {
                Span::Code if rest.starts_with(b"//") => span = Span::LineComment,
                Span::Code if rest.starts_with(b"/*") => span = Span::BlockComment,
                Span::Code if sign == b'"' => span = Span::Text,
                // A letter; else it is a lifetime.
                Span::Code if sign == b'\'' && rest.get(1) == Some(&b'\\') => {
                    length = 4 + rest.iter().skip(3).take_while(|byte| **byte != b'\'').count();
                }
                Span::Code if rest.starts_with(b"'\"'") => length = 3,
                Span::Code if sign.is_ascii_punctuation() => {
                    let text = &text[at..=at];
                    tokens.push(Token {
                        line,
                        place: Place::Code,
                        text,
                    });
                }
                Span::Text if sign == b'\\' && rest.get(1) != Some(&b'\n') => length = 2,
                Span::Text if sign == b'"' => span = Span::Code,
                Span::RawText(hashes) if sign == b'"' && rest[1..].starts_with(&b"#".repeat(hashes)) => {
                    span = Span::Code;
                    length += hashes;
                }
                Span::BlockComment if rest.starts_with(b"*/") => {
                    span = Span::Code;
                    length = 2;
                }
                _ if sign == b'`' => is_quoted = !is_quoted && span != Span::Code,
                _ => {}
            },
        }
        at += length;
    }
    tokens
}

/// Names of functions, types, modules and constants, fields and variants, with their lines.
fn declared<'a>(tokens: &[Token<'a>]) -> Vec<(usize, &'a str)> {
    let code: Vec<_> = tokens.iter().filter(|token| token.place == Place::Code).collect();
    let text_at = |index: usize| code.get(index).map_or("", |token| token.text);
    let mut names = Vec::new();
    // Brackets that are open in the body of a type; `None` outside of one.
    let mut depth = None;
    let mut is_body_next = false;
    for (index, token) in code.iter().enumerate().skip(1) {
        let (before, next) = (text_at(index - 1), text_at(index + 1));
        match token.text {
            "{" if is_body_next => (depth, is_body_next) = (Some(1), false),
            "{" | "(" | "[" => depth = depth.map(|depth| depth + 1),
            "}" | ")" | "]" => depth = depth.map(|depth: u32| depth - 1).filter(|depth| *depth > 0),
            ";" => is_body_next = false,
            _ => {}
        }
        if !token.is_word() {
            continue;
        }
        let is_field = next == ":" && text_at(index + 2) != ":";
        let is_member = matches!(depth, Some(1 | 2))
            && matches!(before, "{" | "," | "]" | ")" | "pub")
            && (is_field || matches!(next, "," | "(" | "{" | "}" | "="));
        match before {
            "struct" | "enum" | "union" => is_body_next = true,
            "fn" | "trait" | "type" | "mod" | "const" | "static" => {}
            _ if is_member => {}
            _ => continue,
        }
        names.push((token.line, token.text));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &str = "\
# a comment
word: gribble, gribble on and on | run
word: wug (unless b/ c.md) | stop
part: zorp_up | start
exact: Wob | Config
whole: nim (unless nam) | rest
whole: fep | length
";

    fn found(file: &str, text: &str) -> Vec<String> {
        let glossary = Glossary::parse(RULES).unwrap();
        let found = glossary.search(file, text).into_iter();
        found
            .map(|(line, word, say)| format!("{line} {word} {say}"))
            .collect()
    }

    #[test]
    fn the_glossary_is_read() {
        assert!(Glossary::parse(GLOSSARY).unwrap().0.len() > 20);
        assert!(Glossary::parse("word: gribble\n").is_err());
        assert!(Glossary::parse("verb: gribble | run\n").is_err());
    }

    #[test]
    fn words_are_found_in_prose_texts_and_parts_of_names() {
        assert_eq!(found("a.md", "Some.\nWe gribble."), ["2 gribble run"]);
        assert_eq!(
            found("a.rs", "/// Will Gribble\nfn a() { b(\"\\ngribble\") }"),
            ["1 gribble run", "2 gribble run"]
        );
        assert_eq!(
            found("a.rs", "let x = may_gribble + GribbleOne;"),
            ["1 gribble run"]
        );
        assert_eq!(found("a.rs", "/// gribble on\n/// and on").len(), 2);
        assert!(found("a.rs", "/// gribbles, agribble").is_empty());
        assert_eq!(found("a.rs", "/// wug").len(), 1);
        assert!(found("b/a.rs", "/// wug").is_empty() && found("c.md", "wug").is_empty());
    }

    #[test]
    fn parts_are_found_in_names_only() {
        assert_eq!(
            found("a.rs", "fn a_zorp_up_b() {}\nstruct ZorpUp;"),
            ["1 zorp up start", "2 zorp up start"]
        );
        assert_eq!(found("a.md", "call zorp_up"), ["1 zorp up start"]);
        assert!(found("a.md", "to zorp up").is_empty());
        assert_eq!(
            found("a.rs", "let x = Wob::new(); // Wob, wob, `Wob`\nlet wob = 1;"),
            ["1 Wob Config"]
        );
    }

    #[test]
    fn everyday_words_are_found_as_whole_names_only() {
        for text in [
            "pub fn fep() {}",
            "struct A {\n pub(crate) b: u8, fep: u8 }",
            "struct A<T> where T: B {\n #[doc = \"b\"]\n pub fep: T }",
            "enum A { fep, B }",
            "mod fep;",
        ] {
            assert_eq!(found("a.rs", text).len(), 1, "{text}");
        }
        assert_eq!(found("b/fep.rs", ""), ["1 fep length"]);
        for text in [
            "fn fep_of(fep: u8) { let fep = fep; }",
            "/// fep `fep`",
            "let a = A { fep: 1 };",
            "fn nim() {}\nfn nam() {}",
        ] {
            assert!(found("a.rs", text).is_empty(), "{text}");
        }
        assert_eq!(found("a.rs", "fn nim() {}"), ["1 nim rest"]);
    }

    #[test]
    fn texts_and_letters_end_where_they_end() {
        for text in [
            "let a = r#\"\"#; fn fep() {}",
            "let a = ('\"', '\\'', b'\\\\', \"\\\"\"); fn fep() {}",
            "/* fn fep() */ fn fep<'a>() {}",
            "// it's\nfn fep() {}",
        ] {
            assert_eq!(found("a.rs", text).len(), 1, "{text}");
        }
    }
}
