//! What services of a lab tell of themselves, against any answer: records of FastCGI, numbers behind words, numbers of JSON
//! documents.
//!
//! Whatever comes, nothing panics or goes on without end, and what is taken from it is a finite number or nothing.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::io::{self, Cursor, Read, Write};
use sysdyno_lab::{ServiceMetric, fastcgi_answer};

/// What a service answers, whatever it is asked.
struct Answer<'a>(Cursor<&'a [u8]>);

impl Read for Answer<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Write for Answer<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fuzz_target!(|input: &[u8]| {
    if let Ok(body) = fastcgi_answer(Answer(Cursor::new(input)), "/status") {
        assert!(body.len() <= input.len());
        check_numbers(&body);
    }
    check_numbers(input);
});

fn check_numbers(answer: &[u8]) {
    let text = String::from_utf8_lossy(answer);
    for way in [r#""after":"x:""#, r#""after":"STAT a ","number":2"#, r#""pointer":"/a/0/b""#] {
        let metric = format!(r#"{{"name":"n","unit":"count","does":"d","kind":"gauge",{way}}}"#);
        let metric: ServiceMetric = serde_json::from_str(&metric).expect("is a metric");
        assert!(metric.read(&text).is_none_or(f64::is_finite));
    }
}
