//! `sock_diag`: the kernel's table of sockets, asked for by netlink.
//!
//! One question is one message, the answer comes at once and is read until the kernel says that it is complete.
//! Nothing is changed by asking. Sources: sock_diag(7); `include/uapi/linux/{netlink,sock_diag,inet_diag,unix_diag}.h`.

mod codec;
mod socket;

pub(crate) use codec::{
    Family, FileId, InetQuestion, InetSocket, ListenerQuestion, SocketState, UnixQuestion, UnixSocket,
};
pub(crate) use socket::DiagSocket;
