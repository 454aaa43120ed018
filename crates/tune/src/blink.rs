//! Lets the light of a network port blink, so that its cable is found.
//!
//! The kernel blinks only as long as the call lasts, so that nothing is left behind however this program ends.

use rustix::io::Errno;
use std::io;
use sysdyno_netlink::ethtool;

/// Why a port does not blink.
#[derive(Debug, thiserror::Error)]
pub enum BlinkError {
    /// There is no such interface.
    #[error(
        "cannot identify '{port}': there is no such network interface\nhint: `sysdyno facts --ports` lists them"
    )]
    Unknown {
        /// Its name, as it was typed.
        port: String,
    },
    /// Its driver has no such function.
    #[error(
        "cannot identify '{port}': its driver cannot make it blink\nhint: the MAC address that `ip link show {port}` prints is on \
         the label of many cards, and in the table of the switch"
    )]
    NotSupported {
        /// Its name.
        port: String,
    },
    /// This user may not.
    #[error("cannot identify '{port}': {source}\nhint: run it with `sudo`")]
    NotAllowed {
        /// Its name.
        port: String,
        /// The system's error.
        source: io::Error,
    },
    /// Anything else.
    #[error("cannot identify '{port}': {source}")]
    Failed {
        /// Its name.
        port: String,
        /// The system's error.
        source: io::Error,
    },
}

/// Blinks second by second for as long as `goes_on` is told a second and says so; whether all of them went by.
///
/// # Errors
/// [`BlinkError`].
pub fn blink(port: &str, seconds: u64, mut goes_on: impl FnMut(u64) -> bool) -> Result<bool, BlinkError> {
    let second =
        |second: u64| if goes_on(second) { ethtool::blink(port, 1).map(|()| true) } else { Ok(false) };
    each_second(seconds, second).map_err(|source| refused(port.to_owned(), source))
}

fn each_second(seconds: u64, mut blink: impl FnMut(u64) -> io::Result<bool>) -> io::Result<bool> {
    for second in 0..seconds {
        match blink(second) {
            Ok(true) => {}
            // The signal that ends it interrupts the call, too.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(false),
            other => return other,
        }
    }
    Ok(true)
}

fn refused(port: String, source: io::Error) -> BlinkError {
    match Errno::from_io_error(&source) {
        Some(Errno::NODEV) => BlinkError::Unknown { port },
        Some(Errno::OPNOTSUPP) => BlinkError::NotSupported { port },
        Some(Errno::PERM | Errno::ACCESS) => BlinkError::NotAllowed { port, source },
        _ => BlinkError::Failed { port, source },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_blinks_to_the_end_unless_it_is_stopped_or_refused() {
        let mut seen = Vec::new();
        let whole = each_second(3, |second| {
            seen.push(second);
            Ok(true)
        });
        assert!(whole.expect("blinks") && seen == [0, 1, 2]);
        assert!(!each_second(3, |second| Ok(second < 1)).expect("is stopped"));
        let interrupted = |_| Err(io::Error::from(io::ErrorKind::Interrupted));
        assert!(!each_second(3, interrupted).expect("is stopped"));
        let unable = each_second(3, |_| Err(Errno::OPNOTSUPP.into()));
        let said = refused("eth0".into(), unable.expect_err("cannot")).to_string();
        assert!(said.contains("its driver cannot make it blink\nhint: "), "{said}");
    }

    #[test]
    fn the_kernel_is_asked() {
        let error = blink("nosuch0", 1, |_| true).expect_err("there is none");
        assert!(matches!(error, BlinkError::Unknown { .. } | BlinkError::NotAllowed { .. }), "{error}");
        let error = blink("lo", 1, |_| true).expect_err("it has no light");
        assert!(matches!(error, BlinkError::NotSupported { .. } | BlinkError::NotAllowed { .. }), "{error}");
        let error = blink("a-name-that-is-too-long", 1, |_| true).expect_err("there is none");
        assert!(matches!(error, BlinkError::Unknown { .. }), "{error}");
    }
}
