//! Users against real sockets: what they ask for is what the server counts, and no operation vanishes.

use super::*;
use sysdyno_record::session::*;

pub(super) fn step(name: &str, next: &[f64], objects: &[u32]) -> SessionOperation {
    SessionOperation {
        name: name.into(),
        next: next.to_vec(),
        exit_ratio: 0.0,
        pace: Pace::Cycle(Distribution::Uniform {
            min: SpanNs::from_millis(5),
            max: SpanNs::from_millis(15),
        }),
        limit: None,
        objects: objects.to_vec(),
        begins_session: false,
        takes: Vec::new(),
    }
}

/// Two operations in turn; the first embeds a file and a picture.
pub(super) fn users(plan: &mut LoadPlan, users: u32) {
    plan.arrival = Arrival::Sessions;
    plan.workload.operations = vec![operation("/a", 1.0), operation("/b", 1.0)];
    plan.workload.session = Some(Box::new(SessionPlan {
        name: "test".into(),
        users,
        sessions_hz: None,
        stagger: SpanNs::from_millis(1),
        cold_ratio: 0.5,
        first: 0,
        operations: vec![step("A", &[0.0, 1.0], &[0, 1]), step("B", &[1.0, 0.0], &[])],
        objects: vec![
            SessionObject { path: "/a/file".into(), is_image: false },
            SessionObject { path: "/a/picture".into(), is_image: true },
        ],
        rules: SessionRules {
            mix_deviation: 0.02,
            cycle_deviation: 0.02,
            max_error_ratio: 0.01,
            max_users_per_rate: None,
        },
        cookies: false,
    }));
    plan.phases = vec![
        PhasePlan { kind: PhaseKind::Steady, rate_hz: None, end: PhaseEnd::After(SpanNs::from_secs(600)) },
        PhasePlan {
            kind: PhaseKind::RampDown,
            rate_hz: None,
            end: PhaseEnd::After(SpanNs::from_millis(100)),
        },
    ];
}

/// Loads until the server has seen enough, however long that takes on this machine.
pub(super) fn load_until(plan: &LoadPlan, is_enough: impl Fn() -> bool) -> (LoadOutcome, Kept) {
    let control = Control::new();
    let mut kept = Kept::default();
    let outcome = std::thread::scope(|scope| {
        let load = scope.spawn(|| run(plan, 1, &control, &mut kept).expect("runs"));
        while !is_enough() && !load.is_finished() {
            std::thread::yield_now();
        }
        control.stop();
        load.join().expect("does not panic")
    });
    (outcome, kept)
}

/// A server that counts by the first two letters of the path; and apart the path that goes badly, or else pictures.
fn counting(bad: Option<&'static str>) -> (Server, Arc<[AtomicU64; 3]>) {
    let seen: Arc<[AtomicU64; 3]> = Arc::default();
    let counter = Arc::clone(&seen);
    let server = serve_paths(move |path, stream| {
        counter[usize::from(path.starts_with("/b"))].fetch_add(1, Ordering::SeqCst);
        counter[2].fetch_add(u64::from(path == bad.unwrap_or("/a/picture")), Ordering::SeqCst);
        let status = if bad == Some(path) { "500 No" } else { "200 OK" };
        let text = format!("HTTP/1.1 {status}\r\nContent-Length: 2\r\n\r\nhi");
        stream.write_all(text.as_bytes()).is_ok()
    });
    (server, seen)
}

pub(super) fn users_ask_for_what_the_server_counts_and_no_operation_vanishes(io: IoChoice) {
    for threads in [1, 2] {
        let (server, seen) = counting(None);
        let mut plan = plan(io, &server.url);
        users(&mut plan, 40);
        plan.threads = threads;
        let count = |number: usize| seen[number].load(Ordering::SeqCst);
        // With 200 pages of the second operation, at most 40 are under way: 160 are over.
        let (outcome, kept) = load_until(&plan, || count(2) >= 40 && count(1) >= 200);
        let summary = &outcome.summary;
        let case = format!("{threads}: {:?} {:?}", summary.session, summary.total);
        for (operation, number) in summary.operations.iter().zip(0..) {
            assert_eq!(operation.total.written, count(number), "{case}");
        }
        // All have begun, and none of them leaves.
        assert_eq!(kept.intervals.last().and_then(|last| last.users_at_end), Some(40), "{case}");
        // A picture is fetched once by each user, however often the page is.
        assert_eq!(count(2), 40, "{case}");
        let late_ns = outcome.latency.get(LatencyKind::LoopSlip).max().expect("requests were sent") as f64;
        // Nothing went wrong but what waited for a connection at the end.
        let failed: u64 = summary.session.iter().map(|operation| operation.failed_count).sum();
        assert_eq!(failed, summary.total.unsent, "{case}");
        for operation in &summary.session {
            let ended = operation.completed_count + operation.failed_count + operation.unfinished_count;
            assert_eq!(operation.started_count, ended, "{case}");
            assert!(operation.completed_count + operation.failed_count >= 160, "{case}");
            // Operations are counted as such, not request by request.
            assert_eq!(
                operation.latency.count,
                operation.completed_count + operation.unfinished_count,
                "{case}"
            );
            let planned_ns = operation.cycle_planned_ns.expect("there were cycles");
            assert!((5e6..15e6).contains(&planned_ns), "{case}");
            // A cycle is shorter than drawn only by as much as this thread was late at its begin.
            let actual_ns = operation.cycle_actual_ns.expect("there were cycles");
            assert!(actual_ns >= planned_ns - late_ns, "{late_ns} ns late: {case}");
        }
    }
}

pub(super) fn an_operation_fails_with_any_of_its_requests(io: IoChoice) {
    let (server, seen) = counting(Some("/a/file"));
    let mut plan = plan(io, &server.url);
    users(&mut plan, 10);
    let count = |number: usize| seen[number].load(Ordering::SeqCst);
    let (outcome, _) = load_until(&plan, || count(2) >= 20 && count(1) >= 30);
    let [first, second] = outcome.summary.session.as_slice() else { panic!("two operations") };
    // At most ten are under way.
    let asked = count(2) + outcome.summary.total.unsent;
    assert!((10..=asked).contains(&first.failed_count), "{asked}: {first:?}");
    // Nothing of the second goes wrong but what waited for a connection at the end.
    assert!(second.failed_count <= outcome.summary.total.unsent, "{second:?}");
    assert!(second.completed_count + second.failed_count >= 20, "{second:?}");
}

pub(super) fn sessions_that_arrive_also_leave(io: IoChoice) {
    let (server, seen) = counting(None);
    let mut plan = plan(io, &server.url);
    users(&mut plan, 0);
    let session = plan.workload.session.as_mut().expect("has users");
    session.sessions_hz = Some(400.0);
    session.operations[1].exit_ratio = 1.0;
    plan.phases[0].end = PhaseEnd::After(SpanNs::from_millis(600));
    let (outcome, kept) = load(&plan);
    assert_eq!(kept.phases, [PhaseKind::Steady, PhaseKind::RampDown, PhaseKind::Drain]);
    let [first, second] = outcome.summary.session.as_slice() else { panic!("two operations") };
    // 240 expected in 0.6 s, standard deviation 15; each session is one A and one B.
    assert!((150..330).contains(&first.started_count), "{first:?}");
    assert!(second.started_count <= first.started_count, "{second:?}");
    for (operation, seen) in outcome.summary.operations.iter().zip(seen.iter()) {
        assert_eq!(operation.total.written, seen.load(Ordering::SeqCst), "{operation:?}");
    }
    // Where all is measured, those are left who have not had their second operation.
    plan.phases.truncate(1);
    let (outcome, kept) = load(&plan);
    let [first, second] = outcome.summary.session.as_slice() else { panic!("two operations") };
    let left = second.completed_count + second.failed_count;
    let stayed = kept.intervals.last().and_then(|last| last.users_at_end);
    assert_eq!(stayed, Some(first.started_count - left), "{first:?} {second:?}");
}
