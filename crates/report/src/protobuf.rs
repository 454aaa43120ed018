//! A minimal writer of protocol buffers, for the few messages that need it. Source:
//! <https://protobuf.dev/programming-guides/encoding/>.

/// A protocol buffer that is being written.
#[derive(Default)]
pub(crate) struct ProtoMessage(Vec<u8>);

impl ProtoMessage {
    /// The bytes written so far.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    pub(crate) fn number(&mut self, field: u64, value: u64) {
        self.varint(field << 3);
        self.varint(value);
    }

    pub(crate) fn double(&mut self, field: u64, value: f64) {
        self.fixed(field, value.to_bits());
    }

    /// A number that always takes eight bytes.
    pub(crate) fn fixed(&mut self, field: u64, value: u64) {
        self.varint(field << 3 | 1);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub(crate) fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    pub(crate) fn message(&mut self, field: u64, message: &ProtoMessage) {
        self.bytes(field, &message.0);
    }

    pub(crate) fn packed(&mut self, field: u64, values: impl Iterator<Item = u64>) {
        let mut packed = ProtoMessage::default();
        values.for_each(|value| packed.varint(value));
        self.message(field, &packed);
    }

    /// Numbers, or the bits of doubles, that take eight bytes each.
    pub(crate) fn packed_fixed(&mut self, field: u64, values: impl Iterator<Item = u64>) {
        let packed = values.flat_map(u64::to_le_bytes).collect::<Vec<u8>>();
        self.bytes(field, &packed);
    }
}

#[cfg(test)]
mod tests {
    use super::ProtoMessage;

    #[test]
    fn numbers_are_written_in_groups_of_seven_bits() {
        let mut message = ProtoMessage::default();
        message.number(1, 150);
        message.bytes(2, b"testing");
        message.packed(4, [3, 270, 86_942].into_iter());
        // The examples of the specification.
        let expected = [
            &[0x08, 0x96, 0x01][..],
            &[0x12, 0x07, 0x74, 0x65, 0x73, 0x74, 0x69, 0x6e, 0x67],
            &[0x22, 0x06, 0x03, 0x8e, 0x02, 0x9e, 0xa7, 0x05],
        ];
        assert_eq!(message.as_bytes(), expected.concat());
    }

    #[test]
    fn a_double_has_its_eight_bytes_the_least_first() {
        let mut message = ProtoMessage::default();
        message.double(1, 1.0);
        assert_eq!(message.as_bytes(), [0x09, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f]);
    }
}
