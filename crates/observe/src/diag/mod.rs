//! `sock_diag`: the kernel's table of sockets, queried by netlink.
//!
//! One query is one message; the reply comes at once and is read until the kernel says that it is complete. A query changes
//! nothing. Sources: sock_diag(7); `include/uapi/linux/{netlink,sock_diag,inet_diag,unix_diag}.h`.

mod inet;
mod unix;

pub(crate) use inet::{BothFamilies, Family, InetQuestion, InetSocket, ListenerQuestion, UdpQuestion};
pub(crate) use unix::{FileId, UnixQuestion, UnixSocket};

/// The type of all questions.
pub(crate) const SOCK_DIAG_BY_FAMILY: u16 = 20;

/// The states of `include/net/tcp_states.h` that are asked for; Unix sockets have them, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SocketState {
    Established = 1,
    /// A connection that is being made, and was not answered yet.
    SynSent = 2,
    /// A connection that this end has closed, while the other one has not taken all of what was sent.
    FinWait1 = 4,
    Listen = 10,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::eventually;
    use std::collections::HashSet;
    use std::net::{TcpListener, TcpStream, UdpSocket};
    use sysdyno_netlink::NetlinkSocket;

    fn open() -> NetlinkSocket {
        NetlinkSocket::sock_diag().expect("this kernel has sock_diag")
    }

    #[test]
    fn the_queue_of_a_listener_is_told_with_its_limit() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("binds");
        let address = listener.local_addr().expect("is bound");
        let _waiting = TcpStream::connect(address).expect("connects");
        let question = InetQuestion {
            family: Family::V4,
            state: SocketState::Listen,
            port: address.port(),
            with_times: false,
        };
        let mut socket = open();
        let ask = || {
            let mut found = Vec::new();
            socket
                .list(SOCK_DIAG_BY_FAMILY, &question.encode(), |payload| {
                    found.extend(InetSocket::decode(payload));
                })
                .expect("answers");
            found
        };
        let found = eventually(ask, |found| found.iter().any(|listener| listener.receive_queue > 0));
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].local, found[0].receive_queue), (address, 1));
        assert!(found[0].send_queue >= 128, "the standard library asks for a queue of 128 or more");
    }

    #[test]
    fn one_listener_is_found_by_its_address_and_none_by_another() {
        let mut socket = open();
        for bound in ["127.0.0.1:0", "0.0.0.0:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(bound) else { continue };
            let local = listener.local_addr().expect("is bound");
            let _waiting = TcpStream::connect(local).expect("connects");
            let mut ask = || {
                let question = ListenerQuestion { local };
                let asked = socket.get_if_there(SOCK_DIAG_BY_FAMILY, &question.encode(), InetSocket::decode);
                asked.expect("is answered")
            };
            let is_waiting =
                |found: &Option<InetSocket>| found.as_ref().is_none_or(|it| it.receive_queue > 0);
            let found = eventually(&mut ask, is_waiting).expect("is found");
            assert_eq!((found.local, found.receive_queue), (local, 1));
            drop(listener);
            assert_eq!(eventually(&mut ask, Option::is_none), None, "it is gone");
        }
    }

    #[test]
    fn one_question_is_answered_by_both_families() {
        let bound = ["127.0.0.1:0", "[::1]:0"].map(TcpListener::bind);
        let clients = bound.iter().flatten().map(|listener| {
            let address = listener.local_addr().expect("is bound");
            (address, TcpStream::connect(address).expect("connects"))
        });
        let clients: Vec<_> = clients.collect();
        let mut found = Vec::new();
        let question = BothFamilies(&[SocketState::Listen, SocketState::Established]).encode();
        let add = |payload: &[u8]| found.extend(InetSocket::decode(payload));
        open().list(BothFamilies::KIND, &question, add).expect("answers");
        assert!(!clients.is_empty());
        // Of a long list that changes meanwhile, one may be told twice: sockets count, not answers.
        let count = |is_it: &dyn Fn(&InetSocket) -> bool| {
            found
                .iter()
                .filter(|socket| is_it(socket))
                .map(|socket| socket.inode)
                .collect::<HashSet<_>>()
                .len()
        };
        for (address, client) in &clients {
            assert_eq!(count(&|socket| socket.is_listening && socket.local == *address), 1, "{address}");
            let local = client.local_addr().expect("is bound");
            assert_eq!(count(&|socket| !socket.is_listening && socket.local == local), 1, "{local}");
        }
    }

    #[test]
    fn a_connected_udp_socket_is_told_and_no_other_one() {
        let bound = |connected: Option<&str>| {
            let socket = UdpSocket::bind("127.0.0.1:0").expect("binds");
            connected.into_iter().for_each(|to| socket.connect(to).expect("connects"));
            socket
        };
        let sockets = [bound(Some("127.0.0.1:53")), bound(None)];
        let mut found = Vec::new();
        let add = |payload: &[u8]| found.extend(InetSocket::decode(payload));
        open().list(SOCK_DIAG_BY_FAMILY, &UdpQuestion(Family::V4).encode(), add).expect("answers");
        let remote = sockets.map(|socket| {
            let local = socket.local_addr().expect("is bound");
            found.iter().find(|found| found.local == local).map(|found| found.remote.to_string())
        });
        assert_eq!(remote, [Some("127.0.0.1:53".to_owned()), None]);
    }

    #[test]
    fn a_wrong_question_is_an_error_of_the_kernel() {
        let mut socket = open();
        let mut body = UnixQuestion(SocketState::Listen).encode();
        body[0] = 200;
        assert!(socket.list(SOCK_DIAG_BY_FAMILY, &body, |_| {}).is_err());
        let question =
            InetQuestion { family: Family::V4, state: SocketState::Listen, port: 1, with_times: false };
        let next = socket.list(SOCK_DIAG_BY_FAMILY, &question.encode(), |_| {});
        assert!(next.is_ok(), "the next one is answered");
    }
}
