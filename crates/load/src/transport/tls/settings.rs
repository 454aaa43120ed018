//! A plan's TLS settings, read once before the load: versions, name, trusted certificates, client certificate.

use super::verifier::Verifier;
use crate::error::LoadError;
use rustls::crypto::ring;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, SupportedProtocolVersion};
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
pub(crate) struct TlsSettings {
    /// The configuration that each thread adds its own sessions to.
    pub config: ClientConfig,
    /// Whom the certificate must name.
    pub name: ServerName<'static>,
    /// Share of the connections that are to be resumed. Unit: ratio.
    pub resume_ratio: f64,
    /// The protocol that the server must choose; `None`: any, or none.
    pub required_alpn: Option<Vec<u8>>,
}

impl TlsSettings {
    /// The settings of a plan, for a protocol by its ALPN name; `None`: it has none.
    ///
    /// # Errors
    /// A file that cannot be read or holds no certificate or key, or a name that cannot be one.
    pub(crate) fn new(plan: &TlsPlan, alpn: Option<&str>) -> Result<TlsSettings, LoadError> {
        let provider = Arc::new(ring::default_provider());
        let versions: &[&SupportedProtocolVersion] = match plan.version {
            None => rustls::ALL_VERSIONS,
            Some(TlsVersion::Tls12) => &[&rustls::version::TLS12],
            Some(TlsVersion::Tls13) => &[&rustls::version::TLS13],
        };
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(versions)
            .map_err(|_| LoadError::plan("no cipher suite is available for these TLS versions"))?;
        let verifier = if plan.is_insecure {
            Verifier::of_anyone(provider)
        } else {
            let (file, trusted) = trusted(plan.ca_file.as_deref())?;
            let useless = || pem_error(&file, "it contains no certificate that can be trusted".into());
            Verifier::trusting(provider, trusted).ok_or_else(useless)?
        };
        let builder = builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier));
        let mut config = match (&plan.certificate_file, &plan.key_file) {
            (Some(certificate), Some(key)) => builder
                .with_client_auth_cert(certificates(certificate)?, private_key(key)?)
                .map_err(|error| pem_error(certificate, of_identity(&error).into()))?,
            (None, None) => builder.with_no_client_auth(),
            _ => return Err(LoadError::plan("a client certificate needs both the certificate and its key")),
        };
        config.alpn_protocols = alpn.iter().map(|alpn| alpn.as_bytes().to_vec()).collect();
        let name = ServerName::try_from(plan.server_name.clone()).map_err(|_| {
            LoadError::plan(format!("'{}' is not a valid server name", plan.server_name.escape_debug()))
        })?;
        let required_alpn = alpn.filter(|alpn| *alpn == "h2").map(|alpn| alpn.as_bytes().to_vec());
        Ok(TlsSettings { config, name, resume_ratio: plan.resume_ratio, required_alpn })
    }
}

/// The certificates to trust, and the file that they come from.
fn trusted(file: Option<&Path>) -> Result<(PathBuf, Vec<CertificateDer<'static>>), LoadError> {
    let system = || SYSTEM_ROOTS.iter().map(PathBuf::from).find(|path| path.is_file());
    let Some(file) = file.map(Path::to_owned).or_else(system) else {
        return Err(LoadError::plan("this system has no trusted CA certificates\nhint: use --tls-ca FILE"));
    };
    let certificates = certificates(&file)?;
    Ok((file, certificates))
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, LoadError> {
    let read = CertificateDer::pem_file_iter(file).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let certificates: Vec<_> = read.map_err(|error| pem_error(file, of_pem(error)))?;
    if certificates.is_empty() {
        return Err(pem_error(file, "it contains no certificate".into()));
    }
    Ok(certificates)
}

fn private_key(file: &Path) -> Result<PrivateKeyDer<'static>, LoadError> {
    PrivateKeyDer::from_pem_file(file).map_err(|error| match error {
        pem::Error::NoItemsFound => pem_error(file, "it contains no private key".into()),
        other => pem_error(file, of_pem(other)),
    })
}

/// Why a file could not be read.
fn of_pem(error: pem::Error) -> String {
    match error {
        pem::Error::Io(error) => error.to_string(),
        pem::Error::NoItemsFound => "it contains no certificate".into(),
        pem::Error::MissingSectionEnd { .. } => "its last section has no END line".into(),
        pem::Error::IllegalSectionStart { .. } => "one of its BEGIN lines is damaged".into(),
        pem::Error::Base64Decode(_) => "one of its sections is damaged".into(),
        _ => "it is not a PEM file".into(),
    }
}

/// Why certificate and key cannot be used together.
fn of_identity(error: &rustls::Error) -> &'static str {
    match error {
        rustls::Error::InconsistentKeys(_) => "the key does not match the certificate",
        rustls::Error::InvalidCertificate(_) => "the certificate is damaged",
        _ => "unsupported key type (supported: RSA with 2,048 to 8,192 bits, ECDSA, Ed25519)",
    }
}

fn pem_error(file: &Path, cause: String) -> LoadError {
    LoadError::Pem { file: file.to_owned(), cause }
}
