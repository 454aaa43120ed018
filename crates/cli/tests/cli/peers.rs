//! TLS servers as `openssl s_server` can be made to behave: every refusal has its class and its reason, in words of ours.

use crate::rig::hostile::{Hostile, Verb};
use crate::rig::program::{Outcome, Program};
use crate::rig::{has, wait_until};
use rcgen::{BasicConstraints, CertificateParams, ExtendedKeyUsagePurpose, IsCa, KeyPair, date_time_ymd};
use std::collections::VecDeque;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;
use tempfile::TempDir;

/// Peers at a time: nearly all of their time is waiting.
const PARALLEL: usize = 8;

/// A server, what is asked of it, and what must be said about it.
struct Peer {
    what: &'static str,
    /// Options of `openssl s_server`; `CERT NAME` stands for the certificate and key of that name.
    server: &'static str,
    /// Added to the command line; `NAME.pem` and `NAME.key` are files.
    client: &'static str,
    /// The class of every request, and part of what is told besides; `None`: all requests are ok.
    failure: Option<(&'static str, &'static str)>,
}

const fn good(what: &'static str, server: &'static str, client: &'static str) -> Peer {
    Peer { what, server, client, failure: None }
}

const fn bad(
    what: &'static str,
    [server, client]: [&'static str; 2],
    class: &'static str,
    told: &'static str,
) -> Peer {
    Peer { what, server, client, failure: Some((class, told)) }
}

/// Certificates of short keys and old algorithms are shown only by a server that is told to be careless.
const PEERS: &[Peer] = &[
    good("as it should be", "CERT ec", "--tls-ca ec.pem"),
    good("TLS 1.2 only", "CERT ec -tls1_2", "--tls-ca ec.pem"),
    good("an RSA key of 2,048 bits", "CERT rsa", "--tls-ca rsa.pem"),
    good("asks for a certificate, and does without", "CERT ec -verify 1", "--tls-ca ec.pem"),
    good(
        "requires a certificate, and gets one",
        "CERT ec -Verify 1",
        "--tls-ca ec.pem --tls-cert client.pem --tls-key client.key",
    ),
    good("an authority that is trusted itself", "CERT authority", "--tls-ca authority.pem"),
    bad(
        "TLS 1.1 only",
        ["CERT rsa -tls1_1 -cipher DEFAULT@SECLEVEL=0", "--tls-ca rsa.pem"],
        "tls_version",
        "alert protocol_version (70)",
    ),
    bad(
        "TLS 1.0 only",
        ["CERT rsa -tls1 -cipher DEFAULT@SECLEVEL=0", "--tls-ca rsa.pem"],
        "tls_version",
        "alert protocol_version (70)",
    ),
    bad(
        "1.2 for 1.3",
        ["CERT ec -tls1_2", "--tls-ca ec.pem --tls-version 1.3"],
        "tls_version",
        "alert protocol_version (70)",
    ),
    bad(
        "1.3 for 1.2",
        ["CERT ec -tls1_3", "--tls-ca ec.pem --tls-version 1.2"],
        "tls_version",
        "alert protocol_version (70)",
    ),
    bad(
        "CBC without forward secrecy",
        ["CERT rsa -tls1_2 -cipher AES128-SHA", "--tls-ca rsa.pem"],
        "tls_cipher",
        "alert handshake_failure (40)",
    ),
    bad(
        "CBC with forward secrecy",
        ["CERT rsa -tls1_2 -cipher ECDHE-RSA-AES256-SHA384", "--tls-ca rsa.pem"],
        "tls_cipher",
        "alert handshake_failure (40)",
    ),
    bad(
        "finite fields",
        ["CERT rsa -tls1_2 -cipher DHE-RSA-AES128-GCM-SHA256", "--tls-ca rsa.pem"],
        "tls_cipher",
        "alert handshake_failure (40)",
    ),
    bad(
        "an odd suite of 1.3",
        ["CERT ec -tls1_3 -ciphersuites TLS_AES_128_CCM_SHA256", "--tls-ca ec.pem"],
        "tls_cipher",
        "alert handshake_failure (40)",
    ),
    bad(
        "an odd curve",
        ["CERT ec -tls1_3 -curves P-521", "--tls-ca ec.pem"],
        "tls_cipher",
        "alert handshake_failure (40)",
    ),
    bad("an odd kind of key", ["CERT ed448", "--insecure"], "tls_cipher", "alert handshake_failure (40)"),
    bad("no certificate", ["-nocert", "--insecure"], "tls_cipher", "alert handshake_failure (40)"),
    bad(
        "requires a certificate (1.2)",
        ["CERT ec -tls1_2 -Verify 1", "--tls-ca ec.pem"],
        "tls_client_certificate",
        "alert handshake_failure (40)",
    ),
    bad(
        "requires a certificate (1.3)",
        ["CERT ec -tls1_3 -Verify 1", "--tls-ca ec.pem"],
        "tls_client_certificate",
        "alert certificate_required (116)",
    ),
    bad(
        "requires another certificate (1.2)",
        [
            "CERT ec -tls1_2 -Verify 1 -verify_return_error",
            "--tls-ca ec.pem --tls-cert client.pem --tls-key client.key",
        ],
        "tls_client_certificate",
        "alert unknown_ca (48)",
    ),
    bad(
        "requires another certificate (1.3)",
        [
            "CERT ec -tls1_3 -Verify 1 -verify_return_error",
            "--tls-ca ec.pem --tls-cert client.pem --tls-key client.key",
        ],
        "tls_client_certificate",
        "alert unknown_ca (48)",
    ),
    bad(
        "an RSA key of 1,024 bits (1.2)",
        ["CERT weak -tls1_2 -cipher DEFAULT@SECLEVEL=0", "--tls-ca weak.pem"],
        "tls_weak_key",
        "RSA key has 1,024 bits",
    ),
    bad(
        "an RSA key of 1,024 bits (1.3)",
        ["CERT weak -tls1_3 -cipher DEFAULT@SECLEVEL=0", "--tls-ca weak.pem"],
        "tls_weak_key",
        "RSA key has 1,024 bits",
    ),
    bad(
        "one that is not trusted anyway",
        ["CERT weak -cipher DEFAULT@SECLEVEL=0", "--tls-ca ec.pem"],
        "tls_issuer",
        "",
    ),
    bad(
        "one that is taken as it is",
        ["CERT weak -cipher DEFAULT@SECLEVEL=0", "--insecure"],
        "tls_weak_key",
        "RSA key has 1,024 bits",
    ),
    // Too short for the server itself to sign with.
    bad(
        "an RSA key of 512 bits (1.2)",
        ["CERT tiny -tls1_2 -cipher DEFAULT@SECLEVEL=0", "--insecure"],
        "tls_alert",
        "alert internal_error (80)",
    ),
    bad(
        "an RSA key of 512 bits (1.3)",
        ["CERT tiny -tls1_3 -cipher DEFAULT@SECLEVEL=0", "--insecure"],
        "tls_cipher",
        "alert handshake_failure (40)",
    ),
    bad(
        "a signature by SHA-1",
        ["CERT sha1 -cipher DEFAULT@SECLEVEL=0", "--tls-ca sha1.pem"],
        "tls_certificate",
        "such as SHA-1",
    ),
    bad("expired", ["CERT expired", "--tls-ca expired.pem"], "tls_expired", "certificate has expired"),
    bad("not valid yet", ["CERT early", "--tls-ca early.pem"], "tls_expired", "certificate is not valid yet"),
    bad("another name", ["CERT elsewhere", "--tls-ca elsewhere.pem"], "tls_name", ""),
    bad("another issuer", ["CERT ec", "--tls-ca rsa.pem"], "tls_issuer", ""),
    bad(
        "an authority that is not",
        ["CERT authority", "--tls-ca ec.pem"],
        "tls_certificate",
        "a CA certificate (CA:TRUE)",
    ),
    bad(
        "a certificate of clients",
        ["CERT client", "--tls-ca client.pem"],
        "tls_certificate",
        "not for servers",
    ),
    bad(
        "a name that it does not know",
        ["CERT ec -cert2 ec.pem -key2 ec.key -servername shop.test -servername_fatal", "--tls-ca ec.pem"],
        "tls_server_name",
        "alert unrecognized_name (112)",
    ),
    bad(
        "HTTP/1.1 by ALPN",
        ["CERT ec -alpn http/1.1", "--tls-ca ec.pem --http2 alpn"],
        "tls_alpn",
        "alert no_application_protocol (120)",
    ),
    bad("no ALPN", ["CERT ec", "--tls-ca ec.pem --http2 alpn"], "tls_alpn", ""),
];

/// A key and a certificate by `openssl`, which makes also what nobody should use.
fn make(folder: &Path, name: &str, options: &str) {
    let fixed = format!(
        "req -x509 -nodes -keyout {name}.key -out {name}.pem -subj /CN=localhost -days 30 \
         -addext subjectAltName=DNS:localhost -addext basicConstraints=critical,CA:FALSE"
    );
    let mut command = Command::new("openssl");
    command.args(fixed.split_whitespace()).args(options.split_whitespace()).current_dir(folder);
    let made = command.output().expect("openssl starts");
    assert!(made.status.success(), "{name}: {}", String::from_utf8_lossy(&made.stderr));
}

/// The same, by a library that makes what `openssl` cannot be told on one line.
fn make_odd(folder: &Path, name: &str, host: &str, change: impl FnOnce(&mut CertificateParams)) {
    let mut params = CertificateParams::new([host.to_owned()]).expect("a name");
    change(&mut params);
    let key = KeyPair::generate().expect("a key");
    let certificate = params.self_signed(&key).expect("signs");
    std::fs::write(folder.join(format!("{name}.pem")), certificate.pem()).expect("writes");
    std::fs::write(folder.join(format!("{name}.key")), key.serialize_pem()).expect("writes");
}

fn make_all() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let each = [
        ("rsa", "-newkey rsa:2048"),
        ("weak", "-newkey rsa:1024"),
        ("tiny", "-newkey rsa:512"),
        ("sha1", "-newkey rsa:2048 -sha1"),
        ("ed448", "-newkey ed448"),
    ];
    each.iter().for_each(|(name, options)| make(path, name, options));
    make_odd(path, "ec", "localhost", |_| {});
    make_odd(path, "expired", "localhost", |params| params.not_after = date_time_ymd(2020, 1, 1));
    make_odd(path, "early", "localhost", |params| params.not_before = date_time_ymd(2100, 1, 1));
    make_odd(path, "elsewhere", "example.org", |_| {});
    make_odd(path, "client", "localhost", |params| {
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    });
    make_odd(path, "authority", "localhost", |params| {
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    });
    folder
}

/// An `openssl s_server`; it ends with this value.
struct Server {
    child: Child,
    port: u16,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Options of `openssl s_server`, with the files of a certificate where `CERT` names it.
fn arguments(options: &str) -> Vec<String> {
    let mut words = options.split_whitespace();
    let mut arguments = Vec::new();
    while let Some(word) = words.next() {
        match word {
            "CERT" => {
                let name = words.next().expect("a name");
                arguments.extend([
                    "-cert".to_owned(),
                    format!("{name}.pem"),
                    "-key".to_owned(),
                    format!("{name}.key"),
                ]);
            }
            word => arguments.push(word.to_owned()),
        }
    }
    arguments
}

/// A free port that is given out once, below those of the kernel: two servers that were told the same would be taken for
/// each other.
fn own_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(30_000);
    loop {
        let port = NEXT.fetch_add(1, Ordering::Relaxed);
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

impl Server {
    fn start(folder: &Path, options: &str) -> Server {
        let port = own_port();
        let mut command = Command::new("openssl");
        command.args(["s_server", "-quiet", "-WWW", "-accept", &format!("127.0.0.1:{port}")]);
        command.args(arguments(options));
        command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let server = Server { child: command.spawn().expect("openssl starts"), port };
        let is_there = || TcpStream::connect(("127.0.0.1", port)).is_ok();
        assert!(wait_until(Duration::from_secs(20), is_there), "openssl s_server {options} listens");
        server
    }
}

/// Two requests, one after the other.
fn load(folder: &Path, url: &str, client: &str) -> Outcome {
    let fixed = "-n 2 -c 1 -t 1 --timeout 10s --connect-timeout 5s --json";
    let words =
        client.split_whitespace().map(|word| match word.ends_with(".pem") || word.ends_with(".key") {
            true => folder.join(word).display().to_string(),
            false => word.to_owned(),
        });
    let words: Vec<String> = fixed.split_whitespace().map(str::to_owned).chain(words).collect();
    Program::new().run(["load".to_owned(), url.to_owned()].into_iter().chain(words))
}

/// Whether all requests failed in this class, and this is told of it, in words that are for people.
fn judge(outcome: &Outcome, class: &str, told: &str) -> Result<(), String> {
    let json = outcome.json();
    let failures = json["failures"].to_string();
    if failures != format!("{{\"{class}\":2}}") || outcome.code != Some(3) {
        return Err(format!("not {class}: {failures}, exit code {:?}", outcome.code));
    }
    let text = json["failure_texts"][class].as_str().unwrap_or_default();
    let headline = json["headline"].as_str().unwrap_or_default();
    if !text.contains(told) || !headline.contains(told) {
        return Err(format!("'{told}' is not told: {text}"));
    }
    // A library's own text would have its names, like PeerIncompatible or Error(…), in it.
    let is_name = |word: &str| {
        word.as_bytes().windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
    };
    let known = ["ChaCha20-Poly1305"];
    // What the server said is quoted.
    let own: String = text.split('\'').step_by(2).collect();
    match own.split_whitespace().find(|word| is_name(word) && !known.contains(word)) {
        Some(word) => Err(format!("'{word}' is no word for people: {text}")),
        None => Ok(()),
    }
}

fn try_peer(folder: &Path, peer: &Peer) -> Result<(), String> {
    let server = Server::start(folder, peer.server);
    let url = format!("https://127.0.0.1:{}/ec.pem", server.port);
    let outcome = load(folder, &url, &format!("--tls-name localhost {}", peer.client));
    let judged = match peer.failure {
        None if outcome.count("ok") == 2 => Ok(()),
        None => Err("not every request is ok".to_owned()),
        Some((class, told)) => judge(&outcome, class, told),
    };
    judged.map_err(|cause| format!("{}: {cause}\n{outcome}", peer.what))
}

#[test]
fn every_refusal_of_tls_has_its_class_and_its_reason() {
    if !has("every_refusal_of_tls_has_its_class_and_its_reason", &["openssl"]) {
        return;
    }
    let folder = make_all();
    let queue = Mutex::new(PEERS.iter().collect::<VecDeque<_>>());
    let complaints = Mutex::new(Vec::new());
    let next = || queue.lock().expect("no holder panics").pop_front();
    std::thread::scope(|scope| {
        for _ in 0..PARALLEL {
            scope.spawn(|| {
                while let Some(peer) = next() {
                    let complaint = try_peer(folder.path(), peer).err();
                    complaints.lock().expect("no holder panics").extend(complaint);
                }
            });
        }
    });
    let complaints = complaints.into_inner().expect("no holder panics");
    assert!(complaints.is_empty(), "{} peers:\n\n{}", complaints.len(), complaints.join("\n\n"));
}

#[test]
fn servers_that_are_none_of_tls_are_told_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    for (script, class, told) in [
        (
            &[Verb::Send(b"HTTP/1.1 400 Bad Request\r\n\r\n"), Verb::Drain][..],
            "tls_plain_text",
            "answered 'HTTP/1.1 400",
        ),
        (
            &[Verb::Send(b"SSH-2.0-OpenSSH_9.2\r\n"), Verb::Drain],
            "tls_plain_text",
            "answered 'SSH-2.0-OpenSSH_9.2'",
        ),
        (&[Verb::Fin], "tls_handshake", "closed the connection during the handshake"),
        (&[Verb::ReadOnce, Verb::Rst], "tls_handshake", "closed the connection during the handshake"),
        (
            &[Verb::Send(b"\x15\x03\x03\x00\x02\x02\x50"), Verb::Drain],
            "tls_alert",
            "alert internal_error (80)",
        ),
        (
            &[Verb::Send(b"\x16\x03\x03\x00\x04\x63\x00\x00\x00"), Verb::Drain],
            "tls_handshake",
            "violated the TLS protocol",
        ),
    ] {
        let server = Hostile::start(script.to_vec());
        let url = server.url().replace("http:", "https:");
        let outcome = load(folder.path(), &url, "--insecure");
        judge(&outcome, class, told).unwrap_or_else(|cause| panic!("{cause}\n{outcome}"));
    }
}

#[test]
fn a_server_of_tls_that_is_asked_in_plain_text_is_told_so() {
    if !has("a_server_of_tls_that_is_asked_in_plain_text_is_told_so", &["openssl"]) {
        return;
    }
    let folder = make_all();
    for (options, client) in [("CERT ec", ""), ("CERT ec", "--http2 prior")] {
        let server = Server::start(folder.path(), options);
        let outcome = load(folder.path(), &format!("http://127.0.0.1:{}/", server.port), client);
        // This one closes without a word, where others send an alert or an answer in plain text.
        judge(&outcome, "eof_before_head", "").unwrap_or_else(|cause| panic!("{cause}\n{outcome}"));
    }
}
