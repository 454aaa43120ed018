//! An interface's settings as `ethtool` reports them: rings, channels, coalescing, offloads. Only read-only requests are
//! sent.

use super::sheet::{Answer, Sheet};
use sysdyno_netlink::ethtool::{
    CHANNELS_GET, COALESCE_GET, DeviceId, Ethtool, FEATURES_ACTIVE, FEATURES_GET, RINGS_GET, bits,
};
use sysdyno_netlink::{find, number};

/// A question, and the facts in its answer: numbers, and flags that are 0 or 1.
struct Question {
    command: u8,
    numbers: &'static [(u16, &'static str)],
    flags: &'static [(u16, &'static str)],
}

const QUESTIONS: &[Question] = &[
    Question {
        command: RINGS_GET,
        numbers: &[
            (2, "ring_rx_max_descriptors"),
            (5, "ring_tx_max_descriptors"),
            (6, "ring_rx_descriptors"),
            (9, "ring_tx_descriptors"),
        ],
        flags: &[],
    },
    Question {
        command: CHANNELS_GET,
        numbers: &[
            (2, "channels_rx_max_count"),
            (3, "channels_tx_max_count"),
            (5, "channels_combined_max_count"),
            (6, "channels_rx_count"),
            (7, "channels_tx_count"),
            (9, "channels_combined_count"),
        ],
        flags: &[],
    },
    Question {
        command: COALESCE_GET,
        numbers: &[
            (2, "coalesce_rx_us"),
            (3, "coalesce_rx_packets"),
            (6, "coalesce_tx_us"),
            (7, "coalesce_tx_packets"),
        ],
        flags: &[(11, "coalesce_rx_is_adaptive"), (12, "coalesce_tx_is_adaptive")],
    },
];

/// The kernel's ethtool, or why it cannot be asked.
pub(super) struct Devices(Answer<Ethtool>);

impl Devices {
    /// Opens the socket, in the network namespace of this thread. `is_host`: it belongs to what is described.
    pub(super) fn open(is_host: bool) -> Devices {
        if !is_host {
            return Devices(Err("a recorded tree does not have it".to_owned()));
        }
        Devices(Ethtool::open().map_err(|error| format!("cannot ask ethtool: {error}")))
    }

    /// Writes the facts of one interface.
    pub(super) fn read(&mut self, sheet: &mut Sheet<'_>, name: &str) {
        for question in QUESTIONS {
            let answer = self.ask(question.command, name);
            let value = |kind: u16| {
                let value = find(answer.as_ref().map_err(Clone::clone)?, kind).and_then(number);
                value.ok_or_else(|| "its driver does not report it".to_owned())
            };
            for (kind, fact) in question.numbers {
                sheet.number(format!("nic.{name}.{fact}"), value(*kind).map(f64::from));
            }
            for (kind, fact) in question.flags {
                let word = value(*kind).map(|flag| if flag == 0 { "no" } else { "yes" }.to_owned());
                sheet.text(format!("nic.{name}.{fact}"), word);
            }
        }
        let features = self.ask(FEATURES_GET, name);
        sheet.text(format!("nic.{name}.offloads"), features.map(|answer| active_features(&answer)));
    }

    fn ask(&mut self, command: u8, name: &str) -> Answer<Vec<u8>> {
        let ethtool = self.0.as_mut().map_err(|reason| reason.clone())?;
        let answer = ethtool.get(command, DeviceId::Name(name));
        answer.map_err(|error| format!("ethtool does not report it: {error}"))
    }
}

/// Names of the features that are in force, sorted.
fn active_features(answer: &[u8]) -> String {
    let active = bits(answer, FEATURES_ACTIVE).into_iter().filter(|(_, is_on)| *is_on);
    let mut names: Vec<&str> = active.map(|(name, _)| name).collect();
    names.sort_unstable();
    names.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roots::Roots;

    #[test]
    fn the_loopback_tells_its_offloads() {
        let roots = Roots::host();
        let mut sheet = Sheet::new(&roots);
        let mut devices = Devices::open(true);
        devices.read(&mut sheet, "lo");
        devices.read(&mut sheet, "no-such-device");
        let facts = sheet.into_facts();
        if let Err(reason) = devices.0 {
            assert!(reason.starts_with("cannot ask ethtool: "), "{reason}");
            return;
        }
        assert!(facts.text("nic.lo.offloads").is_some_and(|offloads| offloads.contains("loopback")));
        assert_eq!(facts.number("nic.lo.ring_rx_descriptors"), None);
        assert_eq!(facts.text("nic.no-such-device.offloads"), None);
    }
}
