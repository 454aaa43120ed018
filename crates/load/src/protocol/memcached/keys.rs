//! All keys and values of a plan, computed from a key's number.

use super::{MAX_KEY_BYTES, size};
use sysdyno_record::wire::{MemcachedPlan, SizeModel};

/// Values of the same length begin at so many different places of the pool.
const PLACES_COUNT: usize = 4096;

/// The keys of a plan, and their values.
#[derive(Clone, Debug)]
pub struct Keys {
    count: u64,
    /// Digits of the greatest number.
    digits: usize,
    key_size: SizeModel,
    value_size: SizeModel,
    salt: u64,
    /// What all values are pieces of.
    pool: Box<[u8]>,
}

impl Keys {
    /// The keys of a plan; the same for the same seed.
    pub fn new(plan: &MemcachedPlan, seed: u64) -> Keys {
        let salt = mix(seed);
        let length = size::max_value_bytes(plan.value_size) + PLACES_COUNT;
        let letter = |place: usize| b'a' + (mix(salt ^ place as u64) % 26) as u8;
        Keys {
            count: plan.keys_count,
            digits: plan.keys_count.saturating_sub(1).max(1).ilog10() as usize + 1,
            key_size: plan.key_size,
            value_size: plan.value_size,
            salt,
            pool: (0..length).map(letter).collect(),
        }
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Writes the text of a key: its number, with zeros in front.
    pub fn write(&self, number: u64, out: &mut Vec<u8>) {
        let length = size::key_bytes(self.key_size, uniform(mix(self.salt ^ number)));
        let length = length.clamp(self.digits, MAX_KEY_BYTES);
        let start = out.len();
        out.resize(start + length, b'0');
        let mut rest = number;
        for digit in out[start..].iter_mut().rev() {
            if rest == 0 {
                break;
            }
            *digit = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
    }

    /// The number of a key's text; `None` for a text that is none of the keys.
    pub fn parse(&self, text: &[u8]) -> Option<u64> {
        // In front of the digits that the greatest number has there are zeros only, which are looked at all at once.
        let (front, digits) = text.split_at(text.len().saturating_sub(self.digits));
        if text.is_empty() || front.iter().fold(0, |odd, byte| odd | (byte ^ b'0')) != 0 {
            return None;
        }
        let digit = |number: u64, byte: &u8| {
            let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
            number.checked_mul(10)?.checked_add(digit)
        };
        let number = digits.iter().try_fold(0, digit)?;
        (number < self.count).then_some(number)
    }

    /// The value of a key.
    pub fn value(&self, number: u64) -> &[u8] {
        let hash = mix(mix(self.salt ^ number));
        let length = size::value_bytes(self.value_size, uniform(hash));
        let place = (hash & (PLACES_COUNT as u64 - 1)) as usize;
        &self.pool[place..place + length]
    }
}

/// A number between 0 and 1, both excluded, from the upper bits of a hash.
fn uniform(hash: u64) -> f64 {
    ((hash >> 12) as f64 + 0.5) / (1u64 << 52) as f64
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
fn mix(value: u64) -> u64 {
    let mut mixed = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::super::decoder::tests::plan;
    use super::*;

    #[test]
    fn a_key_and_its_value_follow_from_its_number_and_the_seed() {
        let plan = MemcachedPlan { keys_count: 1000, value_size: SizeModel::Etc, ..plan() };
        let keys = Keys::new(&plan, 7);
        let text = |keys: &Keys, number| {
            let mut text = Vec::new();
            keys.write(number, &mut text);
            text
        };
        for number in [0, 1, 42, 999] {
            let text = text(&keys, number);
            assert!(text.len() >= 3 && keys.parse(&text) == Some(number), "{text:?}");
            assert_eq!(keys.value(number), Keys::new(&plan, 7).value(number));
        }
        assert!((0..100).any(|number| keys.value(number) != Keys::new(&plan, 8).value(number)));
        assert_eq!(keys.parse(b"00000000000000000000000000000000042"), Some(42));
        for foreign in ["", "1000", "x1", "x001", "1 042", "00000042x", "99999999999999999999999"] {
            assert_eq!(keys.parse(foreign.as_bytes()), None, "{foreign}");
        }
    }
}
