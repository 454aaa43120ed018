//! The bytes of the request, built once before the load.

use crate::error::LoadError;
use sysdyno_record::plan::{LoadPlan, RequestSpec, Target};

/// Fields that the engine writes itself; a plan that sets them is refused.
const OWN_FIELDS: &[&str] = &["connection", "content-length", "transfer-encoding"];

/// The two forms of the request: one that keeps the connection, and one that is the last on it.
#[derive(Clone, Debug)]
pub struct RequestBytes {
    /// Sent while more requests follow on the connection.
    pub keep: Box<[u8]>,
    /// Sent as the last one, with `Connection: close`.
    pub last: Box<[u8]>,
    /// Whether the response has no body whatever its head says.
    pub is_head: bool,
}

impl RequestBytes {
    /// The request of a plan.
    ///
    /// # Errors
    /// A method, path or field that would not be one line of valid HTTP.
    pub fn new(plan: &LoadPlan) -> Result<RequestBytes, LoadError> {
        RequestBytes::of(&plan.request, &plan.target, &plan.target.path)
    }

    /// A request to another path of a server.
    ///
    /// # Errors
    /// As [`RequestBytes::new`].
    pub fn of(request: &RequestSpec, target: &Target, path: &str) -> Result<RequestBytes, LoadError> {
        let place = Place { host: &target.host, path };
        check(request, place)?;
        Ok(RequestBytes {
            keep: encode(request, place, ""),
            last: encode(request, place, "Connection: close\r\n"),
            is_head: request.method == "HEAD",
        })
    }
}

/// Where a request goes.
#[derive(Clone, Copy)]
struct Place<'a> {
    host: &'a str,
    path: &'a str,
}

fn encode(request: &RequestSpec, target: Place<'_>, connection: &str) -> Box<[u8]> {
    let has = |name: &str| request.headers.iter().any(|field| field.name.eq_ignore_ascii_case(name));
    let mut bytes = format!("{} {} HTTP/1.1\r\n", request.method, target.path).into_bytes();
    if !has("host") {
        bytes.extend_from_slice(format!("Host: {}\r\n", target.host).as_bytes());
    }
    if !has("user-agent") {
        bytes
            .extend_from_slice(concat!("User-Agent: sysdyno/", env!("CARGO_PKG_VERSION"), "\r\n").as_bytes());
    }
    for field in &request.headers {
        bytes.extend_from_slice(format!("{}: {}\r\n", field.name, field.value).as_bytes());
    }
    if !request.body.is_empty() || matches!(request.method.as_str(), "POST" | "PUT" | "PATCH") {
        bytes.extend_from_slice(format!("Content-Length: {}\r\n", request.body.len()).as_bytes());
    }
    bytes.extend_from_slice(connection.as_bytes());
    bytes.extend_from_slice(b"\r\n");
    bytes.extend_from_slice(&request.body);
    bytes.into_boxed_slice()
}

fn check(request: &RequestSpec, target: Place<'_>) -> Result<(), LoadError> {
    let is_token = |text: &str| !text.is_empty() && text.bytes().all(super::head::is_token_byte);
    let is_line = |text: &str| text.bytes().all(|byte| byte >= 0x20 && byte != 0x7f || byte == b'\t');
    let is_word = |text: &str| text.bytes().all(|byte| byte > 0x20 && byte != 0x7f);
    if !is_token(&request.method) {
        return Err(LoadError::plan(format!("the method '{}' is not a word", request.method.escape_debug())));
    }
    if !target.path.starts_with('/') || !is_word(target.path) || !is_word(target.host) {
        return Err(LoadError::plan("host and path may not contain blanks or control characters"));
    }
    for field in &request.headers {
        let name = field.name.escape_debug();
        if !is_token(&field.name) || !is_line(&field.value) {
            return Err(LoadError::plan(format!(
                "the header field '{name}' is not one line of name and value"
            )));
        }
        if OWN_FIELDS.iter().any(|own| field.name.eq_ignore_ascii_case(own)) {
            return Err(LoadError::plan(format!("the header field '{name}' is set by the engine itself")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use sysdyno_record::plan::HeaderField;

    fn target() -> Place<'static> {
        Place { host: "h:1", path: "/x" }
    }

    fn spec(method: &str, name: &str, value: &str, body: &[u8]) -> RequestSpec {
        let headers = vec![HeaderField { name: name.into(), value: value.into() }];
        RequestSpec { method: method.into(), headers, body: body.into(), body_bytes: body.len() as u64 }
    }

    #[test]
    fn the_request_is_what_a_server_expects() {
        let bytes = encode(&spec("POST", "X-A", "b", b"hi"), target(), "Connection: close\r\n");
        let text = String::from_utf8(bytes.into_vec()).expect("ascii");
        assert!(text.starts_with("POST /x HTTP/1.1\r\nHost: h:1\r\nUser-Agent: sysdyno/"));
        assert!(text.ends_with("X-A: b\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi"));
    }

    #[test]
    fn a_line_break_cannot_be_smuggled_in() {
        assert!(check(&spec("GET", "X-A", "b", b""), target()).is_ok());
        for (method, name, value) in [
            ("GET /", "X", "b"),
            ("GET", "X Y", "b"),
            ("GET", "X", "b\r\nY: c"),
            ("GET", "Content-Length", "5"),
            ("", "X", "b"),
        ] {
            assert!(check(&spec(method, name, value, b""), target()).is_err(), "{method} {name} {value}");
        }
    }
}
