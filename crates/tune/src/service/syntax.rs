//! The syntax of services' configuration files: just enough to find where a directive's value begins and ends.
//!
//! A directive is named by its blocks and its name, separated by slashes: `events/worker_connections`, `www/pm`. Unknown
//! syntax is refused, never guessed.

use std::ops::Range;

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Syntax {
    /// `name value;` and `name { ... }`: nginx.
    Braces,
    /// `[section]` and `name = value`: php-fpm, MariaDB.
    Sections,
    /// `name = value`, conditions in braces: lighttpd.
    Assignments,
    /// `Name value` and `<Block>`: Apache.
    Tags,
    /// `-o value`: memcached.
    Options,
}

/// A directive that is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DirectiveEntry {
    pub(super) name: String,
    /// Where its value is in the text.
    pub(super) value: Range<usize>,
}

/// The content of a text, and where its blocks end.
#[derive(Debug, Default)]
pub(super) struct Outline {
    pub(super) entries: Vec<DirectiveEntry>,
    /// Blocks by their names, and where a line can be added to each.
    blocks: Vec<(String, usize)>,
}

impl Outline {
    /// The one entry of this name.
    pub(super) fn only(&self, directive: &str) -> Result<Option<&DirectiveEntry>, String> {
        let mut found = self.entries.iter().filter(|entry| entry.name == directive);
        let first = found.next();
        match found.next() {
            Some(_) => Err(format!("'{directive}' is set more than once in it")),
            None => Ok(first),
        }
    }
}

impl Outline {
    /// Whether a line for a directive can be added: its block is there, and there is one only.
    pub(super) fn has_place(&self, directive: &str) -> bool {
        match directive.rsplit_once('/') {
            Some((block, _)) => self.blocks.iter().filter(|(name, _)| name == block).count() == 1,
            None => true,
        }
    }
}

impl Syntax {
    /// The content of a text.
    pub(super) fn outline(self, text: &str) -> Result<Outline, String> {
        match self {
            Syntax::Braces => braces(text),
            Syntax::Sections => Ok(sections(text)),
            Syntax::Assignments => assignments(text),
            Syntax::Tags => tags(text),
            Syntax::Options => Ok(options(text)),
        }
    }

    /// Where a directive that is not set can be added, and the line that adds it.
    pub(super) fn insertion(
        self,
        outline: &Outline,
        text: &str,
        (directive, value): (&str, &str),
    ) -> Result<(usize, String), String> {
        let (block, name) = match self {
            Syntax::Braces | Syntax::Sections => directive.rsplit_once('/').unwrap_or(("", directive)),
            Syntax::Assignments | Syntax::Tags | Syntax::Options => ("", directive),
        };
        let line = match self {
            Syntax::Braces => format!("{name} {value};\n"),
            Syntax::Sections | Syntax::Assignments => format!("{name} = {value}\n"),
            Syntax::Tags | Syntax::Options => format!("{name} {value}\n"),
        };
        if block.is_empty() {
            let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
            return Ok((text.len(), format!("{gap}{line}")));
        }
        let mut found = outline.blocks.iter().filter(|(name, _)| name == block);
        match (found.next(), found.next()) {
            (Some((_, at)), None) => Ok((*at, line)),
            (None, _) => Err(format!("it has no block '{block}'")),
            (Some(_), Some(_)) => Err(format!("it has more than one block '{block}'")),
        }
    }
}

fn joined(blocks: &[String], name: &str) -> String {
    blocks
        .iter()
        .map(String::as_str)
        .chain([name])
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("/")
}

/// Words with their places, up to what ends a statement.
struct Words<'a> {
    text: &'a str,
    at: usize,
}

/// What a statement of nginx ends with.
enum End {
    Semicolon,
    Open,
    Close,
    Text,
}

impl Words<'_> {
    /// The words of the next statement, and its end.
    fn statement(&mut self) -> Result<(Vec<Range<usize>>, End), String> {
        let bytes = self.text.as_bytes();
        let mut words: Vec<Range<usize>> = Vec::new();
        while let Some(byte) = bytes.get(self.at) {
            let start = self.at;
            match byte {
                b'#' => self.at = self.text[start..].find('\n').map_or(bytes.len(), |length| start + length),
                b';' | b'{' | b'}' => {
                    self.at += 1;
                    let end = match byte {
                        b';' => End::Semicolon,
                        b'{' => End::Open,
                        _ => End::Close,
                    };
                    return Ok((words, end));
                }
                byte if byte.is_ascii_whitespace() => self.at += 1,
                _ => {
                    self.at = self.word_end(start)?;
                    words.push(start..self.at);
                }
            }
        }
        Ok((words, End::Text))
    }

    fn word_end(&self, start: usize) -> Result<usize, String> {
        let bytes = self.text.as_bytes();
        if let quote @ (b'"' | b'\'') = bytes[start] {
            let mut at = start + 1;
            while let Some(byte) = bytes.get(at) {
                match *byte {
                    b'\\' => at += 2,
                    byte if byte == quote => return Ok(at + 1),
                    _ => at += 1,
                }
            }
            return Err("a quote in it is not closed".into());
        }
        let rest = &bytes[start..];
        let mut length = 0;
        while let Some(byte) = rest.get(length) {
            match byte {
                b'\\' => length += 2,
                // A variable in braces, ${name}, is part of its word.
                b'$' if rest.get(length + 1) == Some(&b'{') => {
                    let close = rest[length..].iter().position(|byte| *byte == b'}');
                    length += close.ok_or("a variable in it is not closed")? + 1;
                }
                b';' | b'{' | b'}' => break,
                byte if byte.is_ascii_whitespace() => break,
                _ => length += 1,
            }
        }
        Ok(start + length.min(rest.len()))
    }
}

fn braces(text: &str) -> Result<Outline, String> {
    let mut words = Words { text, at: 0 };
    let mut blocks: Vec<String> = Vec::new();
    let mut outline = Outline::default();
    loop {
        let (found, end) = words.statement()?;
        let name = found.first().map(|word| text[word.clone()].to_owned());
        match (end, name) {
            (End::Semicolon, Some(name)) => {
                let value = found.get(1).map_or(words.at - 1..words.at - 1, |first| {
                    first.start..found.last().map_or(first.end, |last| last.end)
                });
                outline.entries.push(DirectiveEntry { name: joined(&blocks, &name), value });
            }
            (End::Semicolon, None) => {}
            (End::Open, name) => {
                if name.as_deref().is_some_and(|name| name.ends_with("_by_lua_block")) {
                    return Err("it has a Lua block, which is not supported".into());
                }
                blocks.push(name.unwrap_or_default());
            }
            (End::Close, None) if !blocks.is_empty() => {
                outline.blocks.push((joined(&blocks, ""), words.at - 1));
                blocks.pop();
            }
            (End::Text, None) if blocks.is_empty() => return Ok(outline),
            _ => return Err("its braces and semicolons do not match".into()),
        }
    }
}

/// Lines with their places.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split_inclusive('\n').scan(0, |at, line| {
        let start = *at;
        *at += line.len();
        Some((start, line))
    })
}

/// Where a part of a line is in the text.
fn place(line: &str, start: usize, part: &str) -> Range<usize> {
    let offset = part.as_ptr() as usize - line.as_ptr() as usize;
    start + offset..start + offset + part.len()
}

/// A value without the comment after it.
fn before_comment<'a>(value: &'a str, marks: &[&str]) -> &'a str {
    let end = marks.iter().filter_map(|mark| value.find(mark)).min();
    value[..end.unwrap_or(value.len())].trim()
}

fn sections(text: &str) -> Outline {
    let mut section = String::new();
    let mut outline = Outline::default();
    for (start, line) in lines(text) {
        let trimmed = line.trim();
        if trimmed.starts_with([';', '#', '!']) || trimmed.is_empty() {
            continue;
        }
        if let Some(name) = trimmed.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            section = name.0.trim().to_owned();
            outline.blocks.push((section.clone(), start + line.len()));
        } else {
            let (name, value) = trimmed.split_once('=').unwrap_or((trimmed, &trimmed[trimmed.len()..]));
            // MariaDB takes dashes and underscores alike.
            let name = joined(std::slice::from_ref(&section), &name.trim().replace('-', "_"));
            let value = place(line, start, before_comment(value, &[" ;", " #", "\t;", "\t#"]));
            outline.entries.push(DirectiveEntry { name, value });
        }
    }
    outline
}

fn assignments(text: &str) -> Result<Outline, String> {
    let mut depth = 0usize;
    let mut outline = Outline::default();
    for (start, line) in lines(text) {
        let code = before_comment(line, &["#"]);
        let is_setting = |(name, _): &(&str, &str)| {
            name.trim().bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
        };
        if let Some((name, value)) = code.split_once('=').filter(|found| depth == 0 && is_setting(found)) {
            let value = place(line, start, value.trim());
            outline.entries.push(DirectiveEntry { name: name.trim().to_owned(), value });
        }
        let count = |brackets: [char; 2]| code.matches(brackets).count();
        depth =
            (depth + count(['{', '('])).checked_sub(count(['}', ')'])).ok_or("its braces do not match")?;
    }
    if depth == 0 { Ok(outline) } else { Err("its braces do not match".into()) }
}

fn tags(text: &str) -> Result<Outline, String> {
    let mut blocks: Vec<&str> = Vec::new();
    let mut outline = Outline::default();
    for (start, line) in lines(text) {
        let code = line.trim();
        if code.starts_with('#') || code.is_empty() {
            continue;
        }
        if code.ends_with('\\') {
            return Err("it has continued lines, which are not supported".into());
        }
        if code.starts_with("</") {
            blocks.pop().ok_or("its blocks do not match")?;
        } else if let Some(name) = code.strip_prefix('<') {
            blocks.push(name.split([' ', '>']).next().unwrap_or(name));
        } else if blocks.iter().all(|block| block.eq_ignore_ascii_case("IfModule")) {
            let (name, value) = code.split_once([' ', '\t']).unwrap_or((code, &code[code.len()..]));
            let value = place(line, start, value.trim());
            outline.entries.push(DirectiveEntry { name: name.to_owned(), value });
        }
    }
    if blocks.is_empty() { Ok(outline) } else { Err("its blocks do not match".into()) }
}

fn options(text: &str) -> Outline {
    let mut outline = Outline::default();
    for (start, line) in lines(text) {
        let code = before_comment(line, &["#"]);
        if code.starts_with('-') {
            let (name, value) = code.split_once([' ', '=']).unwrap_or((code, &code[code.len()..]));
            let value = place(line, start, value.trim());
            outline.entries.push(DirectiveEntry { name: name.to_owned(), value });
        }
    }
    outline
}
