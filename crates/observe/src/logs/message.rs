//! Makes a line of a log harmless: valid text on one line, without what may be secret.
//!
//! Records are made to be mailed. A server's log lines about a request may contain secrets: query strings, passwords in
//! URLs, values of `password=`, `token:` and the like. These are replaced; the rest of the line stays as it is.

/// Replaces a secret.
const REDACTED: &str = "«redacted»";

/// Parts of names, in lower case, whose values are not kept.
const SECRET_NAMES: &[&str] = &[
    "authorization",
    "cookie",
    "passwd",
    "password",
    "secret",
    "token",
    "apikey",
    "api_key",
    "sessid",
    "session_id",
];

/// A line as text: of invalid and control characters only a mark stays, and runs of spaces become one.
pub(crate) fn harmless(line: &[u8]) -> String {
    let decoded = String::from_utf8_lossy(line);
    let mut text = String::with_capacity(decoded.len());
    for letter in decoded.trim_start_matches('\0').trim().chars() {
        match letter {
            _ if letter.is_whitespace() => text.extend((!text.ends_with(' ')).then_some(' ')),
            _ if letter.is_control() => text.push('\u{fffd}'),
            _ => text.push(letter),
        }
    }
    text
}

/// The text without what may be secret.
pub(super) fn without_secrets(text: &str) -> String {
    let words = text.split(' ');
    let mut is_value = false;
    let mut kept: Vec<String> = Vec::new();
    for word in words {
        if is_value && !is_scheme(word) {
            kept.push(REDACTED.into());
            is_value = false;
            continue;
        }
        let (word, ends_in_name) = without_value(word);
        is_value = is_value || ends_in_name;
        kept.push(without_user(&without_query(&word)));
    }
    kept.join(" ")
}

/// `Bearer` and its like come before the secret.
fn is_scheme(word: &str) -> bool {
    ["bearer", "basic"].iter().any(|scheme| word.eq_ignore_ascii_case(scheme))
}

/// A word `NAME=VALUE` or `NAME:VALUE` without the value of a secret; and whether the value is the next word.
fn without_value(word: &str) -> (String, bool) {
    let Some(at) = word.find(['=', ':']) else { return (word.to_owned(), false) };
    let name = word[..at].to_ascii_lowercase();
    let value = word[at + 1..].trim_matches(['"', '\'', '>']);
    let is_secret = SECRET_NAMES.iter().any(|secret| name.contains(secret));
    match (is_secret, value.is_empty()) {
        (false, _) => (word.to_owned(), false),
        (true, true) => (word.to_owned(), true),
        (true, false) => (format!("{}{REDACTED}", &word[..=at]), false),
    }
}

/// A word without the query string of a path or URL in it.
fn without_query(word: &str) -> String {
    match word.find('?').filter(|at| word[..*at].contains('/')) {
        Some(at) => {
            let rest = &word[at + 1..];
            let end = rest.find(['"', '\'', ')', '>', ',']).unwrap_or(rest.len());
            format!("{}{REDACTED}{}", &word[..=at], &rest[end..])
        }
        None => word.to_owned(),
    }
}

/// A word without the user and password of a URL in it.
fn without_user(word: &str) -> String {
    let Some((scheme, rest)) = word.split_once("://") else { return word.to_owned() };
    let authority = rest.split('/').next().unwrap_or(rest);
    match authority.rfind('@') {
        Some(at) => format!("{scheme}://{REDACTED}{}", &rest[at..]),
        None => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_byte_of_a_line_moves_a_cursor() {
        let check = |line: &[u8], text: &str| assert_eq!(harmless(line), text);
        check(b"plain \xc3\xbcml\xc3\xa4ut  two\tthree \r", "plain ümläut two three");
        check(b"\x1b[31mred\x07 \xff\xfe", "\u{fffd}[31mred\u{fffd} \u{fffd}\u{fffd}");
        check(b"\0\0\0first after a hole", "first after a hole");
        check(b"", "");
        assert!(!harmless(&(0..=255).collect::<Vec<u8>>()).contains(char::is_control));
    }

    #[test]
    fn what_may_be_secret_is_not_kept() {
        let check = |text: &str, kept: &str| assert_eq!(without_secrets(text), kept);
        check(
            "request: \"GET /a?key=1&x=y HTTP/1.1\", host",
            "request: \"GET /a?«redacted» HTTP/1.1\", host",
        );
        check("to redis://me:pw@db:6379/1 failed", "to redis://«redacted»@db:6379/1 failed");
        check("password=hunter2 user=me", "password=«redacted» user=me");
        check("Authorization: Bearer abc and", "Authorization: Bearer «redacted» and");
        check("(using password: YES)", "(using password: «redacted»");
        check("what is this? a question", "what is this? a question");
        check("connect() to unix:/run/php.sock failed", "connect() to unix:/run/php.sock failed");
    }
}
