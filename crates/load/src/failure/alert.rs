//! TLS alerts: their names, and the failure class of each.
//!
//! Source: the IANA registry "TLS Alerts" (RFC 8446, section 6; RFC 6066; RFC 7301).

use sysdyno_record::load::FailureClass;

/// Number and name of each alert.
const NAMES: [(u8, &str); 36] = [
    (0, "close_notify"),
    (10, "unexpected_message"),
    (20, "bad_record_mac"),
    (21, "decryption_failed"),
    (22, "record_overflow"),
    (30, "decompression_failure"),
    (40, "handshake_failure"),
    (41, "no_certificate"),
    (42, "bad_certificate"),
    (43, "unsupported_certificate"),
    (44, "certificate_revoked"),
    (45, "certificate_expired"),
    (46, "certificate_unknown"),
    (47, "illegal_parameter"),
    (48, "unknown_ca"),
    (49, "access_denied"),
    (50, "decode_error"),
    (51, "decrypt_error"),
    (52, "too_many_cids_requested"),
    (60, "export_restriction"),
    (70, "protocol_version"),
    (71, "insufficient_security"),
    (80, "internal_error"),
    (86, "inappropriate_fallback"),
    (90, "user_canceled"),
    (100, "no_renegotiation"),
    (109, "missing_extension"),
    (110, "unsupported_extension"),
    (111, "certificate_unobtainable"),
    (112, "unrecognized_name"),
    (113, "bad_certificate_status_response"),
    (114, "bad_certificate_hash_value"),
    (115, "unknown_psk_identity"),
    (116, "certificate_required"),
    (120, "no_application_protocol"),
    (121, "ech_required"),
];

/// What an alert is called.
pub(super) fn name(number: u8) -> &'static str {
    NAMES.iter().find(|(known, _)| *known == number).map_or("without a name", |(_, name)| name)
}

/// The class of an alert that a server sent; `is_asked`: it asked for a certificate and got none.
///
/// A server that gets no certificate has had no alert of its own for that before TLS 1.3: then it sends the most general one.
pub(crate) fn class(number: u8, is_asked: bool) -> FailureClass {
    match number {
        0 => FailureClass::TlsHandshake,
        40 if is_asked => FailureClass::TlsClientCertificate,
        40 | 71 => FailureClass::TlsCipher,
        // All that a client shows a server is its own certificate.
        41..=46 | 48 | 49 | 116 => FailureClass::TlsClientCertificate,
        70 | 86 => FailureClass::TlsVersion,
        112 => FailureClass::TlsServerName,
        120 => FailureClass::TlsAlpn,
        _ => FailureClass::TlsAlert,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alerts_have_the_names_of_the_registry_and_classes_by_cause() {
        assert!(NAMES.is_sorted_by_key(|(number, _)| *number));
        assert_eq!((name(48), name(200)), ("unknown_ca", "without a name"));
        assert_eq!(class(40, false), FailureClass::TlsCipher);
        assert_eq!(class(40, true), FailureClass::TlsClientCertificate);
        assert_eq!(class(80, true), FailureClass::TlsAlert);
    }
}
