//! Keys as NATS writes them: Ed25519 in base32 with a prefix that says whose key it is, and a checksum.
//!
//! Source: the NATS documentation, "NKeys": a public key is prefix, 32 bytes, CRC-16 (XMODEM, least byte first); a seed has a
//! first byte `S` whose low bits are the top of the prefix of its public key. All of it in base32 without padding.

use ring::rand::{SecureRandom, SystemRandom};
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use std::fmt;

/// Prefix of a user's public key: 'U'.
const USER: u8 = 20 << 3;

/// Prefix of a seed: 'S'.
const SEED: u8 = 18 << 3;

const ALPHABET: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// Bytes of a signature.
pub const SIGNATURE_BYTES: usize = 64;

/// Random bytes, for keys, sessions, and challenges.
///
/// # Panics
/// If the kernel has no randomness, without which no key is one.
pub(crate) fn random<const COUNT: usize>() -> [u8; COUNT] {
    let mut bytes = [0; COUNT];
    SystemRandom::new().fill(&mut bytes).expect("the kernel has randomness");
    bytes
}

/// A key with which its owner logs in and signs.
pub struct SigningKey {
    seed: [u8; 32],
    pair: Ed25519KeyPair,
}

impl SigningKey {
    /// A new key.
    pub fn generate() -> SigningKey {
        SigningKey::of(random()).expect("any 32 bytes are a seed")
    }

    fn of(seed: [u8; 32]) -> Option<SigningKey> {
        let pair = Ed25519KeyPair::from_seed_unchecked(&seed).ok()?;
        Some(SigningKey { seed, pair })
    }

    /// The key of a seed; `None`: it is none of a user.
    pub fn from_seed(text: &str) -> Option<SigningKey> {
        let bytes = checked(text)?;
        let (first, second, seed) = (bytes.first()?, bytes.get(1)?, bytes.get(2..)?);
        let is_user = first & 0xf8 == SEED && (first & 7) << 5 | (second & 0xf8) >> 3 == USER;
        is_user.then(|| SigningKey::of(seed.try_into().ok()?)).flatten()
    }

    /// The seed, which is the secret itself.
    pub fn seed(&self) -> String {
        let mut bytes = vec![SEED | USER >> 5, (USER & 31) << 3];
        bytes.extend_from_slice(&self.seed);
        with_checksum(bytes)
    }

    /// The public half.
    pub fn public(&self) -> PublicKey {
        let mut key = [0; 32];
        key.copy_from_slice(self.pair.public_key().as_ref());
        PublicKey(key)
    }

    /// Signs a message.
    pub fn sign(&self, message: &[u8]) -> [u8; SIGNATURE_BYTES] {
        let mut signature = [0; SIGNATURE_BYTES];
        signature.copy_from_slice(self.pair.sign(message).as_ref());
        signature
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "SigningKey of {}", self.public())
    }
}

/// A public key of a user: of an agent or a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PublicKey([u8; 32]);

impl PublicKey {
    /// The key of a text; `None`: it is none of a user.
    pub fn parse(text: &str) -> Option<PublicKey> {
        let bytes = checked(text)?;
        let (prefix, key) = bytes.split_first()?;
        (*prefix == USER).then(|| key.try_into().ok().map(PublicKey)).flatten()
    }

    /// Whether this key's owner has signed a message.
    pub fn has_signed(&self, message: &[u8], signature: &[u8]) -> bool {
        UnparsedPublicKey::new(&ED25519, self.0).verify(message, signature).is_ok()
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = vec![USER];
        bytes.extend_from_slice(&self.0);
        out.write_str(&with_checksum(bytes))
    }
}

fn with_checksum(mut bytes: Vec<u8>) -> String {
    bytes.extend(crc16(&bytes).to_le_bytes());
    encode(&bytes)
}

/// What a text holds without its checksum; `None`: that is wrong.
fn checked(text: &str) -> Option<Vec<u8>> {
    let mut bytes = decode(text.trim())?;
    let at = bytes.len().checked_sub(2)?;
    let sum = [bytes[at], bytes[at + 1]];
    bytes.truncate(at);
    (crc16(&bytes).to_le_bytes() == sum).then_some(bytes)
}

/// CRC-16/XMODEM.
fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |sum, byte| {
        (0..8).fold(
            sum ^ u16::from(*byte) << 8,
            |sum: u16, _| {
                if sum & 0x8000 == 0 { sum << 1 } else { sum << 1 ^ 0x1021 }
            },
        )
    })
}

fn encode(bytes: &[u8]) -> String {
    let (mut text, mut bits, mut count) = (String::new(), 0u32, 0);
    for byte in bytes {
        bits = bits << 8 | u32::from(*byte);
        count += 8;
        while count >= 5 {
            count -= 5;
            text.push(char::from(ALPHABET[(bits >> count & 31) as usize]));
        }
        bits &= (1 << count) - 1;
    }
    if count > 0 {
        text.push(char::from(ALPHABET[(bits << (5 - count) & 31) as usize]));
    }
    text
}

fn decode(text: &str) -> Option<Vec<u8>> {
    let (mut bytes, mut bits, mut count) = (Vec::new(), 0u32, 0);
    for letter in text.bytes().take(256) {
        let value = ALPHABET.iter().position(|known| *known == letter)?;
        bits = bits << 5 | value as u32;
        count += 5;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
        bits &= (1 << count) - 1;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_as_the_tools_of_nats_write_them() {
        // The example of the NATS documentation, made with `nk -gen user -pubout`.
        let seed = "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY";
        let public = "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4";
        let key = SigningKey::from_seed(seed).expect("is a seed");
        assert_eq!(key.public().to_string(), public);
        assert_eq!(key.seed(), seed);
        assert_eq!(PublicKey::parse(public), Some(key.public()));
    }

    #[test]
    fn a_new_key_comes_back_from_its_seed_and_signs() {
        let key = SigningKey::generate();
        let again = SigningKey::from_seed(&key.seed()).expect("is a seed");
        let signature = again.sign(b"message");
        assert!(key.public().has_signed(b"message", &signature));
        assert!(!key.public().has_signed(b"messagE", &signature));
        assert!(!SigningKey::generate().public().has_signed(b"message", &signature));
        assert!(key.seed().starts_with("SU") && key.public().to_string().starts_with('U'));
        assert!(!format!("{key:?}").contains(&key.seed()));
    }

    #[test]
    fn what_is_damaged_or_of_another_kind_is_no_key() {
        let public = SigningKey::generate().public().to_string();
        let mut damaged = public.clone();
        damaged.replace_range(5..6, if &public[5..6] == "A" { "B" } else { "A" });
        for text in ["", "U", &damaged, &public[1..], "1", &"A".repeat(1000)] {
            assert_eq!(PublicKey::parse(text), None, "{text}");
            assert!(SigningKey::from_seed(text).is_none(), "{text}");
        }
        assert!(SigningKey::from_seed(&public).is_none());
    }
}
