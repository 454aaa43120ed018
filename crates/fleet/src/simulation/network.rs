//! Broker and networks: every message takes a while, is lost at times, and shares the controller's link with all others.

use super::dice::Dice;
use sysdyno_record::units::MonoNs;

/// What a message of NATS has besides its payload, subject included: `MSG SUBJECT 1 LENGTH`. Unit: bytes.
const FRAME_BYTES: u64 = 90;

/// What a network is like.
#[derive(Clone, Copy, Debug)]
pub(super) struct NetworkKind {
    /// Shortest and longest time of a message to the broker, or from it. Unit: nanoseconds.
    pub(super) hop_ns: [u64; 2],
    /// Probability that a message is lost.
    pub(super) loss: f64,
    /// Bytes per second of the link between controller and broker, in each direction.
    pub(super) link_bytes_per_s: f64,
}

/// Which way a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    ToAgent,
    ToController,
}

/// A network with what went through it.
#[derive(Debug)]
pub(super) struct Network {
    kind: NetworkKind,
    dice: Dice,
    /// Until when the controller's link is in use, by direction. Unit: nanoseconds.
    busy_until: [f64; 2],
    /// What the broker has received and sent. Unit: bytes.
    pub(super) bytes: u64,
    pub(super) messages: u64,
}

impl Network {
    pub(super) fn new(kind: NetworkKind, seed: u64) -> Network {
        Network { kind, dice: Dice::new(seed), busy_until: [0.0; 2], bytes: 0, messages: 0 }
    }

    /// When a message arrives; `None`: it does not.
    pub(super) fn carries(&mut self, length: usize, way: Way, now: MonoNs) -> Option<MonoNs> {
        let bytes = length as u64 + FRAME_BYTES;
        self.messages += 1;
        self.bytes += bytes;
        if self.dice.happens(self.kind.loss) {
            return None;
        }
        self.bytes += bytes;
        let [low, high] = self.kind.hop_ns;
        let (first, second) = (self.dice.between(low, high), self.dice.between(low, high));
        let takes = bytes as f64 / self.kind.link_bytes_per_s * 1e9;
        let busy = &mut self.busy_until[usize::from(way == Way::ToController)];
        // The controller's link is the first hop of what it says, and the second of what it hears.
        let reaches = match way {
            Way::ToAgent => now.0,
            Way::ToController => now.0 + first,
        };
        *busy = busy.max(reaches as f64) + takes;
        let through = *busy as u64;
        let rest = if way == Way::ToAgent { first + second } else { second };
        Some(MonoNs(through + rest))
    }
}
