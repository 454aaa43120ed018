//! The files that a load is made of against any text: lists of URLs, tables of values, values in braces.
//!
//! Whatever stands in them, nothing panics; what a list asks for is a path of this server with a weight; a table has a cell
//! for each column of each row; what is wrong is told with a place inside of the text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::net::{Ipv4Addr, SocketAddr};
use sysdyno_load::workload::{urls, values};
use sysdyno_record::plan::{Endpoint, RequestSpec, Target, Validators};

fuzz_target!(|text: &str| {
    if let Err(misread) = values::text::parse(text) {
        assert!(text[misread.at..].starts_with("{{"));
    }
    check_table(text);
    check_list(text);
});

fn check_table(text: &str) {
    let table = match values::csv::parse("file", text) {
        Ok(table) => table,
        Err(misread) => return assert!(text.is_char_boundary(misread.at)),
    };
    let cells = &table.cells;
    assert_eq!(cells.lines.len() as u64, table.rows_count);
    assert_eq!(cells.ends.len(), cells.lines.len() * table.columns.len());
    assert!(cells.ends.is_sorted() && cells.ends.iter().all(|end| cells.text.is_char_boundary(*end as usize)));
    assert!(cells.text.len() <= text.len());
}

fn check_list(text: &str) {
    let target = Target {
        url: "http://127.0.0.1:8080/".into(),
        endpoint: Endpoint::Tcp(SocketAddr::from((Ipv4Addr::LOCALHOST, 8080))),
        host: "127.0.0.1:8080".into(),
        path: "/".into(),
    };
    let request = RequestSpec { method: "GET".into(), headers: Vec::new(), body: Vec::new().into(), body_bytes: 0 };
    let base = urls::Base { target: &target, request: &request, validators: &Validators::default() };
    let Ok(operations) = urls::parse(text, &base) else { return };
    assert!(!operations.is_empty());
    for operation in operations {
        assert!(operation.weight.is_finite() && operation.weight >= 0.0);
        assert!(operation.path.starts_with('/') && !operation.path.contains(char::is_whitespace));
    }
}
