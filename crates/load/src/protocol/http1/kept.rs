//! The parts of a response that are kept until the next one arrives, so that values can be taken from them.

/// The head of a response, and the beginning of its body.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept {
    /// The final head, with a line for each field, as HTTP/1 writes it.
    pub head: Vec<u8>,
    /// As much of the body as the rules ask for.
    pub body: Vec<u8>,
}

impl Kept {
    /// Forgets a response.
    pub(crate) fn clear(&mut self) {
        self.head.clear();
        self.body.clear();
    }

    /// Keeps of a body what there is room for, in so many bytes.
    pub(crate) fn take_body(&mut self, data: &[u8], most_bytes: usize) {
        let room = most_bytes.saturating_sub(self.body.len());
        self.body.extend_from_slice(&data[..data.len().min(room)]);
    }
}
