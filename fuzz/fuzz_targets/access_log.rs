//! The reader of access logs against any bytes: a log is written by whoever sends requests.
//!
//! Whatever stands in it, nothing panics; every line is counted once; what would be sent is a method and a path of visible
//! characters, at an instant within the span that is told; the busiest windows hold no more than all requests.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sysdyno_load::workload::log::{AccessLog, Wish};
use sysdyno_record::plan::{RequestSpec, Validators};

fuzz_target!(|input: &[u8]| {
    let [options, bytes @ ..] = input else { return };
    let Ok(log) = AccessLog::read(bytes) else { return };
    let lines = bytes.split_inclusive(|byte| *byte == b'\n').count() as u64;
    assert_eq!(log.lines_count, lines);
    assert!(log.unreadable_count <= lines && log.unsendable_count <= lines);
    let need = log.need("log");
    assert!(need.requests_count <= lines && need.second_hz <= need.requests_count as f64);
    assert!(need.begin_unix_s < need.end_unix_s);
    check_workload(log, (options & 1 != 0).then_some(f64::from(1 + (options >> 1))));
});

fn check_workload(log: AccessLog, speed_ratio: Option<f64>) {
    let request = RequestSpec { method: "GET".into(), headers: Vec::new(), body: Vec::new().into(), body_bytes: 0 };
    let validators = Validators::default();
    let wish = Wish { file: "log", speed_ratio, seed: 1, request: &request, validators: &validators };
    let Ok(workload) = log.workload(&wish) else { return };
    let plan = workload.log.expect("a log makes one");
    assert_eq!(plan.arrivals.len() as u64, plan.arrivals_count);
    for request in plan.requests.iter() {
        assert!(matches!(&*request.method, "GET" | "HEAD"));
        assert!(request.path.starts_with('/') && request.path.bytes().all(|byte| byte.is_ascii_graphic()));
        assert!((request.operation as usize) < workload.operations.len());
    }
    assert!(plan.arrivals.iter().all(|arrival| (arrival.request as usize) < plan.requests.len()));
    assert!(plan.arrivals.windows(2).all(|pair| pair[0].offset_ns <= pair[1].offset_ns));
    assert!(plan.arrivals.last().is_none_or(|last| last.offset_ns <= plan.span.0));
}
