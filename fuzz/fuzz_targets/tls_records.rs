//! The reader of TLS records against any bytes, in any pieces, where a server's part of the handshake should come.
//!
//! The first byte of an input chooses how it is cut; the rest is what a server sends. Whatever that is, nothing panics,
//! no text comes out before the handshake is over, and what is said in answer is bounded. What becomes of records that are
//! changed after a handshake is a property test of the load engine, since a fuzzer cannot guess keys.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore};
use std::sync::{Arc, OnceLock};
use sysdyno_load::transport::tls::read_records;

/// Most that may be said in answer: a hello, its second attempt, and alerts.
const MAX_ANSWER_BYTES: usize = 16 * 1024;

fuzz_target!(|input: &[u8]| {
    let [cut, bytes @ ..] = input else { return };
    let (mut client, mut plain, mut answer) = (client(), Vec::new(), Vec::new());
    for piece in bytes.chunks(1 + usize::from(*cut)) {
        let read = read_records(&mut client, piece, &mut plain);
        while client.wants_write() {
            client.write_tls(&mut answer).expect("writes into memory");
        }
        if read.is_err() {
            break;
        }
    }
    assert!(client.is_handshaking() && plain.is_empty());
    assert!(answer.len() <= MAX_ANSWER_BYTES);
});

fn client() -> ClientConnection {
    static CONFIG: OnceLock<Arc<ClientConfig>> = OnceLock::new();
    let config = CONFIG.get_or_init(|| {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider);
        let builder = builder.with_safe_default_protocol_versions().expect("versions");
        Arc::new(builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth())
    });
    let name = ServerName::try_from("localhost").expect("a name");
    ClientConnection::new(Arc::clone(config), name).expect("a client")
}
