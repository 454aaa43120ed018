//! Turns a line into a template: the parts that vary between lines of the same message become `#` or `*`.
//!
//! Numbers, addresses, times and identifiers with digits become `#`, several of them with nothing but punctuation between
//! them one `#`; what is in double quotes (requests, paths, referrers) becomes `*`. Words stay, since they say what happened.
//! A line of JSON keeps what is in quotes: all of it is.

use sysdyno_record::log::MAX_TEMPLATE_CHARS;

/// A word with a digit is an identifier from this length on, whatever its letters are. Unit: characters.
const IDENTIFIER_CHARS: usize = 16;
/// The same of one that is hexadecimal.
const HEXADECIMAL_CHARS: usize = 4;

/// What joins two numbers to one thing that varies: a date, an address, an identifier.
const JOINTS: &[u8] = b".,:/-#_*T+";

/// The template of a line that was made harmless.
pub(super) fn template(text: &str) -> String {
    let mut template = Template { is_quoted_kept: text.starts_with('{'), made: String::new() };
    let mut rest = text;
    while !rest.is_empty() && template.made.len() < 4 * MAX_TEMPLATE_CHARS {
        rest = template.take(rest);
    }
    template.made.chars().take(MAX_TEMPLATE_CHARS).collect()
}

struct Template {
    is_quoted_kept: bool,
    made: String,
}

impl Template {
    /// Takes the next part of the text; returns what follows it.
    fn take<'a>(&mut self, text: &'a str) -> &'a str {
        let ipv6 = address_length(text);
        let word = text.bytes().take_while(u8::is_ascii_alphanumeric).count();
        if ipv6 > word {
            self.vary();
            return &text[ipv6..];
        }
        if word > 0 {
            self.word(&text[..word]);
            return &text[word..];
        }
        let quoted = text.strip_prefix('"').filter(|_| !self.is_quoted_kept);
        if let Some(quoted) = quoted {
            self.made.push_str("\"*\"");
            return quoted.split_once('"').map_or("", |(_, rest)| rest);
        }
        if let Some(rest) = text.strip_prefix('#') {
            // What nginx puts between process and thread is not to be told from what varies.
            self.vary();
            return rest;
        }
        let length = text.chars().next().map_or(text.len(), char::len_utf8);
        self.made.push_str(&text[..length]);
        &text[length..]
    }

    fn word(&mut self, word: &str) {
        let has_digit = word.bytes().any(|byte| byte.is_ascii_digit());
        let is_hexadecimal = word.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_identifier = word.len() >= IDENTIFIER_CHARS
            || word.starts_with("0x")
            || is_hexadecimal && word.len() >= HEXADECIMAL_CHARS;
        match has_digit {
            true if is_identifier => self.vary(),
            true => self.letters_of(word),
            false => self.made.push_str(word),
        }
    }

    /// A short word with digits: its letters stay.
    fn letters_of(&mut self, word: &str) {
        for part in word.split_inclusive(|letter: char| letter.is_ascii_digit()) {
            let letters = part.trim_end_matches(|letter: char| letter.is_ascii_digit());
            self.made.push_str(letters);
            if letters.len() < part.len() {
                self.vary();
            }
        }
    }

    /// Something that varies, as one with what is before it where only a joint is between.
    fn vary(&mut self) {
        let before = self.made.as_bytes();
        let is_joined = match before {
            [.., b'#'] => true,
            [.., b'#', joint] if JOINTS.contains(joint) => {
                self.made.pop();
                true
            }
            _ => false,
        };
        if !is_joined {
            self.made.push('#');
        }
    }
}

/// Length of an IPv6 address or a time at the beginning, which have two colons and more; 0: there is none.
fn address_length(text: &str) -> usize {
    let is_part = |byte: &u8| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.');
    let length = text.bytes().take_while(is_part).count();
    let address = text[..length].trim_end_matches([':', '.']);
    let colons = address.bytes().filter(|byte| *byte == b':').count();
    let has_digit = address.bytes().any(|byte| byte.is_ascii_digit());
    let ends = !text[length..].starts_with(|letter: char| letter.is_ascii_alphanumeric());
    if colons >= 2 && has_digit && ends { address.len() } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(lines: &[&str], expected: &str) {
        for line in lines {
            assert_eq!(template(line), expected, "{line}");
        }
    }

    #[test]
    fn lines_that_differ_in_what_varies_are_one_message() {
        check(
            &[
                "2026/11/23 22:30:29 [crit] 123#123: *45 connect() to unix:/run/php-fpm.sock failed (11: Resource temporarily unavailable) while connecting to upstream, client: 10.0.0.1, request: \"GET / HTTP/1.1\"",
                "2026/11/24 01:02:03 [crit] 4#4: *99945 connect() to unix:/run/php-fpm.sock failed (11: Resource temporarily unavailable) while connecting to upstream, client: 2001:db8::1, request: \"GET /other HTTP/1.1\"",
            ],
            "# # [crit] #: *# connect() to unix:/run/php-fpm.sock failed (#: Resource temporarily unavailable) while connecting to upstream, client: #, request: \"*\"",
        );
        check(
            &[
                "2026-11-23 22:30:29 12 [Warning] Aborted connection 12 to db: 'wordpress' (Got timeout)",
                "2026-11-23 22:30:30 13 [Warning] Aborted connection 9113 to db: 'wordpress' (Got timeout)",
            ],
            "# # # [Warning] Aborted connection # to db: 'wordpress' (Got timeout)",
        );
        check(
            &[
                "request 550e8400-e29b-41d4-a716-446655440000 at 0xffff8880",
                "request 650e8400-129b-41d4-a717-446655441111 at 0x1",
            ],
            "request # at #",
        );
    }

    #[test]
    fn words_and_their_letters_stay() {
        check(&["Too many connections"], "Too many connections");
        check(&["no live upstreams in h2c, utf8mb4"], "no live upstreams in h#c, utf#mb#");
        check(&[r#"{"level":"error","n":12}"#, r#"{"level":"error","n":3}"#], r#"{"level":"error","n":#}"#);
        check(&["", "\u{fffd}"][..1], "");
    }

    #[test]
    fn any_text_has_a_bounded_template() {
        let hostile = ["\"", "\"\"\"", "::::::", "1:2:3:", "ab:cd:", "0x", "é1é", "####", "1#1#1", "…12…"];
        for text in hostile.into_iter().flat_map(|part| [part.to_owned(), part.repeat(2000)]) {
            assert!(template(&text).chars().count() <= MAX_TEMPLATE_CHARS, "{text}");
        }
    }
}
