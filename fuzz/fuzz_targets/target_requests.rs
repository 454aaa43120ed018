//! The requests of the built-in target against any bytes: whoever reaches its port may send them.
//!
//! Whatever that is, nothing panics, a head is within what came and within its limit, and more bytes behind it change nothing.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sysdyno_target::http::{MAX_HEAD_BYTES, Parsed, parse};

fuzz_target!(|input: &[u8]| {
    match parse(input) {
        Parsed::Incomplete => assert!(input.len() < MAX_HEAD_BYTES),
        Parsed::Refused(status) => assert!(status.starts_with('4') || status.starts_with('5')),
        Parsed::Request(request) => {
            assert!(request.head_bytes <= input.len().min(MAX_HEAD_BYTES));
            assert_eq!(parse(&input[..request.head_bytes]), Parsed::Request(request));
        }
    }
});
