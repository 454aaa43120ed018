//! What users of a session take from responses, against any head and body: cookies, and values of JSON documents.
//!
//! The first line of an input is a path into a document, each further one a `Set-Cookie` field, all of it a body. Whatever that
//! is, nothing panics, what is found is a piece of the body, and a jar says no more than it may hold, in one line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sysdyno_load::workload::cookies::{CookieOrigin, Jar};
use sysdyno_load::workload::json;
use sysdyno_record::units::MonoNs;

/// Most that a request says of a jar.
const MAX_FIELD_BYTES: usize = 16 * 1024;

fuzz_target!(|input: &[u8]| {
    let mut lines = input.split(|byte| matches!(byte, b'\r' | b'\n'));
    let path = lines.next().unwrap_or_default();
    if let Some(found) = std::str::from_utf8(path).ok().and_then(|path| json::find(input, path)) {
        assert!(input.as_ptr_range().contains(&found.as_ptr()) && !found.contains(&b'"'));
    }
    let origin = |is_secure| CookieOrigin {
        host: "shop.test",
        path,
        is_secure,
        now: MonoNs(1_000),
        unix_s: 784_111_777,
    };
    let mut jar = Jar::default();
    for (number, line) in lines.enumerate() {
        jar.take(line, &origin(number % 2 == 0));
    }
    let mut request = [b"GET ", path, b" HTTP/1.1\r\n"].concat();
    let before = request.len();
    jar.write(0, true, MonoNs(2_000), &mut request);
    let said = &request[before..];
    assert!(said.len() <= MAX_FIELD_BYTES && said.iter().filter(|byte| **byte == b'\n').count() <= 1);
    assert!(said.is_empty() || said.starts_with(b"Cookie: ") && said.ends_with(b"\r\n"));
});
