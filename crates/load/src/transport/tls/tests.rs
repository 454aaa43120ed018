//! Records whose bytes were changed in transit, without sockets.

use super::read_records;
use proptest::prelude::*;
use rustls::pki_types::{PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection};
use std::io::Write;
use std::sync::{Arc, OnceLock};

/// Configurations of both ends, made once.
fn ends() -> &'static (Arc<ClientConfig>, Arc<ServerConfig>) {
    static ENDS: OnceLock<(Arc<ClientConfig>, Arc<ServerConfig>)> = OnceLock::new();
    ENDS.get_or_init(|| {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
        let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).expect("a key");
        let mut roots = RootCertStore::empty();
        roots.add(made.cert.der().clone()).expect("a root");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let client = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_root_certificates(roots)
            .with_no_client_auth();
        let server = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .expect("fits together");
        (Arc::new(client), Arc::new(server))
    })
}

fn client() -> ClientConnection {
    let name = ServerName::try_from("localhost").expect("a name");
    ClientConnection::new(Arc::clone(&ends().0), name).expect("a client")
}

/// Two ends that have shaken hands.
fn pair() -> (ClientConnection, ServerConnection) {
    let mut client = client();
    let mut server = ServerConnection::new(Arc::clone(&ends().1)).expect("a server");
    let mut plain = Vec::new();
    while client.is_handshaking() || server.is_handshaking() {
        let (mut up, mut down) = (Vec::new(), Vec::new());
        while client.wants_write() {
            client.write_tls(&mut up).expect("writes into memory");
        }
        let mut rest = up.as_slice();
        while !rest.is_empty() {
            server.read_tls(&mut rest).expect("reads from memory");
            server.process_new_packets().expect("is a client");
        }
        while server.wants_write() {
            server.write_tls(&mut down).expect("writes into memory");
        }
        read_records(&mut client, &down, &mut plain).expect("is a server");
    }
    assert_eq!(plain, b"");
    (client, server)
}

/// What a server says in records, and its farewell.
fn enciphered(server: &mut ServerConnection, texts: &[Vec<u8>]) -> Vec<u8> {
    let mut records = Vec::new();
    for text in texts {
        server.writer().write_all(text).expect("writes into memory");
        while server.wants_write() {
            server.write_tls(&mut records).expect("writes into memory");
        }
    }
    server.send_close_notify();
    server.write_tls(&mut records).expect("writes into memory");
    records
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_read_is_what_was_said_as_far_as_it_is_whole(
        texts in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..3000), 1..6),
        step in 1usize..9000,
        change in proptest::option::of((any::<prop::sample::Index>(), 1u8..)),
        cut in proptest::option::of(any::<prop::sample::Index>()),
    ) {
        let (mut client, mut server) = pair();
        let mut records = enciphered(&mut server, &texts);
        let (said, whole) = (texts.concat(), records.len());
        if let Some((place, bits)) = change {
            let place = place.index(whole);
            records[place] ^= bits;
        }
        records.truncate(cut.map_or(whole, |cut| cut.index(whole)));
        let mut plain = Vec::new();
        let mut pieces = records.chunks(step);
        let result = pieces.try_fold(false, |_, piece| read_records(&mut client, piece, &mut plain));
        prop_assert!(said.starts_with(&plain));
        if change.is_none() {
            prop_assert_eq!(result, Ok(cut.is_none()));
            prop_assert!(cut.is_some() || plain == said);
        } else if result == Ok(true) {
            // A change costs the connection its end, but in the version in the head of a record, which says nothing.
            prop_assert_eq!(plain, said);
        }
    }

    #[test]
    fn bytes_that_are_no_handshake_are_refused_or_awaited(
        bytes in prop_oneof![
            proptest::collection::vec(any::<u8>(), 0..2000),
            (proptest::sample::select(vec![20u8, 21, 22, 23]), proptest::collection::vec(any::<u8>(), 0..2000)).prop_map(
                |(kind, payload)| {
                    let length = u16::try_from(payload.len()).expect("short").to_be_bytes();
                    [&[kind, 3, 3][..], &length, &payload].concat()
                }
            ),
        ],
        step in 1usize..300,
    ) {
        let (mut client, mut plain) = (client(), Vec::new());
        let _ = bytes.chunks(step).try_for_each(|piece| read_records(&mut client, piece, &mut plain).map(drop));
        prop_assert!(client.is_handshaking() && plain.is_empty());
    }
}
