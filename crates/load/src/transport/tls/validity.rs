//! The validity period of a certificate, for certificates that the library does not judge.
//!
//! Source: RFC 5280, section 4.1.2.5 (`Validity`), which leaves one form for each of the two kinds of time.

use super::der::{DerValue, DerValues, GENERALIZED_TIME, INTEGER, SEQUENCE, UTC_TIME};
use crate::date::days_since_1970;
use rustls::pki_types::CertificateDer;
use std::ops::RangeInclusive;

/// The tag of the version, which comes first where there is one.
const VERSION: u8 = 0xa0;

/// When a certificate is valid; `None`: it does not say so. Unit: seconds since 1970.
pub(super) fn validity(certificate: &CertificateDer<'_>) -> Option<RangeInclusive<i64>> {
    let signed = DerValues(certificate).take(SEQUENCE)?;
    let mut fields = DerValues(DerValues(signed).take(SEQUENCE)?);
    if fields.read()?.tag == VERSION {
        let _serial = fields.take(INTEGER)?;
    }
    let (_algorithm, _issuer) = (fields.take(SEQUENCE)?, fields.take(SEQUENCE)?);
    let mut times = DerValues(fields.take(SEQUENCE)?);
    let [begin, end] = [times.read(), times.read()].map(|time| time.and_then(seconds));
    Some(begin?..=end?)
}

/// `YYMMDDhhmmssZ`, or the same with four digits of the year, as seconds since 1970.
fn seconds(time: DerValue<'_>) -> Option<i64> {
    let digits = time.content.strip_suffix(b"Z")?;
    let (year, rest) = digits.split_at_checked(match time.tag {
        UTC_TIME => 2,
        GENERALIZED_TIME => 4,
        _ => return None,
    })?;
    let pairs: Vec<i64> = rest.chunks(2).map(number).collect::<Option<_>>()?;
    let [month @ 1..=12, day @ 1..=31, hour @ 0..=23, minute @ 0..=59, second @ 0..=60] = pairs[..] else {
        return None;
    };
    let year = match (number(year)?, year.len()) {
        (year @ 0..=49, 2) => 2000 + year,
        (year, 2) => 1900 + year,
        (year, _) => year,
    };
    let hours = days_since_1970(year, month, day) * 24 + hour;
    Some(hours * 3600 + minute * 60 + second)
}

fn number(digits: &[u8]) -> Option<i64> {
    let digit = |number: i64, byte: &u8| byte.is_ascii_digit().then(|| number * 10 + i64::from(byte - b'0'));
    digits.iter().try_fold(0, digit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    #[test]
    fn a_certificate_is_valid_from_its_first_to_its_last_second() {
        let valid = |from: i32, to: i32| {
            let mut params = CertificateParams::new(["localhost".to_owned()]).expect("a name");
            (params.not_before, params.not_after) = (date_time_ymd(from, 3, 1), date_time_ymd(to, 3, 1));
            let certificate = params.self_signed(&KeyPair::generate().expect("a key")).expect("signs");
            validity(certificate.der()).expect("is valid at times")
        };
        // Up to 2049 in the short form.
        assert_eq!(valid(1999, 2049), 920_246_400..=2_498_169_600);
        assert_eq!(valid(2050, 2100), 2_529_705_600..=4_107_542_400);
    }

    #[test]
    fn what_is_no_time_is_none() {
        let read = |tag: u8, text: &str| seconds(DerValue { tag, content: text.as_bytes() });
        assert_eq!(read(UTC_TIME, "700101000001Z"), Some(1));
        for (tag, text) in [
            (UTC_TIME, "700101000001"),
            (UTC_TIME, "7001010000Z"),
            (UTC_TIME, "19700101000001Z"),
            (UTC_TIME, "701301000001Z"),
            (GENERALIZED_TIME, "700101000001Z"),
            (GENERALIZED_TIME, "1970010100000xZ"),
            (2, "700101000001Z"),
            (UTC_TIME, ""),
        ] {
            assert_eq!(read(tag, text), None, "{tag} {text}");
        }
    }
}
