//! What is put into requests, and what cannot be.

use super::*;
use crate::protocol::http1::RequestBytes;
use crate::target;
use crate::workload::memory::Memory;
use proptest::prelude::*;
use std::sync::Arc;
use sysdyno_record::units::MonoNs;
use sysdyno_record::workload::{Cells, ValueFile};
use text::{Misread, Value};

fn request(method: &str, header: &str, body: &str) -> RequestSpec {
    RequestSpec {
        method: method.into(),
        headers: vec![HeaderField { name: "X-A".into(), value: header.into() }],
        body: body.as_bytes().into(),
        body_bytes: body.len() as u64,
    }
}

fn table() -> ValueFile {
    csv::parse("u.csv", "name,secret\nann,one two\n\"b,ob\",\"x\r\ny\"\n\u{e4},z&=\n").expect("is a table")
}

struct Written {
    path: String,
    field: String,
    body: String,
    length: usize,
    text: String,
}

/// Writes one request and takes it apart by its framing.
fn write(template: &Template, drawn: Drawn, files: &[Arc<Cells>], memory: Option<&Memory>) -> Written {
    let filling = Filling {
        drawn,
        files,
        user: 41,
        memory,
        version: None,
        is_last: true,
        is_secure: false,
        now: MonoNs(1),
    };
    let (mut scratch, mut out) = (b"left from before".to_vec(), Vec::new());
    template.write(&filling, &mut scratch, &mut out);
    let text = String::from_utf8(out).expect("is text");
    let (head, body) = text.split_once("\r\n\r\n").expect("has a head");
    let field = |name: &str| {
        let mut lines = head.split("\r\n").filter_map(|line| line.strip_prefix(&format!("{name}: ")));
        let value = lines.next().unwrap_or("").to_owned();
        assert_eq!(lines.next(), None, "{name} once in {head}");
        value
    };
    Written {
        path: head.split(' ').nth(1).expect("has a path").into(),
        field: field("X-A"),
        body: body.into(),
        length: field("Content-Length").parse().unwrap_or(0),
        text: text.clone(),
    }
}

fn template(path: &str, request: &RequestSpec, names: &Names<'_>) -> Template {
    let target = target::resolve("http://127.0.0.1:8080/").expect("resolves");
    Template::of(request, &target, path, names).expect("is a template")
}

#[test]
fn values_are_put_into_path_field_and_body_whose_length_is_counted() {
    let files = [table()];
    let names = Names { files: &files, ..Names::default() };
    let made = template(
        "/item/{{counter:9..}}?u={{csv:u.csv:name}}",
        &request(
            "POST",
            "{{random:3..3}}-\\{{x}}",
            "{\"n\":{{counter:9..}},\"s\":\"{{csv:u.csv:secret|url}}\"}",
        ),
        &names,
    );
    let cells = [Arc::clone(&files[0].cells)];
    let first = write(&made, Drawn::of_kind(1, 0, 0), &cells, None);
    assert_eq!((first.path.as_str(), first.field.as_str()), ("/item/9?u=ann", "3-{{x}}"));
    assert_eq!((first.body.as_str(), first.length), ("{\"n\":9,\"s\":\"one%20two\"}", 23));
    assert!(first.text.contains("\r\nConnection: close\r\n\r\n"), "{}", first.text);
    let second = write(&made, Drawn::of_kind(1, 0, 1), &cells, None);
    assert_eq!(
        (second.path.as_str(), second.body.as_str()),
        ("/item/10?u=b,ob", "{\"n\":10,\"s\":\"x%0D%0Ay\"}")
    );
    let third = write(&made, Drawn::of_kind(1, 0, 2), &cells, None);
    assert_eq!((third.path.as_str(), third.length), ("/item/11?u=%C3%A4", third.body.len()));
    // Behind the last row comes the first.
    assert_eq!(write(&made, Drawn::of_kind(1, 0, 3), &cells, None).path, "/item/12?u=ann");
}

#[test]
fn a_counter_goes_round_and_random_numbers_stay_in_their_range_and_repeat_with_the_seed() {
    let made = template(
        "/{{counter:5..7}}/{{random:1..6}}/{{random:0..18446744073709551615}}",
        &request("GET", "{{random:1..6}}", ""),
        &Names::default(),
    );
    let path = |seed: u64, number: u64| write(&made, Drawn::of_kind(seed, 0, number), &[], None).path;
    let paths: Vec<String> = (0..600).map(|number| path(7, number)).collect();
    let mut counts = [0; 7];
    for (number, path) in paths.iter().enumerate() {
        let parts: Vec<&str> = path.split('/').collect();
        assert_eq!(parts[1].parse(), Ok(5 + number % 3));
        counts[parts[2].parse::<usize>().expect("is a number")] += 1;
    }
    // 100 expected, standard deviation 9.
    assert!(counts[0] == 0 && counts[1..].iter().all(|count| (60..145).contains(count)), "{counts:?}");
    assert_eq!(paths[9], path(7, 9));
    assert_ne!(paths[9], path(8, 9));
}

#[test]
fn random_cells_of_a_request_are_of_one_row() {
    let text: String = (0..50).map(|row| format!("{row},{row}\n")).collect();
    let files = [csv::parse("t", &format!("a,b\n{text}")).expect("is a table")];
    let names = Names { files: &files, ..Names::default() };
    let made = template("/{{csv-random:t:a}}", &request("GET", "{{csv-random:t:b}}", ""), &names);
    let cells = [Arc::clone(&files[0].cells)];
    let mut seen = std::collections::HashSet::new();
    for number in 0..500 {
        let written = write(&made, Drawn::of_kind(1, 0, number), &cells, None);
        assert_eq!(written.path[1..], written.field);
        seen.insert(written.field);
    }
    assert!(seen.len() >= 45, "{} of 50 rows", seen.len());
}

#[test]
fn users_have_rows_and_memories_of_their_own() {
    let files = [table()];
    let taken = ["token".to_owned()];
    let names = Names { files: &files, taken: &taken, has_users: true, ..Names::default() };
    let made = template(
        "/{{user}}/{{token}}",
        &request("POST", "{{token}}", "{{csv:u.csv:name}}{{token|url}}"),
        &names,
    );
    let mut memory = Memory::default();
    memory.take(0, b"a+b c/=");
    let cells = [Arc::clone(&files[0].cells)];
    let written = write(&made, Drawn::of_user(1, 4, 17, 99), &cells, Some(&memory));
    assert_eq!((written.path.as_str(), written.field.as_str()), ("/42/a+b%20c/=", "a+b c/="));
    assert_eq!((written.body.as_str(), written.length), ("b,oba%2Bb%20c%2F%3D", 19));
    assert_eq!(write(&made, Drawn::of_user(1, 4, 17, 99), &cells, None).path, "/42/");
}

#[test]
fn what_is_no_value_is_told_with_its_place() {
    for (text, at, told) in [
        ("ab{{conter:1..}}", 2, "is not a value"),
        ("{{counter:x..}}", 0, "is not a value"),
        ("{{counter:5..4}}", 0, "ends before it starts"),
        ("{{random:1..}}", 0, "is not a value"),
        ("{{random}}", 0, "is not a value"),
        ("{{csv:a}}", 0, "is not a value"),
        ("{{csv::x}}", 0, "is not a value"),
        ("\\{{a}} {{", 7, "'{{' without a matching '}}'"),
        ("{{1}}", 0, "is not a value"),
    ] {
        let Misread { at: found, cause } = text::parse(text).expect_err(text);
        assert!(found == at && cause.contains(told), "{text}: {found} {cause}");
    }
    let target = target::resolve("http://127.0.0.1:8080/").expect("resolves");
    let files = [table()];
    let names = Names { files: &files, ..Names::default() };
    for (path, header, told) in [
        ("/{{user}}", "", "only available in sessions"),
        ("/{{token}}", "", "there is no value 'token'"),
        ("/{{csv:v.csv:name}}", "", "table 'v.csv' was not read"),
        ("/{{csv:u.csv:nam}}", "", "'u.csv' has no column 'nam', only name, secret"),
        ("/", "{{csv:u.csv:secret}}", "'u.csv', line 3: 'secret' contains control characters"),
    ] {
        let error = make(&request("GET", header, ""), &target, path, &names).expect_err(path).to_string();
        assert!(error.contains(told), "{error}");
    }
}

#[test]
fn tables_are_read_as_they_are_quoted_and_errors_have_their_place() {
    let table = table();
    assert_eq!((table.rows_count, table.cells.lines.as_slice()), (3, [2, 3, 5].as_slice()));
    assert_eq!(table.cells.cell(1, 0), "b,ob");
    assert_eq!(csv::parse("f", "a\n\"x\"\"y\"").expect("is a table").cells.cell(0, 0), "x\"y");
    for (text, at, told) in [
        ("", 0, "name the columns"),
        ("a,a\n1,2\n", 2, "name the columns"),
        ("a\n", 0, "it has no rows"),
        ("a,b\n1,2\n3\n", 8, "it has 1 cells, but the first line has 2"),
        ("a\n\"x\n", 2, "is not closed"),
        ("a\nx\"y\n", 2, "a quote in a cell"),
        ("a\n\"x\"y\n", 2, "expected a comma"),
    ] {
        let Misread { at: found, cause } = csv::parse("f", text).expect_err(text);
        assert!(found == at && cause.contains(told), "{text:?}: {found} {cause}");
    }
}

#[test]
fn requests_without_values_are_the_bytes_that_they_always_were() {
    let target = target::resolve("http://127.0.0.1:8080/").expect("resolves");
    for body in ["", "{\"a\":{\"b\":1}}"] {
        let request = request("POST", "{a}", body);
        let made = make(&request, &target, "/{a}", &Names::default()).expect("is a request");
        let bytes = RequestBytes::of(&request, &target, "/{a}").expect("is a request");
        assert!(made.template.is_none() && made.bytes.keep == bytes.keep && made.bytes.last == bytes.last);
    }
    let made = make(&request("GET", "\\{{a}}", ""), &target, "/", &Names::default()).expect("is a request");
    assert!(made.template.is_none());
    assert!(String::from_utf8_lossy(&made.bytes.keep).contains("X-A: {{a}}\r\n"));
}

proptest! {
    #[test]
    fn no_value_breaks_the_framing(cell in "\\PC*|[\r\n\t \u{0}-\u{ff}]*", token in proptest::collection::vec(any::<u8>(), 0..60)) {
        let quoted = cell.replace('"', "\"\"");
        let files = [csv::parse("t", &format!("a\n\"{quoted}\"\n")).expect("is a table")];
        let taken = ["token".to_owned()];
        let names = Names { files: &files, taken: &taken, has_users: true, ..Names::default() };
        let mut memory = Memory::default();
        memory.take(0, &token);
        let made = template(
            "/{{csv:t:a}}/{{token}}",
            &request("POST", "{{csv:t:a|url}}{{token|url}}", "{{csv:t:a}}{{counter}}"),
            &names,
        );
        let cells = [Arc::clone(&files[0].cells)];
        let written = write(&made, Drawn::of_user(1, 0, 0, 0), &cells, Some(&memory));
        prop_assert_eq!(written.length, cell.len() + 1);
        prop_assert_eq!(&written.body, &format!("{cell}1"));
        let head = written.text.split("\r\n\r\n").next().unwrap_or("");
        prop_assert!(head.bytes().all(|byte| (0x20..0x7f).contains(&byte) || byte == b'\r' || byte == b'\n'));
        prop_assert_eq!(head.matches('\n').count(), 5);
        prop_assert_eq!(head.split("\r\n").next().unwrap_or("").matches(' ').count(), 2);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "([{}\\\\|:.a-z0-9]|\\PC)*") {
        if let Ok(parts) = text::parse(&text) {
            let has = parts.iter().any(|part| matches!(part, TextPart::Value { value: Value::Taken(_), .. }));
            prop_assert!(!has || text.contains("{{"));
        }
        let _ = csv::parse("t", &text);
    }
}
