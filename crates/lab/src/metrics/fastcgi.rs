//! A FastCGI request, such as for the status page of php-fpm.
//!
//! Source: FastCGI Specification 1.0, sections 3 and 8.

use super::super::question::{MAX_ANSWER, body_of};
use std::io::{self, Read, Write};

const VERSION: u8 = 1;
/// The one request of a connection.
const REQUEST: u8 = 1;

const BEGIN_REQUEST: u8 = 1;
const END_REQUEST: u8 = 3;
const PARAMS: u8 = 4;
const STDIN: u8 = 5;
const STDOUT: u8 = 6;

const ROLE_RESPONDER: u8 = 1;

/// Records of an answer that are read.
const MAX_RECORDS: usize = 4096;

/// The body of the answer to `GET path`.
///
/// # Errors
/// It is no answer, or the connection fails.
pub fn get(mut stream: impl Read + Write, path: &str) -> io::Result<Vec<u8>> {
    stream.write_all(&request(path))?;
    let mut answer = Vec::new();
    for _ in 0..MAX_RECORDS {
        let mut head = [0; 8];
        stream.read_exact(&mut head)?;
        let [version, kind, _, _, high, low, padding, _] = head;
        if version != VERSION {
            return Err(io::Error::other("its answer is not FastCGI"));
        }
        let length = usize::from(u16::from_be_bytes([high, low]));
        let mut content = vec![0; length + usize::from(padding)];
        stream.read_exact(&mut content)?;
        match kind {
            STDOUT if answer.len() + length > MAX_ANSWER => break,
            STDOUT => answer.extend(&content[..length]),
            END_REQUEST => {
                return body_of(answer).ok_or_else(|| io::Error::other("its answer has no header"));
            }
            _ => {}
        }
    }
    Err(io::Error::other("its answer is truncated"))
}

fn request(path: &str) -> Vec<u8> {
    let (script, query) = path.split_once('?').unwrap_or((path, ""));
    let mut parameters = Vec::new();
    for (name, value) in [
        ("REQUEST_METHOD", "GET"),
        ("SCRIPT_NAME", script),
        ("SCRIPT_FILENAME", script),
        ("REQUEST_URI", path),
        ("QUERY_STRING", query),
        ("SERVER_PROTOCOL", "HTTP/1.1"),
        ("GATEWAY_INTERFACE", "CGI/1.1"),
    ] {
        parameters.extend([length(name), length(value)].concat());
        parameters.extend([name, value].concat().bytes());
    }
    [
        record(BEGIN_REQUEST, &[0, ROLE_RESPONDER, 0, 0, 0, 0, 0, 0]),
        record(PARAMS, &parameters),
        record(PARAMS, &[]),
        record(STDIN, &[]),
    ]
    .concat()
}

/// Up to 127 in one byte, else in four, of which the first bit is set.
fn length(text: &str) -> Vec<u8> {
    let long = u32::try_from(text.len()).unwrap_or(0) | 1 << 31;
    u8::try_from(text.len())
        .ok()
        .filter(|short| *short < 128)
        .map_or(long.to_be_bytes().to_vec(), |short| vec![short])
}

fn record(kind: u8, content: &[u8]) -> Vec<u8> {
    let length = u16::try_from(content.len()).expect("a handful of short parameters").to_be_bytes();
    [&[VERSION, kind, 0, REQUEST, length[0], length[1], 0, 0], content].concat()
}
