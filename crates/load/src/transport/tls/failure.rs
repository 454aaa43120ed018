//! The failure class of a TLS error, and further details. The library's error messages are for programmers, so none of them
//! is shown.

use super::verifier::RefusedKey;
use crate::failure::{Detail, Fault, alert};
use rustls::{CertificateError, Error, PeerIncompatible, PeerMisbehaved};
use sysdyno_record::load::FailureClass;

/// How far a connection was when an error was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HandshakeState {
    pub is_handshaking: bool,
    /// The server asked for a certificate, and there is none.
    pub is_asked: bool,
}

const CLOSED: Detail = Detail::Clause("it closed the connection during the handshake");

/// The failure of a connection that the server closed, or that broke, during the handshake.
pub(super) const CLOSED_EARLY: Fault = Fault::with(FailureClass::TlsHandshake, CLOSED);

/// The failure that an error is.
pub(super) fn classify(error: &Error, standing: HandshakeState) -> Fault {
    let class = match error {
        Error::InvalidCertificate(cause) => return of_certificate(cause),
        Error::NoCertificatesPresented => {
            let none = Detail::Clause("it presented no certificate");
            return Fault::with(FailureClass::TlsCertificate, none);
        }
        Error::UnsupportedNameType => FailureClass::TlsCertificate,
        // With TLS 1.3 a server objects to the client's certificate after the client's handshake is over.
        Error::AlertReceived(alert) => {
            let number = u8::from(*alert);
            return Fault::with(alert::class(number, standing.is_asked), Detail::Alert(number));
        }
        Error::NoApplicationProtocol => FailureClass::TlsAlpn,
        Error::PeerIncompatible(cause) => of_incompatible(cause),
        // A version or a cipher that was not offered is what old servers choose that have no better one.
        Error::PeerMisbehaved(
            PeerMisbehaved::SelectedUnofferedCipherSuite
            | PeerMisbehaved::SelectedUnusableCipherSuiteForVersion
            | PeerMisbehaved::SelectedUnofferedKxGroup
            | PeerMisbehaved::IllegalHelloRetryRequestWithUnofferedNamedGroup,
        ) => FailureClass::TlsCipher,
        Error::PeerMisbehaved(PeerMisbehaved::SelectedUnofferedApplicationProtocol) => FailureClass::TlsAlpn,
        Error::PeerSentOversizedRecord if standing.is_handshaking => {
            return Fault::with(FailureClass::TlsHandshake, Detail::Clause("it sent an oversized record"));
        }
        _ if standing.is_handshaking => {
            let broken = Detail::Clause("it violated the TLS protocol");
            return Fault::with(FailureClass::TlsHandshake, broken);
        }
        _ => FailureClass::TlsRecord,
    };
    class.into()
}

fn of_incompatible(cause: &PeerIncompatible) -> FailureClass {
    match cause {
        PeerIncompatible::ServerDoesNotSupportTls12Or13
        | PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig
        | PeerIncompatible::SupportedVersionsExtensionRequired
        | PeerIncompatible::Tls12NotOffered
        | PeerIncompatible::Tls12NotOfferedOrEnabled => FailureClass::TlsVersion,
        // All others are parameters that the two do not agree on.
        _ => FailureClass::TlsCipher,
    }
}

fn of_certificate(cause: &CertificateError) -> Fault {
    let class = match cause {
        // A bad signature is that of an issuer whose name is trusted, and whose key is another one.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => FailureClass::TlsIssuer,
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            FailureClass::TlsName
        }
        CertificateError::Expired
        | CertificateError::ExpiredContext { .. }
        | CertificateError::NotValidYet
        | CertificateError::NotValidYetContext { .. } => FailureClass::TlsExpired,
        CertificateError::Other(other) if other.0.is::<RefusedKey>() => FailureClass::TlsWeakKey,
        _ => FailureClass::TlsCertificate,
    };
    Fault::with(class, of_rejected(cause).unwrap_or(Detail::Nothing))
}

/// What is wrong with a certificate, where its class does not say it.
fn of_rejected(cause: &CertificateError) -> Option<Detail> {
    let clause = match cause {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => "its certificate has expired",
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "its certificate is not valid yet"
        }
        CertificateError::BadEncoding => "its certificate is damaged",
        CertificateError::Revoked => "its certificate is revoked",
        CertificateError::UnhandledCriticalExtension => "its certificate has an unknown critical extension",
        CertificateError::UnsupportedSignatureAlgorithmContext { .. }
        | CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext { .. } => {
            "its certificate is signed with an unaccepted algorithm, such as SHA-1"
        }
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            "its certificate is not for servers (extended key usage)"
        }
        CertificateError::Other(other) => match other.0.downcast_ref() {
            Some(RefusedKey(bits)) => return Some(Detail::RsaBits(*bits)),
            // The library has no name for it.
            None => {
                "its certificate is a CA certificate (CA:TRUE); it is only accepted if --tls-ca contains it"
            }
        },
        _ => return None,
    };
    Some(Detail::Clause(clause))
}
