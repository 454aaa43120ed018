//! Which failure class an error of TLS belongs to.

use rustls::{CertificateError, Error};
use sysdyno_record::load::FailureClass;

/// The class of an error that was met before the handshake was over, or after it.
pub(super) fn classify(error: &Error, is_handshaking: bool) -> FailureClass {
    match error {
        Error::InvalidCertificate(cause) => of_certificate(cause),
        Error::NoCertificatesPresented | Error::UnsupportedNameType => FailureClass::TlsCertificate,
        // With TLS 1.3 a server objects to the client's certificate after the client's handshake is over.
        Error::AlertReceived(_) => FailureClass::TlsHandshake,
        Error::NoApplicationProtocol => FailureClass::TlsAlpn,
        _ if is_handshaking => FailureClass::TlsHandshake,
        _ => FailureClass::TlsRecord,
    }
}

fn of_certificate(cause: &CertificateError) -> FailureClass {
    match cause {
        // A bad signature is that of an issuer whose name is trusted, and whose key is another one.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => FailureClass::TlsIssuer,
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            FailureClass::TlsName
        }
        CertificateError::Expired
        | CertificateError::ExpiredContext { .. }
        | CertificateError::NotValidYet
        | CertificateError::NotValidYetContext { .. } => FailureClass::TlsExpired,
        _ => FailureClass::TlsCertificate,
    }
}
