//! Finds one value of a JSON document by its path, reading no further than that value.
//!
//! A path consists of names and numbers with dots: `data.items.0.token`. The result is the raw content of a string, a
//! number, `true`, or `false`. A string with escapes is not accepted: it would have to be rewritten. Values in invalid JSON,
//! or deeper than [`MAX_DEPTH`], are not found.

/// Greatest depth of what is passed over.
const MAX_DEPTH: usize = 64;

/// The value at a path.
pub fn find<'a>(text: &'a [u8], path: &str) -> Option<&'a [u8]> {
    let mut reader = Reader { text, at: 0 };
    for step in path.split('.') {
        reader.blanks();
        match reader.next()? {
            b'{' => reader.enter_object(step.as_bytes())?,
            b'[' => reader.enter_array(step.parse().ok()?)?,
            _ => return None,
        }
    }
    reader.blanks();
    match reader.peek()? {
        b'"' => reader.string().filter(|string| !string.contains(&b'\\')),
        b'{' | b'[' => None,
        _ => reader.word(),
    }
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    fn blanks(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    /// Goes to the value of a name, behind the brace.
    fn enter_object(&mut self, name: &[u8]) -> Option<()> {
        loop {
            self.blanks();
            let found = self.string()?;
            self.blanks();
            if self.next()? != b':' {
                return None;
            }
            if found == name {
                return Some(());
            }
            self.pass_comma()?;
        }
    }

    /// Goes to the value of this number, behind the bracket.
    fn enter_array(&mut self, number: usize) -> Option<()> {
        for _ in 0..number {
            self.pass_comma()?;
        }
        self.blanks();
        (self.peek()? != b']').then_some(())
    }

    /// Skips a value and the comma after it.
    fn pass_comma(&mut self) -> Option<()> {
        self.pass()?;
        self.blanks();
        (self.next()? == b',').then_some(())
    }

    /// Passes over a value, whose inner structure is only counted.
    fn pass(&mut self) -> Option<()> {
        let mut depth = 0;
        loop {
            self.blanks();
            match self.peek()? {
                b'"' => drop(self.string()?),
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' if depth > 0 => {
                    depth -= 1;
                    self.at += 1;
                }
                b',' | b':' if depth > 0 => self.at += 1,
                _ => drop(self.word()?),
            }
            if depth == 0 {
                return Some(());
            }
            if depth > MAX_DEPTH {
                return None;
            }
        }
    }

    /// The text between quotes.
    fn string(&mut self) -> Option<&'a [u8]> {
        if self.next()? != b'"' {
            return None;
        }
        let begin = self.at;
        loop {
            match self.next()? {
                b'"' => return Some(&self.text[begin..self.at - 1]),
                b'\\' => drop(self.next()?),
                _ => {}
            }
        }
    }

    /// A number, `true`, `false` or `null`.
    fn word(&mut self) -> Option<&'a [u8]> {
        let begin = self.at;
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.');
        while self.peek().is_some_and(is_word) {
            self.at += 1;
        }
        (self.at > begin).then(|| &self.text[begin..self.at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_by_their_path() {
        let text = br#" {"a": {"x": [1, {"t": "no"}, "}"]}, "b" : {"list":[{"id":7},{"id" : -8.5e1, "t":"yes"}]}, "ok":true} "#;
        let check = |path: &str, expected: Option<&str>| {
            assert_eq!(find(text, path), expected.map(str::as_bytes), "{path}");
        };
        check("b.list.1.t", Some("yes"));
        check("b.list.1.id", Some("-8.5e1"));
        check("a.x.2", Some("}"));
        check("a.x.0", Some("1"));
        check("ok", Some("true"));
        check("b.list.2.t", None);
        check("b.list", None);
        check("c", None);
        check("a.x.y", None);
        check("", None);
    }

    #[test]
    fn what_is_no_json_is_not_found_and_ends() {
        let deep = "[".repeat(100_000);
        for text in
            ["", "{", "{\"a\"", "{\"a\":", "{\"a\":\"x", "{\"b\":}", "[[[[", "{\"b\":1 \"a\":2}", &deep]
        {
            assert_eq!(find(text.as_bytes(), "a"), None, "{text:.20}");
            assert_eq!(find(text.as_bytes(), "1"), None, "{text:.20}");
        }
        // Escapes would have to be undone.
        assert_eq!(find(br#"{"a":"x\ny"}"#, "a"), None);
        assert_eq!(find(br#"["a\"b",5]"#, "1"), Some(b"5".as_slice()));
    }
}
