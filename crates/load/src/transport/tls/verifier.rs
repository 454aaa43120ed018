//! Decides which server certificates to accept: those that the trusted certificates vouch for, or any. In both cases the
//! key's signatures must be verifiable, and an unusable key is reported differently from a wrong signature.
//!
//! A certificate that is itself one of the trusted ones is accepted if its name and time are right, whatever else it says: the
//! library rejects an authority (`CA:TRUE`) as a server, but that is what `openssl req -x509` creates.

use super::{key, validity};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, OtherError, RootCertStore, SignatureScheme};
use std::sync::Arc;

/// The server's RSA key has a length that is not accepted. Unit: bits.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("an RSA key of {0} bits")]
pub(super) struct RefusedKey(pub u32);

/// A verifier of servers.
#[derive(Debug)]
pub(super) struct Verifier {
    provider: Arc<CryptoProvider>,
    /// Who vouches for it; `None`: anyone is believed.
    trust: Option<Arc<WebPkiServerVerifier>>,
    /// The same as they were given.
    trusted: Vec<CertificateDer<'static>>,
}

impl Verifier {
    /// Takes any certificate; that the server holds its key is checked nevertheless.
    pub(super) fn of_anyone(provider: Arc<CryptoProvider>) -> Verifier {
        Verifier { provider, trust: None, trusted: Vec::new() }
    }

    /// Takes certificates that one of these vouches for; `None`: none of them can.
    pub(super) fn trusting(
        provider: Arc<CryptoProvider>,
        trusted: Vec<CertificateDer<'static>>,
    ) -> Option<Verifier> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(trusted.iter().cloned());
        let builder = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
        Some(Verifier { provider, trust: Some(builder.build().ok()?), trusted })
    }

    /// What the library found, unless it objects to how a certificate may be used that is trusted itself.
    fn unless_trusted(
        &self,
        found: Result<ServerCertVerified, Error>,
        certificate: &CertificateDer<'_>,
        name: &ServerName<'_>,
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let is_of_use = matches!(&found, Err(Error::InvalidCertificate(CertificateError::Other(_))));
        if !is_of_use || !self.trusted.iter().any(|trusted| trusted == certificate) {
            return found;
        }
        let now = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
        match validity::validity(certificate) {
            None => return Err(CertificateError::BadEncoding.into()),
            Some(valid) if now < *valid.start() => return Err(CertificateError::NotValidYet.into()),
            Some(valid) if now > *valid.end() => return Err(CertificateError::Expired.into()),
            Some(_) => {}
        }
        verify_server_name(&ParsedCertificate::try_from(certificate)?, name)?;
        Ok(ServerCertVerified::assertion())
    }
}

/// The result of a verification, unless the key is the reason that it failed.
fn unless_refused<T>(result: Result<T, Error>, certificate: &CertificateDer<'_>) -> Result<T, Error> {
    // What is wrong with it otherwise is said first: a better key would not help.
    let is_of_signature = matches!(
        &result,
        Err(Error::InvalidCertificate(
            CertificateError::BadSignature
                | CertificateError::UnsupportedSignatureAlgorithmContext { .. }
                | CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext { .. }
        ))
    );
    if !is_of_signature && result.is_err() {
        return result;
    }
    match key::refused_rsa_bits(certificate) {
        None => result,
        Some(bits) => {
            let refused = OtherError(Arc::new(RefusedKey(bits)));
            Err(Error::InvalidCertificate(CertificateError::Other(refused)))
        }
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verified = match &self.trust {
            None => Ok(ServerCertVerified::assertion()),
            Some(trust) => {
                let found =
                    trust.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
                self.unless_trusted(found, end_entity, server_name, now)
            }
        };
        unless_refused(verified, end_entity)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(
            message,
            certificate,
            signature,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(
            message,
            certificate,
            signature,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
