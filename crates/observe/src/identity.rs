//! Identifies the kernel and the clock: do two processes read the same counters and the same time?

use crate::error::ObserveError;
use crate::roots::Roots;
use crate::source::read_once;

/// What two processes must have in common to be on one machine, and to read one clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Drawn by the kernel when it was booted. Source: `/proc/sys/kernel/random/boot_id`.
    pub boot_id: String,
    /// The time namespace, which may shift `CLOCK_MONOTONIC`; empty where the kernel has none.
    /// Source: `/proc/self/ns/time`.
    pub time_namespace: String,
}

/// The identity of this process's kernel and clock.
///
/// *Errors*: the kernel does not tell.
pub fn identity(roots: &Roots) -> Result<Identity, ObserveError> {
    let mut buffer = Vec::new();
    let text = read_once(&roots.in_proc("sys/kernel/random/boot_id"), &mut buffer)?;
    let boot_id = String::from_utf8_lossy(text.trim_ascii()).into_owned();
    let link = std::fs::read_link(roots.in_proc("self/ns/time"));
    let time_namespace = link.map(|link| link.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(Identity { boot_id, time_namespace })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_stays_the_same_and_names_the_boot() {
        let first = identity(&Roots::host()).expect("is told");
        assert_eq!(first.boot_id.len(), 36, "{first:?}");
        assert_eq!(identity(&Roots::host()).expect("is told"), first);
    }
}
