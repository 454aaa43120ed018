//! What the TLS of a plan means, read once before the load: versions, name, trust, own certificate.

use crate::error::LoadError;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme, SupportedProtocolVersion};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use sysdyno_record::wire::{TlsPlan, TlsVersion};

/// Where distributions keep the certificates that the system trusts; the first that is there is taken.
const SYSTEM_ROOTS: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// TLS as a trial uses it.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// The configuration that each thread adds its own sessions to.
    pub config: ClientConfig,
    /// Whom the certificate must name.
    pub name: ServerName<'static>,
    /// Share of the connections that are to be resumed. Unit: ratio.
    pub resume_ratio: f64,
    /// The protocol that the server must choose; `None`: any, or none.
    pub required_alpn: Option<Vec<u8>>,
}

impl Settings {
    /// The settings of a plan, for a protocol by its ALPN name; `None`: it has none.
    ///
    /// # Errors
    /// A file that cannot be read or holds no certificate or key, or a name that cannot be one.
    pub(crate) fn new(plan: &TlsPlan, alpn: Option<&str>) -> Result<Settings, LoadError> {
        let provider = Arc::new(ring::default_provider());
        let versions: &[&SupportedProtocolVersion] = match plan.version {
            None => rustls::ALL_VERSIONS,
            Some(TlsVersion::Tls12) => &[&rustls::version::TLS12],
            Some(TlsVersion::Tls13) => &[&rustls::version::TLS13],
        };
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(versions)
            .map_err(|error| LoadError::plan(error.to_string()))?;
        let builder = if plan.is_insecure {
            builder.dangerous().with_custom_certificate_verifier(Arc::new(Anyone(provider)))
        } else {
            builder.with_root_certificates(roots(plan.ca_file.as_deref())?)
        };
        let mut config = match (&plan.certificate_file, &plan.key_file) {
            (Some(certificate), Some(key)) => builder
                .with_client_auth_cert(certificates(certificate)?, private_key(key)?)
                .map_err(|error| pem_error(certificate, error.to_string()))?,
            (None, None) => builder.with_no_client_auth(),
            _ => return Err(LoadError::plan("a client certificate needs both its certificate and its key")),
        };
        config.alpn_protocols = alpn.iter().map(|alpn| alpn.as_bytes().to_vec()).collect();
        let name = ServerName::try_from(plan.server_name.clone()).map_err(|_| {
            LoadError::plan(format!("'{}' cannot be the name of a server", plan.server_name.escape_debug()))
        })?;
        let required_alpn = alpn.filter(|alpn| *alpn == "h2").map(|alpn| alpn.as_bytes().to_vec());
        Ok(Settings { config, name, resume_ratio: plan.resume_ratio, required_alpn })
    }
}

fn roots(file: Option<&Path>) -> Result<RootCertStore, LoadError> {
    let system = || SYSTEM_ROOTS.iter().map(PathBuf::from).find(|path| path.is_file());
    let Some(file) = file.map(Path::to_owned).or_else(system) else {
        return Err(LoadError::plan(
            "this system has no certificates that it trusts\nhint: give a file with --tls-ca",
        ));
    };
    let mut store = RootCertStore::empty();
    let (added, _) = store.add_parsable_certificates(certificates(&file)?);
    if added == 0 {
        return Err(pem_error(&file, "it holds no certificate that can be trusted".into()));
    }
    Ok(store)
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, LoadError> {
    let read = CertificateDer::pem_file_iter(file).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let certificates: Vec<_> = read.map_err(|error| pem_error(file, error.to_string()))?;
    if certificates.is_empty() {
        return Err(pem_error(file, "it holds no certificate".into()));
    }
    Ok(certificates)
}

fn private_key(file: &Path) -> Result<PrivateKeyDer<'static>, LoadError> {
    PrivateKeyDer::from_pem_file(file).map_err(|error| pem_error(file, error.to_string()))
}

fn pem_error(file: &Path, cause: String) -> LoadError {
    LoadError::Pem { file: file.to_owned(), cause }
}

/// Takes any certificate; that the server holds its key is checked nevertheless.
#[derive(Debug)]
struct Anyone(Arc<CryptoProvider>);

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
