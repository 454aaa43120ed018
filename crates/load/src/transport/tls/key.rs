//! The length of the RSA key in a certificate.
//!
//! The library refuses signatures of short keys and reports a bad signature, so the key's length is checked here as well.
//!
//! Source: RFC 5280, section 4.1 (`SubjectPublicKeyInfo`); RFC 8017, appendix A.1.1 (`RSAPublicKey`).

use super::der::{BIT_STRING, DerValues, INTEGER, OBJECT, SEQUENCE};
use rustls::pki_types::CertificateDer;
use rustls::server::ParsedCertificate;
use std::ops::RangeInclusive;

/// Lengths of keys whose signatures the library verifies. Unit: bits.
const VERIFIED_BITS: RangeInclusive<u32> = 2048..=8192;

/// `rsaEncryption` and `id-RSASSA-PSS`.
const RSA: [&[u8]; 2] =
    [&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1], &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 10]];

/// Length of a certificate's RSA key, if it is one that is not accepted. Unit: bits.
pub(super) fn refused_rsa_bits(certificate: &CertificateDer<'_>) -> Option<u32> {
    let info = ParsedCertificate::try_from(certificate).ok()?.subject_public_key_info();
    rsa_bits(&info).filter(|bits| !VERIFIED_BITS.contains(bits))
}

/// Length of the modulus of an RSA key; `None`: it is another kind of key. Unit: bits.
fn rsa_bits(info: &[u8]) -> Option<u32> {
    let mut info = DerValues(DerValues(info).take(SEQUENCE)?);
    let object = DerValues(info.take(SEQUENCE)?).take(OBJECT)?;
    if !RSA.contains(&object) {
        return None;
    }
    let (unused, key) = info.take(BIT_STRING)?.split_first()?;
    let key = DerValues(key).take(SEQUENCE).filter(|_| *unused == 0)?;
    let modulus = DerValues(key).take(INTEGER)?;
    let digits = modulus.iter().position(|byte| *byte != 0).map(|first| &modulus[first..])?;
    // A certificate is at most one message of a handshake, which is bounded.
    Some(u32::try_from(digits.len()).ok()? * 8 - digits[0].leading_zeros())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The public part of a key whose modulus has so many bits.
    fn info(bits: usize) -> Vec<u8> {
        let bytes = bits.div_ceil(8);
        let mut modulus = vec![0xff; bytes];
        modulus[0] = 0xff >> (bytes * 8 - bits);
        let integer = wrap(INTEGER, &[vec![0], modulus].concat());
        let key = wrap(SEQUENCE, &[integer, wrap(INTEGER, &[1, 0, 1])].concat());
        let algorithm = wrap(SEQUENCE, &[wrap(OBJECT, RSA[0]), vec![5, 0]].concat());
        wrap(SEQUENCE, &[algorithm, wrap(BIT_STRING, &[vec![0], key].concat())].concat())
    }

    fn wrap(tag: u8, value: &[u8]) -> Vec<u8> {
        let length = value.len();
        let head = match length {
            0..=0x7f => vec![tag, length as u8],
            0x80..=0xff => vec![tag, 0x81, length as u8],
            _ => vec![tag, 0x82, (length >> 8) as u8, length as u8],
        };
        [head, value.to_vec()].concat()
    }

    #[test]
    fn the_length_of_an_rsa_key_is_read_to_the_bit() {
        for bits in [512, 1023, 1024, 2047, 2048, 4096] {
            assert_eq!(rsa_bits(&info(bits)), Some(bits as u32));
        }
        let other = rcgen::KeyPair::generate().expect("a key on a curve");
        assert_eq!(rsa_bits(&rcgen::PublicKeyData::subject_public_key_info(&other)), None);
    }

    proptest! {
        #[test]
        fn no_bytes_break_the_reader(
            bytes in proptest::collection::vec(any::<u8>(), 0..64),
            change in any::<(prop::sample::Index, u8)>(),
        ) {
            let _ = rsa_bits(&bytes);
            let mut info = info(1024);
            let place = change.0.index(info.len());
            info[place] = change.1;
            let _ = rsa_bits(&info);
        }
    }
}
