//! The cookies of one user for one server (RFC 6265, as far as one server needs it).
//!
//! | attribute | what becomes of it |
//! |---|---|
//! | `Path` | the cookie is sent to this path and what is below it; without it, to the folder of the request |
//! | `Max-Age`, `Expires` | it is not sent after that; one in the past removes it. `Max-Age` comes first |
//! | `Secure` | taken and sent over TLS only |
//! | `Domain` | a cookie for another domain than that of the server is not taken |
//! | others | ignored |
//!
//! A jar holds a bounded number of cookies and bytes; when it is full, the cookie set longest ago is dropped.

use memchr::memchr;
use sysdyno_record::units::MonoNs;

/// Cookies of one user at most.
const MAX_COOKIES_COUNT: usize = 50;

/// Names, values and paths of one user's cookies together. Unit: bytes.
const MAX_JAR_BYTES: usize = 8 * 1024;

/// What a request and its response say about where a cookie belongs.
#[derive(Clone, Copy, Debug)]
pub struct CookieOrigin<'a> {
    /// Name or address of the server, without its port.
    pub host: &'a str,
    /// Path of the request.
    pub path: &'a [u8],
    /// Whether it goes over TLS.
    pub is_secure: bool,
    /// When the response came.
    pub now: MonoNs,
    /// The same instant. Unit: seconds since 1970.
    pub unix_s: i64,
}

/// The cookies of a user, the one that was set longest ago first.
#[derive(Clone, Debug, Default)]
pub struct Jar {
    cookies: Vec<Cookie>,
}

#[derive(Clone, Debug)]
struct Cookie {
    /// Name, value and path, one behind the other.
    text: Box<[u8]>,
    name_bytes: u16,
    value_bytes: u16,
    is_secure: bool,
    /// When it is not sent any more.
    expires: MonoNs,
}

/// What the attributes of a cookie say.
#[derive(Default)]
struct Attributes<'a> {
    path: Option<&'a [u8]>,
    /// Seconds from now.
    max_age_s: Option<i64>,
    expires_unix_s: Option<i64>,
    is_secure: bool,
    is_foreign: bool,
}

impl Jar {
    /// Takes what a `Set-Cookie` field says.
    pub fn take(&mut self, field: &[u8], origin: &CookieOrigin<'_>) {
        let mut pieces = field.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
        let Some((name, value)) = pieces.next().and_then(|pair| split_at(pair, b'=')) else { return };
        let attributes = Attributes::read(pieces, origin);
        let path = attributes.path.unwrap_or_else(|| folder(origin.path));
        let bytes = name.len() + value.len() + path.len();
        let is_misplaced = attributes.is_foreign || attributes.is_secure && !origin.is_secure;
        if name.is_empty() || is_misplaced || bytes > MAX_JAR_BYTES {
            return;
        }
        self.cookies.retain(|cookie| cookie.name() != name || cookie.path() != path);
        let left_s = attributes.left_s(origin.unix_s);
        if left_s.is_some_and(|left_s| left_s <= 0) {
            return;
        }
        while self.cookies.len() >= MAX_COOKIES_COUNT || self.bytes() + bytes > MAX_JAR_BYTES {
            self.cookies.remove(0);
        }
        let left_ns = left_s.map_or(u64::MAX, |left_s| (left_s as u64).saturating_mul(1_000_000_000));
        self.cookies.push(Cookie {
            text: [name, value, path].concat().into(),
            name_bytes: name.len() as u16,
            value_bytes: value.len() as u16,
            is_secure: attributes.is_secure,
            expires: MonoNs(origin.now.0.saturating_add(left_ns)),
        });
    }

    /// Writes a `Cookie` field, if there is anything for the path of the request that begins at `start` of `out`.
    pub fn write(&self, start: usize, is_secure: bool, now: MonoNs, out: &mut Vec<u8>) {
        let path = path_of(&out[start..]);
        let (begin, end) = (start + path.start, start + path.end);
        let mut is_first = true;
        for cookie in &self.cookies {
            let is_meant = cookie.expires > now && (is_secure || !cookie.is_secure);
            if !is_meant || !is_below(&out[begin..end], cookie.path()) {
                continue;
            }
            out.extend_from_slice(if is_first { b"Cookie: " } else { b"; " });
            out.extend_from_slice(cookie.name());
            out.push(b'=');
            out.extend_from_slice(cookie.value());
            is_first = false;
        }
        if !is_first {
            out.extend_from_slice(b"\r\n");
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.cookies.is_empty()
    }

    pub(crate) fn forget(&mut self) {
        self.cookies.clear();
    }

    fn bytes(&self) -> usize {
        self.cookies.iter().map(|cookie| cookie.text.len()).sum()
    }
}

impl Cookie {
    fn name(&self) -> &[u8] {
        &self.text[..self.name_bytes as usize]
    }

    fn value(&self) -> &[u8] {
        let begin = self.name_bytes as usize;
        &self.text[begin..begin + self.value_bytes as usize]
    }

    fn path(&self) -> &[u8] {
        &self.text[self.name_bytes as usize + self.value_bytes as usize..]
    }
}

impl<'a> Attributes<'a> {
    fn read(pieces: impl Iterator<Item = &'a [u8]>, origin: &CookieOrigin<'_>) -> Attributes<'a> {
        let mut attributes = Attributes::default();
        for piece in pieces {
            let (name, value) = split_at(piece, b'=').unwrap_or((piece, b""));
            let is = |word: &[u8]| name.eq_ignore_ascii_case(word);
            if is(b"path") {
                attributes.path = Some(value).filter(|path| path.starts_with(b"/"));
            } else if is(b"max-age") {
                attributes.max_age_s = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
            } else if is(b"expires") {
                attributes.expires_unix_s = crate::date::parse(value);
            } else if is(b"secure") {
                attributes.is_secure = true;
            } else if is(b"domain") && !value.is_empty() {
                attributes.is_foreign = !is_within(origin.host, value);
            }
        }
        attributes
    }

    /// How long it is to be kept; `None`: as long as the session lasts.
    fn left_s(&self, unix_s: i64) -> Option<i64> {
        self.max_age_s.or(self.expires_unix_s.map(|expires| expires.saturating_sub(unix_s)))
    }
}

fn split_at(text: &[u8], mark: u8) -> Option<(&[u8], &[u8])> {
    let at = memchr(mark, text)?;
    Some((text[..at].trim_ascii(), text[at + 1..].trim_ascii()))
}

/// The folder of a path, without its last slash (RFC 6265, section 5.1.4).
fn folder(path: &[u8]) -> &[u8] {
    match path.iter().rposition(|byte| *byte == b'/') {
        None | Some(0) => b"/",
        Some(end) => &path[..end],
    }
}

/// Whether `path` is `folder` or below it.
fn is_below(path: &[u8], folder: &[u8]) -> bool {
    let Some(rest) = path.strip_prefix(folder) else { return false };
    folder.ends_with(b"/") || rest.is_empty() || rest.starts_with(b"/")
}

/// Whether a host is in a domain.
fn is_within(host: &str, domain: &[u8]) -> bool {
    let domain = domain.strip_prefix(b".").unwrap_or(domain);
    let host = host.as_bytes();
    let Some(front) = host.len().checked_sub(domain.len()) else { return false };
    let is_address =
        host.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b':' | b'[' | b']'));
    host[front..].eq_ignore_ascii_case(domain) && (front == 0 || host[front - 1] == b'.' && !is_address)
}

/// The position of the path in a request, without its query.
pub(crate) fn path_of(request: &[u8]) -> std::ops::Range<usize> {
    let begin = memchr(b' ', request).map_or(request.len(), |at| at + 1);
    let length = request[begin..].iter().position(|byte| matches!(byte, b' ' | b'?' | b'\r')).unwrap_or(0);
    begin..begin + length
}

#[cfg(test)]
#[path = "cookies_tests.rs"]
mod tests;
