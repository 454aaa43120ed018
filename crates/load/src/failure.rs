//! Which failure class an error of a socket belongs to.

use rustix::io::Errno;
use sysdyno_record::load::FailureClass;

/// The class of an error while a connection is being established.
pub(crate) fn of_connect(errno: Errno) -> FailureClass {
    match errno {
        Errno::CONNREFUSED | Errno::NOENT => FailureClass::ConnectRefused,
        Errno::TIMEDOUT => FailureClass::ConnectTimeout,
        Errno::CONNRESET | Errno::CONNABORTED => FailureClass::ConnectReset,
        Errno::HOSTUNREACH | Errno::NETUNREACH | Errno::NETDOWN => FailureClass::ConnectUnreachable,
        // A Unix socket whose queue is full, or a TCP connect without a free port.
        Errno::AGAIN => FailureClass::ConnectRefused,
        other => of_exchange(other),
    }
}

/// The class of an error on an established connection, or of a local one.
pub(crate) fn of_exchange(errno: Errno) -> FailureClass {
    match errno {
        Errno::CONNRESET | Errno::PIPE | Errno::CONNABORTED | Errno::NOTCONN => FailureClass::Reset,
        Errno::TIMEDOUT | Errno::HOSTUNREACH | Errno::NETUNREACH => FailureClass::ConnectUnreachable,
        Errno::MFILE | Errno::NFILE => FailureClass::LocalFdLimit,
        Errno::ADDRNOTAVAIL | Errno::ADDRINUSE => FailureClass::LocalPorts,
        Errno::NOBUFS | Errno::NOMEM => FailureClass::LocalBuffers,
        _ => FailureClass::LocalOther,
    }
}
