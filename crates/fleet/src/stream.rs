//! A stream of bytes over messages that may be lost, doubled, or late: numbered chunks, and going back to the first one that
//! is missing.
//!
//! ```text
//!   push ─► store ─► in flight, at most a window ─► message ─► Incoming: in order, once
//!              ▲                                                   │
//!              └────────── acknowledged: released ◄────────────────┘
//! ```
//! Pure but for the store: whoever drives it says what time it is. Nothing is released before the other side has said that it
//! has it, so that whatever is lost on the way, with a broker that restarts for example, is sent again.

use std::collections::VecDeque;
use std::io;
use sysdyno_record::units::MonoNs;

/// Chunks that may be on their way at once.
const WINDOW: u64 = 32;

/// How long a chunk may take to be acknowledged before it is sent again. Unit: nanoseconds.
const RESEND_NS: u64 = 500_000_000;

/// Where chunks are kept until the other side has them.
pub(crate) trait ChunkStore {
    /// Keeps a chunk; they have numbers from 0.
    fn append(&mut self, chunk: &[u8]) -> io::Result<()>;

    /// The chunk with this number, which is kept.
    fn read(&mut self, number: u64) -> io::Result<Vec<u8>>;

    /// Chunks before this one are not asked for again.
    fn release(&mut self, before: u64);
}

/// The sending side of a stream.
#[derive(Debug)]
pub(crate) struct Outgoing<S> {
    store: S,
    /// Chunks that were pushed.
    total: u64,
    /// The next one to send.
    next: u64,
    /// All before this one have arrived.
    acknowledged: u64,
    /// When it last went on.
    progress: MonoNs,
}

impl<S: ChunkStore> Outgoing<S> {
    /// A stream whose store holds so many chunks already.
    pub(crate) fn new(store: S, total: u64) -> Outgoing<S> {
        Outgoing { store, total, next: 0, acknowledged: 0, progress: MonoNs(0) }
    }

    /// Takes the next chunk.
    pub(crate) fn push(&mut self, chunk: &[u8]) -> io::Result<()> {
        self.store.append(chunk)?;
        self.total += 1;
        Ok(())
    }

    /// The chunk to send next, if there is one and the window is open.
    pub(crate) fn take(&mut self, now: MonoNs) -> io::Result<Option<(u64, Vec<u8>)>> {
        if self.next >= self.total || self.next >= self.acknowledged + WINDOW {
            return Ok(None);
        }
        if self.next == self.acknowledged {
            self.progress = now;
        }
        let (number, chunk) = (self.next, self.store.read(self.next)?);
        self.next += 1;
        Ok(Some((number, chunk)))
    }

    /// A chunk could not be sent after all.
    pub(crate) fn put_back(&mut self, number: u64) {
        self.next = self.next.min(number).max(self.acknowledged);
    }

    /// The other side expects this chunk next. False if it cannot: it was never sent.
    pub(crate) fn acknowledge(&mut self, expected: u64, now: MonoNs) -> bool {
        if expected > self.total {
            return false;
        }
        if expected > self.acknowledged {
            self.acknowledged = expected;
            self.next = self.next.max(expected);
            self.progress = now;
            self.store.release(expected);
        } else if self.next > self.acknowledged && now.since(self.progress) > RESEND_NS {
            self.next = self.acknowledged;
        }
        true
    }

    pub(crate) fn total(&self) -> u64 {
        self.total
    }
}

/// The receiving side of a stream.
#[derive(Debug, Default)]
pub(crate) struct Incoming {
    expected: u64,
}

impl Incoming {
    /// Whether a chunk is the next one; any other one is dropped.
    pub(crate) fn accepts(&mut self, number: u64) -> bool {
        let is_next = number == self.expected;
        self.expected += u64::from(is_next);
        is_next
    }

    /// The chunk that is expected next.
    pub(crate) fn expected(&self) -> u64 {
        self.expected
    }
}

/// Keeps chunks in memory.
#[derive(Debug)]
pub(crate) struct InMemory {
    chunks: VecDeque<Vec<u8>>,
    first: u64,
    bytes: usize,
    max_bytes: usize,
}

impl InMemory {
    pub(crate) fn new(max_bytes: usize) -> InMemory {
        InMemory { chunks: VecDeque::new(), first: 0, bytes: 0, max_bytes }
    }
}

impl ChunkStore for InMemory {
    fn append(&mut self, chunk: &[u8]) -> io::Result<()> {
        self.bytes += chunk.len();
        if self.bytes > self.max_bytes {
            return Err(io::Error::other("too much is waiting for the other side"));
        }
        self.chunks.push_back(chunk.to_vec());
        Ok(())
    }

    fn read(&mut self, number: u64) -> io::Result<Vec<u8>> {
        let at = number.checked_sub(self.first).and_then(|at| self.chunks.get(at as usize));
        at.cloned().ok_or_else(|| io::Error::other("a chunk is not there any more"))
    }

    fn release(&mut self, before: u64) {
        while self.first < before {
            let Some(chunk) = self.chunks.pop_front() else { break };
            self.bytes -= chunk.len();
            self.first += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn outgoing() -> Outgoing<InMemory> {
        Outgoing::new(InMemory::new(1 << 20), 0)
    }

    #[test]
    fn what_was_lost_is_sent_again_after_a_while() {
        let (mut sender, mut receiver) = (outgoing(), Incoming::default());
        for number in 0..3u8 {
            sender.push(&[number]).expect("fits");
        }
        let at = MonoNs(1_000);
        assert_eq!(sender.take(at).expect("reads"), Some((0, vec![0])));
        assert!(receiver.accepts(0));
        // The second one is lost, the third one comes too early.
        assert_eq!(sender.take(at).expect("reads"), Some((1, vec![1])));
        assert_eq!(sender.take(at).expect("reads"), Some((2, vec![2])));
        assert!(!receiver.accepts(2));
        assert!(sender.acknowledge(receiver.expected(), at));
        assert_eq!(sender.take(at).expect("reads"), None);
        assert!(sender.acknowledge(1, MonoNs(at.0 + RESEND_NS)) && sender.take(at).expect("reads").is_none());
        let late = MonoNs(at.0 + RESEND_NS + 1);
        assert!(sender.acknowledge(1, late));
        assert_eq!(sender.take(late).expect("reads"), Some((1, vec![1])));
        assert!(!sender.acknowledge(9, late), "acknowledges what was never sent");
    }

    #[test]
    fn a_window_bounds_what_is_on_its_way_and_the_store_what_waits() {
        let mut sender = Outgoing::new(InMemory::new(100), 0);
        (0..100).for_each(|_| sender.push(b"x").expect("fits"));
        assert!(sender.push(b"x").is_err());
        let mut sent = 0;
        while sender.take(MonoNs(0)).expect("reads").is_some() {
            sent += 1;
        }
        assert_eq!(sent, WINDOW);
        sender.put_back(WINDOW - 1);
        assert_eq!(sender.take(MonoNs(0)).expect("reads"), Some((WINDOW - 1, b"x".to_vec())));
    }

    proptest! {
        /// Whatever is lost, doubled, or late: what arrives is what was sent.
        #[test]
        fn a_stream_survives_any_loss(
            fates in proptest::collection::vec(0..4u8, 0..200),
            count in 1..60u8,
        ) {
            let (mut sender, mut receiver, mut got) = (outgoing(), Incoming::default(), Vec::new());
            (0..count).for_each(|number| sender.push(&[number]).expect("fits"));
            let (mut fates, mut now, mut late) = (fates.into_iter(), MonoNs(1), Vec::new());
            for _ in 0..2_000 {
                now = MonoNs(now.0 + RESEND_NS / 3);
                let mut arriving = std::mem::take(&mut late);
                while let Some((number, chunk)) = sender.take(now).expect("reads") {
                    match fates.next().unwrap_or(0) {
                        0 => arriving.push((number, chunk)),
                        1 => {}
                        2 => arriving.extend([(number, chunk.clone()), (number, chunk)]),
                        _ => late.push((number, chunk)),
                    }
                }
                for (number, chunk) in arriving {
                    if receiver.accepts(number) {
                        got.extend(chunk);
                    }
                }
                prop_assert!(sender.acknowledge(receiver.expected(), now));
            }
            prop_assert_eq!(sender.acknowledged, sender.total);
            prop_assert_eq!(got, (0..count).collect::<Vec<u8>>());
        }
    }
}
