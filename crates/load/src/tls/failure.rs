//! Which failure class an error of TLS belongs to.

use rustls::Error;
use sysdyno_record::load::FailureClass;

/// The class of an error that was met before the handshake was over, or after it.
pub(super) fn classify(error: &Error, is_handshaking: bool) -> FailureClass {
    match error {
        Error::InvalidCertificate(_) | Error::NoCertificatesPresented | Error::UnsupportedNameType => {
            FailureClass::TlsCertificate
        }
        // With TLS 1.3 a server objects to the client's certificate after the client's handshake is over.
        Error::AlertReceived(_) => FailureClass::TlsHandshake,
        Error::NoApplicationProtocol => FailureClass::TlsAlpn,
        _ if is_handshaking => FailureClass::TlsHandshake,
        _ => FailureClass::TlsRecord,
    }
}
