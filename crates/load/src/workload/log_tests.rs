//! Access logs: good ones, broken ones, and how they become arrivals.

use super::*;
use proptest::prelude::*;

fn read(text: &str) -> AccessLog {
    AccessLog::read(text.as_bytes()).expect("is a log")
}

fn line(time: &str, request: &str) -> String {
    format!("192.0.2.1 - ana [10/Oct/2025:{time} +0000] \"{request}\" 200 12 \"-\" \"agent\"\n")
}

fn wish<'a>(request: &'a RequestSpec, validators: &'a Validators, speed_ratio: Option<f64>) -> Wish<'a> {
    Wish { file: "access.log", speed_ratio, seed: 1, request, validators }
}

fn workload(log: AccessLog, speed_ratio: Option<f64>) -> Workload {
    let request =
        RequestSpec { method: "GET".into(), headers: vec![], body: Default::default(), body_bytes: 0 };
    log.workload(&wish(&request, &Validators::default(), speed_ratio)).expect("can be replayed")
}

#[test]
fn instants_are_those_of_the_calendar() {
    let check = |text: &str, second: i64| assert_eq!(parse_instant(text), Some(second), "{text}");
    check("01/Jan/1970:00:00:00 +0000", 0);
    check("10/Oct/2000:13:55:36 -0700", 971_211_336);
    check("29/Feb/2024:23:59:59 +0000", 1_709_251_199);
    check("01/Mar/2024:00:59:59 +0100", 1_709_251_199);
    check("31/Dec/1969:23:59:59 +0000", -1);
    for wrong in [
        "",
        "10/Oct/2000:13:55:36",
        "10/Foo/2000:13:55:36 -0700",
        "10/Oct/2000:24:55:36 -0700",
        "10/Oct/2000:13:55:36 *0700",
        "+1/Oct/2000:13:55:36 -0700",
        "1ä/Oct/200:13:55:36 -0700",
    ] {
        assert_eq!(parse_instant(wrong), None, "{wrong}");
    }
}

#[test]
fn the_busiest_second_minute_and_hour_are_found_wherever_they_begin() {
    let mut text = String::new();
    // One request a second for two hours, three more in each of ten seconds across a full minute, two in one of them.
    for second in 0..7200 {
        let time = format!("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60);
        let count =
            1 + if (3595..3605).contains(&second) { 3 } else { 0 } + if second == 3600 { 2 } else { 0 };
        (0..count).for_each(|_| text.push_str(&line(&time, "GET / HTTP/1.1")));
    }
    let need = read(&text).need("access.log");
    assert_eq!(need.requests_count, 7232);
    assert_eq!(need.second_hz, 6.0);
    assert_eq!(need.minute_hz, Some(92.0 / 60.0));
    assert_eq!(need.hour_hz, Some(3632.0 / 3600.0));
    let short = read(&line("00:00:00", "GET / HTTP/1.1")).need("access.log");
    assert_eq!((short.second_hz, short.minute_hz, short.hour_hz), (1.0, None, None));
}

#[test]
fn what_cannot_be_read_or_sent_is_counted_and_left_out() {
    let long = format!("{}\n", "x".repeat(200_000));
    let text = [
        line("00:00:00", "GET /a HTTP/1.1"),
        line("00:00:00", "POST /a HTTP/1.1"),
        line("00:00:01", "GET /\\x22 HTTP/1.1"),
        line("00:00:01", "GET http://other/ HTTP/1.1"),
        line("00:00:01", "\\x16\\x03\\x01"),
        line("00:00:02", "-"),
        long,
        "garbage\n".into(),
        "\n".into(),
        line("00:00:03", "HEAD /b?c=d HTTP/1.0"),
    ];
    let log = read(&text.concat());
    assert_eq!((log.lines_count, log.unreadable_count, log.unsendable_count), (10, 2, 5));
    // The server was asked for these too.
    assert_eq!(log.need("x").requests_count, 7);
    let workload = workload(log, Some(1.0));
    let names: Vec<&str> = workload.operations.iter().map(|operation| operation.name.as_str()).collect();
    assert_eq!(names, ["/a", "HEAD /b"]);
    let plan = workload.log.expect("is of a log");
    assert_eq!(plan.arrivals_count, 2);
    assert_eq!(&*plan.requests[1].path, "/b?c=d");
    assert!(AccessLog::read(&b"garbage\n"[..]).is_err());
    assert!(AccessLog::read(&b""[..]).is_err());
}

#[test]
fn arrivals_keep_their_seconds_and_are_scaled() {
    let text: String =
        [0, 0, 5, 3].iter().map(|second| line(&format!("00:00:0{second}"), "GET / HTTP/1.1")).collect();
    let plan = workload(read(&text), Some(2.0)).log.expect("is of a log");
    assert_eq!(plan.span, SpanNs::from_secs(3));
    let halves: Vec<u64> = plan.arrivals.iter().map(|arrival| arrival.offset_ns / 500_000_000).collect();
    assert_eq!(halves, [0, 0, 3, 5]);
    assert!(plan.arrivals.is_sorted_by_key(|arrival| arrival.offset_ns));
}

#[test]
fn rare_paths_are_counted_together() {
    let mut text = String::new();
    for path in 0..150 {
        let count = if path < 120 { 2 } else { 1 };
        (0..count).for_each(|_| text.push_str(&line("00:00:00", &format!("GET /p{path}?q={path} HTTP/1.1"))));
    }
    let workload = workload(read(&text), None);
    assert_eq!(workload.operations.len(), MAX_OPERATIONS);
    let others = workload.operations.last().expect("not empty");
    assert_eq!((others.name.as_str(), others.weight), (OTHERS_NAME, 270.0 - 2.0 * 99.0));
    let plan = workload.log.expect("is of a log");
    assert_eq!(plan.requests.len(), 150);
    assert!(plan.requests.iter().all(|request| (request.operation as usize) < MAX_OPERATIONS));
}

#[test]
fn the_plan_shows_each_operation_with_its_own_method_and_path() {
    let text = [
        line("00:00:00", "GET /a HTTP/1.1"),
        line("00:00:00", "GET /a?page=2 HTTP/1.1"),
        line("00:00:01", "HEAD /a?page=3 HTTP/1.1"),
    ];
    let shown = |speed| {
        let operations = workload(read(&text.concat()), speed).operations.into_iter();
        operations.map(|each| [each.name, each.request.method, each.path]).collect::<Vec<_>>()
    };
    for speed in [None, Some(1.0)] {
        assert_eq!(shown(speed), [["/a", "GET", "/a"], ["HEAD /a", "HEAD", "/a"]]);
    }
    let many: String = (0..=MAX_OPERATIONS)
        .flat_map(|path| ["GET", "HEAD"].map(|method| format!("{method} /p{path} HTTP/1.1")))
        .map(|request| line("00:00:00", &request))
        .collect();
    let operations = workload(read(&many), None).operations;
    let others = operations.last().expect("not empty");
    assert_eq!((others.path.as_str(), others.request.method.as_str()), (OTHERS_NAME, "GET, HEAD"));
}

proptest! {
    #[test]
    fn no_bytes_break_the_reader(bytes in proptest::collection::vec(any::<u8>(), 0..400), cut in 0usize..80) {
        let mut text = line("12:00:00", "GET / HTTP/1.1").into_bytes();
        text.splice(cut..cut, bytes);
        if let Ok(log) = AccessLog::read(&text[..]) {
            let need = log.need("x");
            prop_assert!(need.second_hz <= need.requests_count as f64);
        }
    }
}
