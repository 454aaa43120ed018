//! The certificates of a broker: an authority of its own, and a server's certificate for the names under which agents reach it.

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer,
    KeyPair, KeyUsagePurpose, date_time_ymd,
};

/// Until when certificates are valid: a fleet has no other way to renew them than to be set up again. Year.
const LAST_YEAR: i32 = 2040;

/// An authority.
pub(super) struct Authority {
    /// Its key, as PEM.
    pub(super) key: String,
    /// Its certificate, as PEM.
    pub(super) certificate: String,
}

/// A server's certificate and its key, as PEM.
pub(super) struct ServerIdentity {
    pub(super) key: String,
    pub(super) certificate: String,
}

impl Authority {
    /// A new one.
    pub(super) fn new() -> Result<Authority, rcgen::Error> {
        let key = KeyPair::generate()?;
        let certificate = params()?.self_signed(&key)?.pem();
        Ok(Authority { key: key.serialize_pem(), certificate })
    }

    /// A certificate for a server with these names and addresses.
    pub(super) fn server(&self, names: &[String]) -> Result<ServerIdentity, rcgen::Error> {
        let issuer = Issuer::new(params()?, KeyPair::from_pem(&self.key)?);
        let key = KeyPair::generate()?;
        let mut own = CertificateParams::new(names.to_vec())?;
        own.distinguished_name = DistinguishedName::new();
        own.distinguished_name.push(DnType::CommonName, "sysdyno fleet broker");
        own.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        own.not_before = date_time_ymd(2024, 1, 1);
        own.not_after = date_time_ymd(LAST_YEAR, 1, 1);
        let certificate = own.signed_by(&key, &issuer)?.pem();
        Ok(ServerIdentity { key: key.serialize_pem(), certificate })
    }
}

/// What the certificate of an authority says; each time the same, so that the key alone makes it again.
fn params() -> Result<CertificateParams, rcgen::Error> {
    let mut params = CertificateParams::new(Vec::new())?;
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, "sysdyno fleet");
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
    params.not_before = date_time_ymd(2024, 1, 1);
    params.not_after = date_time_ymd(LAST_YEAR, 1, 1);
    Ok(params)
}
