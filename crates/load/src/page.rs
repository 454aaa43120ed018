//! The visible text at the beginning of a response's body, and whether the page is an error page.
//!
//! Applications send error pages with status 200, especially when a database or another service fails under load. Such a
//! page must not become the body with which other responses are compared.

/// Bytes of a body that are kept to be shown: the head of a usual error page with its styles, and its text.
pub(crate) const SHOWN_BODY_BYTES: usize = 4096;

/// Longest text that is shown. Unit: characters.
const SHOWN_CHARS: usize = 100;

/// Longest text that is looked through; an error page says no more than this. Unit: characters.
const READ_CHARS: usize = 400;

/// An error page is no longer than this. Unit: bytes.
const ERROR_PAGE_BYTES: u64 = 16 << 10;

/// What error pages say somewhere, in lower case.
const ERROR_PHRASES: &[&str] = &[
    "establishing a database connection",
    "too many connections",
    "database error",
    "could not connect to",
    "can't connect to",
    "connection refused",
    "internal server error",
    "service unavailable",
    "temporarily unavailable",
    "briefly unavailable",
    "bad gateway",
    "gateway time-out",
    "gateway timeout",
    "there has been a critical error",
    "sqlstate[",
    "remaining connection slots are reserved",
    "allowed memory size of",
    "maximum execution time of",
];

/// What error pages begin with, in lower case.
const ERROR_BEGINNINGS: &[&str] = &[
    "fatal error",
    "parse error",
    "uncaught ",
    "php fatal error",
    "traceback (most recent call last)",
    "exception in thread",
    "error:",
    "{\"error\":\"",
    "{\"error\":{",
    "{\"status\":\"error\"",
];

/// Elements whose content nobody sees.
const HIDDEN: &[&str] = &["style", "script"];

/// The beginning of the visible text of a body, bounded and escaped; empty if it has none.
pub(crate) fn shown_text(body: &[u8]) -> String {
    let text = visible_text(body);
    let mut shown: String = text.chars().take(SHOWN_CHARS).collect();
    if text.chars().nth(SHOWN_CHARS).is_some() {
        shown.push('…');
    }
    // Quotes need no escape in a text that is only shown.
    let escape = |letter: char| match letter {
        '\'' | '"' => letter.to_string(),
        letter => letter.escape_debug().to_string(),
    };
    shown.chars().map(escape).collect()
}

/// Whether a body of this length, of which this is the beginning, is an error page by what it says.
pub(crate) fn is_error_page(body: &[u8], body_bytes: u64) -> bool {
    if body_bytes > ERROR_PAGE_BYTES {
        return false;
    }
    let text = visible_text(body).to_lowercase();
    let compact: String = text.chars().filter(|character| *character != ' ').take(40).collect();
    let begins = |beginning: &&str| text.starts_with(*beginning) || compact.starts_with(*beginning);
    let is_short = text.chars().count() < READ_CHARS;
    ERROR_BEGINNINGS.iter().any(begins)
        || is_short && ERROR_PHRASES.iter().any(|phrase| text.contains(phrase))
}

/// Text without tags and hidden elements, with single spaces, of at most [`READ_CHARS`]; empty for bytes that are no text.
fn visible_text(body: &[u8]) -> String {
    let decoded = String::from_utf8_lossy(&body[..body.len().min(SHOWN_BODY_BYTES)]);
    let is_strange =
        |character: &char| *character == '\u{fffd}' || character.is_control() && !character.is_whitespace();
    if decoded.chars().filter(is_strange).count() * 10 > decoded.chars().count() {
        return String::new();
    }
    let mut text = String::new();
    let mut last: Vec<&str> = Vec::new();
    let mut rest: &str = &decoded;
    loop {
        let begin = rest.find('<');
        let words: Vec<&str> = rest[..begin.unwrap_or(rest.len())].split_whitespace().collect();
        // A title is often the heading as well.
        if !words.is_empty() && words != last {
            push_words(&mut text, &words);
            last = words;
        }
        let Some(begin) = begin else { break };
        rest = after_tag(&rest[begin..]);
    }
    text.chars().take(READ_CHARS).collect()
}

/// What follows a tag, or the hidden element that it begins; a `<` that begins no tag is skipped alone.
fn after_tag(at: &str) -> &str {
    let name: String = at[1..].chars().take_while(char::is_ascii_alphabetic).take(16).collect();
    let is_tag =
        at[1..].starts_with(|next: char| next.is_ascii_alphabetic() || matches!(next, '/' | '!' | '?'));
    let hidden = HIDDEN.iter().find(|hidden| name.eq_ignore_ascii_case(hidden));
    let end = match hidden {
        Some(hidden) => at.to_ascii_lowercase().find(&format!("</{hidden}")),
        None => None,
    };
    match (hidden, end) {
        (Some(_), None) => "",
        (_, end) if is_tag => {
            let from = &at[end.unwrap_or(0)..];
            from.find('>').map_or("", |close| &from[close + 1..])
        }
        _ => &at[1..],
    }
}

fn push_words(text: &mut String, words: &[&str]) {
    for word in words {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDPRESS: &str = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<title>Database Error</title>\n\
        <style>h1 { color: red } body > p { margin: 0 }</style></head>\n<body><h1>Error establishing a \
        database connection</h1></body></html>";

    #[test]
    fn the_text_of_a_page_is_what_a_person_sees_bounded_and_escaped() {
        let check = |body: &[u8], expected: &str| assert_eq!(shown_text(body), expected);
        check(WORDPRESS.as_bytes(), "Database Error Error establishing a database connection");
        check(b"  a <b>c</b>\r\n 1 < 2", "a c 1 2");
        check(b"<title>Bad Gateway</title><h1> Bad  Gateway</h1><p>nginx", "Bad Gateway nginx");
        check(b"\x1b[31mred 'x' \xe2\x80\xae!", "\\u{1b}[31mred 'x' \\u{202e}!");
        check("x".repeat(500).as_bytes(), &format!("{}…", "x".repeat(100)));
        check(b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xcb\x48", "");
        check(b"<style>never closed", "");
        check(b"<", "");
        check(b"", "");
    }

    #[test]
    fn error_pages_are_told_from_pages_by_what_they_say() {
        let is_error = |body: &str| is_error_page(body.as_bytes(), body.len() as u64);
        for body in [
            WORDPRESS,
            "Too many connections",
            "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>",
            "<br />\n<b>Fatal error</b>: Uncaught PDOException: SQLSTATE[HY000] [1040] Too many connections",
            "{ \"error\": \"pool exhausted\" }",
            "Traceback (most recent call last):\n  File \"app.py\", line 3",
        ] {
            assert!(is_error(body), "{body}");
        }
        let article = format!("<title>How to mend an Internal Server Error</title>{}", "word ".repeat(200));
        for body in ["hello", "", "{\"error\":null,\"items\":[]}", "<h1>Welcome to nginx!</h1>", &article] {
            assert!(!is_error(body), "{body}");
        }
        assert!(!is_error_page(b"Too many connections", 1 << 20), "the beginning of a large body");
    }
}
