//! A Rust file taken apart into code, comments and string literals, line by line.
//!
//! Invariants:
//! - `code` has the characters of the file except that comments and the insides of literals are blanks, so a word
//!   found there is code;
//! - a line is part of a test if an item under `#[cfg(test)]` covers it;
//! - unbalanced braces end at the end of the file; nothing here fails.

/// A file taken apart.
pub struct Source {
    /// Its lines, first to last.
    pub lines: Vec<Line>,
    /// Its string literals, raw and byte strings included, without escapes undone.
    pub strings: Vec<Literal>,
    /// Its functions that have a body.
    pub functions: Vec<Function>,
}

/// One line.
#[derive(Default)]
pub struct Line {
    /// Code, with comments and insides of literals blanked.
    pub code: String,
    /// Text of the comments on this line.
    pub comment: String,
    /// Whether there is anything but comments and white space.
    pub has_code: bool,
    /// Whether it belongs to an item under `#[cfg(test)]`.
    pub is_test: bool,
}

/// A string literal.
pub struct Literal {
    /// Line of its first character, from 1.
    pub line: usize,
    /// What is between the quotes.
    pub text: String,
}

/// A function with a body.
pub struct Function {
    /// Its name.
    pub name: String,
    /// Line of the word `fn`, from 1.
    pub line: usize,
    /// Lines between its braces that have code.
    pub body_lines: usize,
}

impl Source {
    /// Takes `text` apart.
    pub fn parse(text: &str) -> Source {
        let mut lexer = Lexer::new(text);
        lexer.run();
        let Lexer { mut lines, strings, .. } = lexer;
        if text.ends_with('\n') {
            lines.pop();
        }
        let code: Vec<(usize, char)> = lines
            .iter()
            .enumerate()
            .flat_map(|(index, line)| line.code.chars().chain(['\n']).map(move |letter| (index, letter)))
            .collect();
        mark_tests(&code, &mut lines);
        let functions = find_functions(&code, &lines);
        Source { lines, strings, functions }
    }

    /// Lines of production code with their number from 1.
    pub fn production_lines(&self) -> impl Iterator<Item = (usize, &Line)> {
        self.lines.iter().enumerate().filter(|(_, line)| !line.is_test).map(|(index, line)| (index + 1, line))
    }

    /// String literals of production code.
    pub fn production_strings(&self) -> impl Iterator<Item = &Literal> {
        self.strings.iter().filter(|literal| !self.lines[literal.line - 1].is_test)
    }
}

/// Whether `code` contains `word` with no letter, digit or underscore on either side.
pub fn has_word(code: &str, word: &str) -> bool {
    let is_part =
        |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
    code.match_indices(word).any(|(at, _)| {
        !is_part(code[..at].chars().next_back()) && !is_part(code[at + word.len()..].chars().next())
    })
}

struct Lexer {
    letters: Vec<char>,
    at: usize,
    lines: Vec<Line>,
    strings: Vec<Literal>,
}

impl Lexer {
    fn new(text: &str) -> Lexer {
        Lexer { letters: text.chars().collect(), at: 0, lines: vec![Line::default()], strings: Vec::new() }
    }

    fn run(&mut self) {
        while let Some(letter) = self.peek(0) {
            match (letter, self.peek(1)) {
                ('/', Some('/')) => self.line_comment(),
                ('/', Some('*')) => self.block_comment(),
                ('"', _) => self.string(0, true),
                ('\'', _) => self.quote(),
                (letter, _) if letter.is_alphabetic() || letter == '_' => self.word(),
                _ => self.code(),
            }
        }
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.letters.get(self.at + ahead).copied()
    }

    fn line(&mut self) -> &mut Line {
        self.lines.last_mut().expect("there is always a line")
    }

    /// Takes one letter as code.
    fn code(&mut self) {
        let letter = self.letters[self.at];
        self.at += 1;
        if letter == '\n' {
            self.lines.push(Line::default());
            return;
        }
        let line = self.line();
        line.code.push(letter);
        line.has_code |= !letter.is_whitespace();
    }

    /// Takes one letter of a literal: code is there, but not to be read.
    fn blank(&mut self) {
        let letter = self.letters[self.at];
        self.at += 1;
        if letter == '\n' {
            self.lines.push(Line::default());
            return;
        }
        let line = self.line();
        line.code.push(' ');
        line.has_code = true;
    }

    fn comment(&mut self) {
        let letter = self.letters[self.at];
        self.at += 1;
        if letter == '\n' {
            self.lines.push(Line::default());
        } else {
            self.line().comment.push(letter);
        }
    }

    fn line_comment(&mut self) {
        while self.peek(0).is_some_and(|letter| letter != '\n') {
            self.comment();
        }
    }

    fn block_comment(&mut self) {
        let mut depth = 0;
        loop {
            match (self.peek(0), self.peek(1)) {
                (Some('/'), Some('*')) => depth += 1,
                (Some('*'), Some('/')) => depth -= 1,
                (None, _) => return,
                _ => {
                    self.comment();
                    continue;
                }
            }
            self.comment();
            self.comment();
            if depth == 0 {
                return;
            }
        }
    }

    /// An identifier, or the prefix of a raw, byte or C string.
    fn word(&mut self) {
        let begin = self.at;
        while self.peek(0).is_some_and(|letter| letter.is_alphanumeric() || letter == '_') {
            self.code();
        }
        let word: String = self.letters[begin..self.at].iter().collect();
        let hashes = (0..).take_while(|&ahead| self.peek(ahead) == Some('#')).count();
        match word.as_str() {
            "r" | "br" | "cr" if self.peek(hashes) == Some('"') => {
                (0..hashes).for_each(|_| self.code());
                self.string(hashes, false);
            }
            "b" | "c" if self.peek(0) == Some('"') => self.string(0, true),
            _ => {}
        }
    }

    fn string(&mut self, hashes: usize, has_escapes: bool) {
        let line = self.lines.len();
        let mut text = String::new();
        self.code();
        while let Some(letter) = self.peek(0) {
            let is_end = letter == '"' && (1..=hashes).all(|ahead| self.peek(ahead) == Some('#'));
            if is_end {
                (0..=hashes).for_each(|_| self.code());
                break;
            }
            text.push(letter);
            self.blank();
            if has_escapes && letter == '\\' {
                text.extend(self.peek(0));
                if self.peek(0).is_some() {
                    self.blank();
                }
            }
        }
        self.strings.push(Literal { line, text });
    }

    /// A character literal or a lifetime.
    fn quote(&mut self) {
        let is_literal = self.peek(1) == Some('\\') || self.peek(2) == Some('\'');
        self.code();
        if !is_literal {
            return;
        }
        if self.peek(0) == Some('\\') {
            self.blank();
        }
        self.blank();
        while self.peek(0).is_some_and(|letter| letter != '\'' && letter != '\n') {
            self.blank();
        }
        if self.peek(0) == Some('\'') {
            self.code();
        }
    }
}

/// Marks the lines of every item under `#[cfg(test)]` or `#[cfg(all(test, …))]`.
fn mark_tests(code: &[(usize, char)], lines: &mut [Line]) {
    for first in 0..lines.len() {
        let compact: String = lines[first].code.split_whitespace().collect();
        if !compact.starts_with("#[cfg(test)]") && !compact.starts_with("#[cfg(all(test,") {
            continue;
        }
        let begin = code.iter().position(|(line, _)| *line == first).unwrap_or(code.len());
        let last = item_end(code, begin).map_or(lines.len() - 1, |at| code[at].0);
        lines[first..=last].iter_mut().for_each(|line| line.is_test = true);
    }
}

/// Position of the `;` or of the closing brace that ends the item at `begin`; attributes before it are skipped.
fn item_end(code: &[(usize, char)], begin: usize) -> Option<usize> {
    let mut depth = 0i32;
    for (at, (_, letter)) in code.iter().enumerate().skip(begin) {
        match letter {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ';' if depth == 0 => return Some(at),
            '{' if depth == 0 => return closing_brace(code, at),
            _ => {}
        }
    }
    None
}

fn closing_brace(code: &[(usize, char)], open: usize) -> Option<usize> {
    let mut depth = 0i32;
    for (at, (_, letter)) in code.iter().enumerate().skip(open) {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

fn find_functions(code: &[(usize, char)], lines: &[Line]) -> Vec<Function> {
    let text: Vec<char> = code.iter().map(|(_, letter)| *letter).collect();
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut found = Vec::new();
    for at in 0..text.len().saturating_sub(3) {
        let is_word = text[at..at + 3] == ['f', 'n', ' '] && (at == 0 || !is_part(text[at - 1]));
        let name: String = text[at + 3..].iter().take_while(|letter| is_part(**letter)).collect();
        if !is_word || name.is_empty() {
            continue;
        }
        let Some(end) = item_end(code, at).filter(|&end| text[end] == '}') else { continue };
        let open = (at..end).find(|&at| text[at] == '{').unwrap_or(end);
        let (first, last) = (code[open].0 + 1, code[end].0);
        let body_lines =
            lines.get(first..last).map_or(0, |body| body.iter().filter(|line| line.has_code).count());
        found.push(Function { name, line: code[at].0 + 1, body_lines });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_in_comments_and_literals_are_not_code() {
        let source = Source::parse(
            "let a = \"unsafe // \\\" no\"; // unsafe\nlet b = r#\"unsafe \" \"#; /* unsafe /* deeper */ unsafe */ x();\nlet c = 'u'; let d: &'static str = b\"unsafe\";",
        );
        assert!(source.lines.iter().all(|line| !has_word(&line.code, "unsafe")));
        assert!(has_word(&source.lines[1].code, "x"));
        assert!(has_word(&source.lines[2].code, "static"));
        let texts: Vec<&str> = source.strings.iter().map(|literal| literal.text.as_str()).collect();
        assert_eq!(texts, ["unsafe // \\\" no", "unsafe \" ", "unsafe"]);
    }

    #[test]
    fn character_literals_do_not_open_strings() {
        let source =
            Source::parse("let quote = '\"'; let slash = '\\\\'; let tick = '\\''; f::<'a>(\"s\"); done()");
        assert!(has_word(&source.lines[0].code, "done"));
        assert_eq!(source.strings.len(), 1);
    }

    #[test]
    fn test_items_are_marked_to_their_closing_brace() {
        let source = Source::parse(
            "fn a() {}\n#[cfg(test)]\nmod tests {\n  fn b() { if x {} }\n}\nfn c() {}\n#[cfg(test)]\nmod rig;\nfn d() {}",
        );
        let marks: Vec<bool> = source.lines.iter().map(|line| line.is_test).collect();
        assert_eq!(marks, [false, true, true, true, true, false, true, true, false]);
    }

    #[test]
    fn functions_are_measured_without_blank_lines_and_comments() {
        let source = Source::parse(
            "fn long(a: [u8; 2]) -> u8 {\n    one();\n\n    // two\n    two(\"\n text\n\");\n}\ntrait T { fn none(&self); }",
        );
        assert_eq!(source.functions.len(), 1);
        assert_eq!((source.functions[0].name.as_str(), source.functions[0].body_lines), ("long", 4));
    }
}
