//! Loads by HTTP/2 against a server by the `h2` crate, and against ones that break its rules.

use super::*;
use bytes::Bytes as Chunk;
use sysdyno_record::wire::{Http2Plan, WirePlan};

on_both_back_ends! {
    another_implementation_counts_the_same_requests
    a_server_that_goes_away_again_and_again_loses_no_request
    fewer_streams_than_were_asked_for_are_told
    broken_servers_end_in_counted_classes
    a_stream_that_stalls_does_not_hold_up_the_others
    a_connection_that_is_cut_under_tls_truncates_its_streams
}

/// A server by the `h2` crate, and the requests that it has answered.
pub(super) struct Oracle {
    pub(super) url: String,
    pub(super) requests: Arc<AtomicU64>,
    uploaded: Arc<AtomicU64>,
}

/// What a server answers to a request with this body.
pub(super) type Site =
    dyn Fn(&http::request::Parts, &[u8]) -> http::Response<Vec<u8>> + std::marker::Send + Sync;

/// How a server treats its connections.
#[derive(Clone, Copy)]
pub(super) struct Manners {
    pub(super) streams: u32,
    /// After so many requests it goes away.
    pub(super) requests_per_connection: u64,
}

fn serve_h2(streams: u32, requests_per_connection: u64) -> Oracle {
    let hello = |_: &_, _: &_| {
        http::Response::builder().header("x-a", "b").body(b"hello".to_vec()).expect("a response")
    };
    serve_site(Manners { streams, requests_per_connection }, Arc::new(hello))
}

pub(super) fn serve_site(manners: Manners, site: Arc<Site>) -> Oracle {
    let listener = TcpListener::bind("127.0.0.1:0").expect("binds");
    let url = format!("http://{}/", listener.local_addr().expect("has an address"));
    let oracle = Oracle { url, requests: Arc::default(), uploaded: Arc::default() };
    let counts = [&oracle.requests, &oracle.uploaded].map(Arc::clone);
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().expect("a runtime");
        runtime.block_on(async move {
            listener.set_nonblocking(true).expect("is set");
            let listener = tokio::net::TcpListener::from_std(listener).expect("is registered");
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(converse_h2(socket, counts.clone(), manners, Arc::clone(&site)));
            }
        });
    });
    oracle
}

async fn converse_h2(
    socket: tokio::net::TcpStream,
    counts: [Arc<AtomicU64>; 2],
    manners: Manners,
    site: Arc<Site>,
) {
    let mut builder = h2::server::Builder::new();
    builder.max_concurrent_streams(manners.streams).initial_window_size(1000);
    let Ok(mut connection) = builder.handshake(socket).await else { return };
    let mut count = 0;
    while let Some(Ok((request, respond))) = connection.accept().await {
        count += 1;
        if count == manners.requests_per_connection {
            connection.graceful_shutdown();
        }
        tokio::spawn(answer_h2(request, respond, counts.clone(), Arc::clone(&site)));
    }
}

async fn answer_h2(
    request: http::Request<h2::RecvStream>,
    mut respond: h2::server::SendResponse<Chunk>,
    [requests, uploaded]: [Arc<AtomicU64>; 2],
    site: Arc<Site>,
) {
    let (parts, mut stream) = request.into_parts();
    let mut body = Vec::new();
    while let Some(Ok(chunk)) = stream.data().await {
        body.extend_from_slice(&chunk);
        let _ = stream.flow_control().release_capacity(chunk.len());
    }
    uploaded.fetch_add(body.len() as u64, Ordering::SeqCst);
    requests.fetch_add(1, Ordering::SeqCst);
    let (head, content) = site(&parts, &body).into_parts();
    let response = http::Response::from_parts(head, ());
    if let Ok(mut stream) = respond.send_response(response, content.is_empty())
        && !content.is_empty()
    {
        let _ = stream.send_data(Chunk::from(content), true);
    }
}

pub(super) fn h2_plan(io: IoChoice, url: &str, streams: u32) -> LoadPlan {
    let mut plan = plan(io, url);
    plan.wire = WirePlan { http2: Some(Http2Plan { streams }), ..WirePlan::default() };
    plan.phases[0].end = PhaseEnd::Requests(2000);
    plan
}

fn another_implementation_counts_the_same_requests(io: IoChoice) {
    for (arrival, streams, threads) in [
        (Arrival::Closed, 1, 1),
        (Arrival::Closed, 32, 2),
        (Arrival::Poisson, 8, 1),
        (Arrival::Constant, 32, 2),
    ] {
        for body in [0, 5000] {
            let oracle = serve_h2(100, u64::MAX);
            let mut plan = h2_plan(io, &oracle.url, streams);
            (plan.arrival, plan.threads) = (arrival, threads);
            plan.phases[0].rate_hz = arrival.is_open().then_some(4000.0);
            (plan.request.body, plan.request.body_bytes) = (vec![7; body].into(), body as u64);
            let header = ExpectedHeader { name: "X-A".into(), value: Some("b".into()) };
            plan.validators.header = Some(header);
            let (outcome, _) = load(&plan);
            let (counts, case) = (outcome.summary.total, format!("{arrival:?} {streams} {threads} {body}"));
            let failures = &outcome.summary.measured.failures;
            assert_eq!((counts.ok, counts.sent), (2000, 2000), "{case} {failures:?}");
            assert_eq!(counts.written, oracle.requests.load(Ordering::SeqCst), "{case}");
            assert_eq!(2000 * body as u64, oracle.uploaded.load(Ordering::SeqCst), "{case}");
            assert_eq!(outcome.summary.measured.statuses[&200], 2000, "{case}");
            assert_eq!(outcome.latency.get(LatencyKind::FirstByte).count(), 2000, "{case}");
            let opened: u64 = outcome.summary.phases.iter().map(|phase| phase.connections_opened).sum();
            assert!(opened <= 4, "{case}: {opened} connections");
        }
    }
}

fn a_server_that_goes_away_again_and_again_loses_no_request(io: IoChoice) {
    let oracle = serve_h2(100, 50);
    let plan = h2_plan(io, &oracle.url, 16);
    let (outcome, _) = load(&plan);
    let failures = &outcome.summary.measured.failures;
    assert_eq!(outcome.summary.total.ok, 2000, "{failures:?}");
    assert_eq!(oracle.requests.load(Ordering::SeqCst), 2000);
    assert!(outcome.summary.measured.connections_opened >= 10);
}

fn fewer_streams_than_were_asked_for_are_told(io: IoChoice) {
    let oracle = serve_h2(3, u64::MAX);
    let mut plan = h2_plan(io, &oracle.url, 8);
    plan.phases[0].end = PhaseEnd::Requests(300);
    let (outcome, _) = load(&plan);
    let failures = &outcome.summary.measured.failures;
    let is_of_limit =
        |class: &FailureClass| matches!(class, FailureClass::StreamLimit | FailureClass::StreamRefused);
    assert!(!failures.is_empty() && failures.keys().all(is_of_limit), "{failures:?}");
    assert_eq!(outcome.summary.total.ok, oracle.requests.load(Ordering::SeqCst));
}

/// A server that reads the preface and the first requests, says these bytes, and goes on with `again` while it is read.
pub(super) fn serve_frames(first: Vec<u8>, again: Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("binds");
    let url = format!("http://{}/", listener.local_addr().expect("has an address"));
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let (first, again) = (first.clone(), again.clone());
            std::thread::spawn(move || {
                let mut buffer = [0; 4096];
                // The preface, settings and a request are longer than that.
                let mut seen = 0;
                while seen < 80 {
                    seen += stream.read(&mut buffer).unwrap_or(80).max(1);
                }
                let _ = stream.write_all(&first);
                while !again.is_empty() && stream.write_all(&again).is_ok() {}
                while matches!(stream.read(&mut buffer), Ok(1..)) {}
            });
        }
    });
    url
}

pub(super) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

fn broken_servers_end_in_counted_classes(io: IoChoice) {
    use FailureClass::*;
    let settings = || frame(4, 0, 0, &[]);
    let check = |first: Vec<u8>, again: Vec<u8>, expected: &[FailureClass]| {
        let mut plan = h2_plan(io, &serve_frames(first, again), 2);
        plan.connections = 1;
        plan.phases[0].end = PhaseEnd::Requests(10);
        plan.deadlines.idle = SpanNs::from_millis(200);
        let (outcome, _) = load(&plan);
        let failures = outcome.summary.measured.failures;
        assert!(failures.keys().all(|class| expected.contains(class)), "{failures:?}, not {expected:?}");
        assert_eq!(outcome.summary.total.failed, outcome.summary.total.sent, "{expected:?}");
    };
    check(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(), vec![], &[NotHttp2]);
    check(b"SSH-2.0-OpenSSH_9.2\r\n".to_vec(), vec![], &[NotHttp2]);
    check(vec![0x15, 3, 3, 0, 2, 2, 40], vec![], &[SpeaksTls]);
    check(settings(), frame(6, 0, 0, &[0; 8]).repeat(1000), &[Http2Abuse]);
    check(settings(), settings().repeat(1000), &[Http2Abuse]);
    check([settings(), frame(1, 0, 1, &[0x88])].concat(), frame(9, 0, 1, &[]).repeat(100), &[Http2Abuse]);
    check([settings(), frame(1, 4, 1, &[0x88])].concat(), frame(0, 0, 1, &[]).repeat(1000), &[Http2Abuse]);
    check([settings(), frame(3, 0, 1, &[0, 0, 0, 1])].concat(), vec![], &[StreamReset, HeadTimeout]);
    check([settings(), frame(7, 0, 0, &[0; 8])].concat(), vec![], &[StreamRefused]);
    // Its first window is closed, and stays so: of requests without a body nothing is held back.
    check(settings(), vec![], &[HeadTimeout]);
    check(
        [settings(), frame(1, 4, 1, &[0x88]), frame(0, 0, 1, b"x")].concat(),
        vec![],
        &[BodyTimeout, HeadTimeout],
    );
    check([settings(), frame(1, 5, 1, &[0xff; 9])].concat(), vec![], &[Protocol]);
    let head = || frame(1, 4, 1, &[0x88]);
    // It goes away while it answers: the first stream was seen, later ones were not.
    let leaving = frame(7, 0, 0, &[0, 0, 0, 1, 0, 0, 0, 0]);
    check(
        [settings(), head(), frame(0, 0, 1, b"x"), leaving].concat(),
        vec![],
        &[BodyTimeout, StreamRefused, HeadTimeout],
    );
    let long_head = frame(1, 4, 1, b"\x88\x0f\x0d\x015");
    check([settings(), long_head, frame(0, 1, 1, b"abc")].concat(), vec![], &[BodyTruncated, HeadTimeout]);
    let bomb = [&b"\x40\x01a\x78"[..], &[b'x'; 120], &[0xbe; 1000]].concat();
    check([settings(), frame(1, 4, 1, &bomb)].concat(), vec![], &[HeadTooLarge]);
    check([settings(), frame(1, 4, 1, &[0x88, 0xbe])].concat(), vec![], &[Protocol]);
    check([settings(), frame(8, 0, 0, &[0x7f, 255, 255, 255])].concat(), vec![], &[Protocol]);
    check(settings(), frame(3, 0, 1, &[0, 0, 0, 8]).repeat(1000), &[StreamReset, Http2Abuse]);
    // Who never reads what it has answered, and trickles, so that every frame seems to be of a response.
    let trickle = [frame(6, 0, 0, &[0; 8]).repeat(500), frame(0, 0, 1, b"x")].concat();
    check([settings(), head()].concat(), trickle, &[Http2Abuse]);
}

/// A server that answers every stream but the first at once, with nothing in it.
fn serve_all_but_the_first() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("binds");
    let url = format!("http://{}/", listener.local_addr().expect("has an address"));
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || answer_all_but_the_first(&mut stream));
        }
    });
    url
}

fn answer_all_but_the_first(stream: &mut TcpStream) -> Option<()> {
    stream.read_exact(&mut [0; 24]).ok()?;
    stream.write_all(&frame(4, 0, 0, &[])).ok()?;
    loop {
        let mut header = [0; 9];
        stream.read_exact(&mut header).ok()?;
        let [_, high, low, kind, _, number @ ..] = header;
        stream.read_exact(&mut vec![0; usize::from(high) << 8 | usize::from(low)]).ok()?;
        let number = u32::from_be_bytes(number);
        if kind == 1 && number != 1 {
            stream.write_all(&frame(1, 5, number, &[0x88])).ok()?;
        }
    }
}

fn a_stream_that_stalls_does_not_hold_up_the_others(io: IoChoice) {
    let mut plan = h2_plan(io, &serve_all_but_the_first(), 4);
    plan.connections = 1;
    plan.phases[0].end = PhaseEnd::Requests(200);
    plan.deadlines.idle = SpanNs::from_millis(200);
    let (outcome, _) = load(&plan);
    let failures: Vec<_> = outcome.summary.measured.failures.into_iter().collect();
    assert_eq!(failures, [(FailureClass::HeadTimeout, 1)]);
    assert_eq!(outcome.summary.total.ok, 199);
}

fn a_connection_that_is_cut_under_tls_truncates_its_streams(io: IoChoice) {
    let home = tls::Identity::of_home();
    let mut config = home.server(None);
    Arc::get_mut(&mut config).expect("nobody else has it").alpn_protocols = vec![b"h2".to_vec()];
    // The preface has the end of a head in it; the answer begins, and ends with neither a frame nor an alert that says so.
    let cut = |_: u64, stream: &mut tls::Stream| {
        let frames = [frame(4, 0, 0, &[]), frame(1, 4, 1, &[0x88]), frame(0, 0, 1, b"x")].concat();
        let _ = stream.write_all(&frames);
        let _ = stream.sock.shutdown(std::net::Shutdown::Write);
        // What is left unread would reset the connection.
        while matches!(stream.sock.read(&mut [0; 4096]), Ok(1..)) {}
        false
    };
    let server = tls::serve_tls(config, Box::new(cut));
    let mut plan = tls::tls_plan(io, &server.url, &home.certificate_file());
    plan.wire.http2 = Some(Http2Plan { streams: 1 });
    plan.connections = 1;
    plan.phases[0].end = PhaseEnd::Requests(5);
    let (outcome, _) = load(&plan);
    let failures: Vec<_> = outcome.summary.measured.failures.into_iter().collect();
    assert_eq!(failures, [(FailureClass::BodyTruncated, 5)]);
}

#[test]
fn a_window_that_stays_closed_is_a_write_timeout() {
    let closed = frame(4, 0, 0, &[0, 4, 0, 0, 0, 0]);
    let mut plan = h2_plan(IoChoice::Epoll, &serve_frames(closed, vec![]), 1);
    plan.connections = 1;
    plan.phases[0].end = PhaseEnd::Requests(3);
    plan.request.body = vec![7; 200_000].into();
    plan.deadlines.idle = SpanNs::from_millis(200);
    let (outcome, _) = load(&plan);
    let failures: Vec<_> = outcome.summary.measured.failures.into_iter().collect();
    assert_eq!(failures, [(FailureClass::WriteTimeout, 3)]);
}
