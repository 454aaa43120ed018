//! One side of a session: its stream out, its stream in, and its signs of life.
//!
//! Pure but for the store: whoever drives it says what time it is, and sends what `tell` is given. Controller and agent are the
//! same here; what they say to each other is not.

use crate::message::{FleetMessage, MessageKind, SessionId};
use crate::stream::{ChunkStore, Incoming, Outgoing};
use std::io;
use sysdyno_record::units::MonoNs;

/// Between two signs of life. Unit: nanoseconds.
pub(crate) const BEAT_NS: u64 = 150_000_000;

/// An agent that is silent for so long although the broker answers is lost. Unit: nanoseconds.
const SILENCE_NS: u64 = 6_000_000_000;

/// The same without a broker: just less than what is above waits. Unit: nanoseconds.
const OUTAGE_NS: u64 = 14_000_000_000;

/// Longest text of why a stream has ended. Unit: characters.
const MAX_CAUSE: usize = 500;

/// Sends a message; false if it could not.
pub(crate) type Tell<'a> = dyn FnMut(&FleetMessage) -> bool + 'a;

/// One side of a session.
#[derive(Debug)]
pub(crate) struct SessionSide<S> {
    session: SessionId,
    outgoing: Outgoing<S>,
    incoming: Incoming,
    /// When a piece of the stream was last sent, which says as well that it lives.
    sent: MonoNs,
    /// When it last said that it lives.
    beaten: MonoNs,
}

impl<S: ChunkStore> SessionSide<S> {
    pub(crate) fn new(session: SessionId, outgoing: Outgoing<S>) -> SessionSide<S> {
        SessionSide { session, outgoing, incoming: Incoming::default(), sent: MonoNs(0), beaten: MonoNs(0) }
    }

    /// Takes a piece to send.
    pub(crate) fn push(&mut self, chunk: &[u8]) -> io::Result<()> {
        self.outgoing.push(chunk)
    }

    /// Sends what there is to send.
    pub(crate) fn pump(&mut self, now: MonoNs, tell: &mut Tell<'_>) {
        let (session, acknowledged) = (self.session, self.incoming.expected());
        while let Ok(Some((number, body))) = self.outgoing.take(now) {
            let message = FleetMessage { kind: MessageKind::Data, session, number, acknowledged, body };
            if !tell(&message) {
                self.outgoing.put_back(number);
                return;
            }
            self.sent = now;
        }
    }

    /// The other side has all before this piece. False if it cannot: it was never sent.
    pub(crate) fn acknowledge(&mut self, expected: u64, now: MonoNs) -> bool {
        self.outgoing.acknowledge(expected, now)
    }

    /// Whether a piece that came is the next one.
    pub(crate) fn accepts(&mut self, number: u64) -> bool {
        self.incoming.accepts(number)
    }

    /// The piece that is expected next.
    pub(crate) fn expected(&self) -> u64 {
        self.incoming.expected()
    }

    /// Says that it lives, if it is time to: by what waits to be sent, and else by a message of its own. `ended`: why its
    /// stream has ended.
    pub(crate) fn beat(&mut self, now: MonoNs, ended: Option<&str>, tell: &mut Tell<'_>) {
        if now.since(self.beaten) <= BEAT_NS {
            return;
        }
        self.pump(now, tell);
        let was_silent = self.sent <= self.beaten;
        self.beaten = now;
        let beat = FleetMessage::plain(MessageKind::Beat, self.session, self.expected());
        if let Some(cause) = ended {
            let body = cause.chars().take(MAX_CAUSE).collect::<String>().into_bytes();
            let (kind, number) = (MessageKind::Ended, self.outgoing.total());
            tell(&FleetMessage { kind, number, body, ..beat });
        } else if was_silent {
            tell(&beat);
        }
    }
}

/// Why an agent is lost, if it is: it was last heard at `heard`, and the broker answers since `connected`.
pub(crate) fn loss(now: MonoNs, heard: MonoNs, connected: Option<MonoNs>) -> Option<String> {
    let seconds = now.since(heard) / 1_000_000_000;
    match connected {
        Some(at) if now.since(at.max(heard)) > SILENCE_NS => {
            Some(format!("it was silent for {seconds} s, although the broker answers"))
        }
        _ if now.since(heard) > OUTAGE_NS => {
            Some(format!("the broker was gone, and nothing was heard for {seconds} s"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::InMemory;

    fn at(ms: u64) -> MonoNs {
        MonoNs(ms * 1_000_000)
    }

    /// The kinds of the messages that a beat sends.
    fn beat(side: &mut SessionSide<InMemory>, ms: u64, ended: Option<&str>) -> Vec<MessageKind> {
        let mut kinds = Vec::new();
        side.beat(at(ms), ended, &mut |message| {
            kinds.push(message.kind);
            true
        });
        kinds
    }

    #[test]
    fn what_is_sent_anyway_says_that_it_lives() {
        let mut side = SessionSide::new(SessionId::new(), Outgoing::new(InMemory::new(1000), 0));
        assert_eq!(beat(&mut side, 200, None), [MessageKind::Beat]);
        assert_eq!(beat(&mut side, 300, None), [], "it is not yet time");
        side.push(b"x").expect("fits");
        assert_eq!(beat(&mut side, 400, None), [MessageKind::Data]);
        assert_eq!(beat(&mut side, 600, Some("done")), [MessageKind::Ended]);
        assert!(!side.acknowledge(2, at(600)) && side.acknowledge(1, at(600)));
    }

    #[test]
    fn what_could_not_be_sent_is_sent_later() {
        let mut side = SessionSide::new(SessionId::new(), Outgoing::new(InMemory::new(1000), 0));
        side.push(b"x").expect("fits");
        side.pump(at(1), &mut |_| false);
        let mut sent = Vec::new();
        side.pump(at(2), &mut |message| {
            sent.push(message.number);
            true
        });
        assert_eq!(sent, [0]);
    }

    #[test]
    fn an_agent_is_lost_after_a_silence_that_is_longer_without_a_broker() {
        assert_eq!(loss(at(6_000), at(0), Some(at(0))), None);
        assert!(loss(at(6_001), at(0), Some(at(0))).is_some_and(|cause| cause.contains("silent for 6 s")));
        assert_eq!(loss(at(8_000), at(0), Some(at(4_000))), None, "the broker has just come back");
        assert_eq!(loss(at(13_999), at(0), None), None);
        assert!(loss(at(14_001), at(0), None).is_some_and(|cause| cause.contains("the broker was gone")));
    }
}
