//! A file with credentials: who its owner is, how to log in to which broker, and whose orders an agent obeys.
//!
//! Sections as NATS and PEM write them, after lines of the form `KEY: VALUE`; so a file of another broker's tools, with a token
//! and a seed, works too. Whoever has the file is its owner: it must not be readable for other users.

use crate::error::FleetError;
use crate::nats::{BrokerUrl, Login, PublicKey, SigningKey};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;
use sysdyno_record::fleet::is_fleet_name;

/// Longest file. Unit: bytes.
const MAX_BYTES: u64 = 256 << 10;

/// Longest bundle of certificates: that of a system has hundreds. Unit: bytes.
const MAX_BUNDLE_BYTES: u64 = 16 << 20;

/// Most controllers whose orders an agent obeys.
const MAX_CONTROLLERS: usize = 64;

const SEED: &str = "USER NKEY SEED";
const JWT: &str = "NATS USER JWT";

/// What a file with credentials holds.
#[derive(Clone, Debug)]
pub struct Credentials {
    /// The agent that its owner is; `None`: it does not say.
    pub name: Option<String>,
    /// The broker; `None`: it does not say.
    pub broker: Option<BrokerUrl>,
    /// The controllers whose orders an agent obeys.
    pub controllers: Vec<PublicKey>,
    /// How to log in.
    pub login: Login,
}

impl Credentials {
    /// Reads a file; certificates of `ca`, if given, count instead of its own.
    ///
    /// # Errors
    /// It cannot be read, others may read it, or it holds no key.
    pub fn read(path: &Path, ca: Option<&Path>) -> Result<Credentials, FleetError> {
        let failed = |cause: String| FleetError::Credentials { path: path.to_owned(), cause };
        let file = File::open(path).map_err(|error| failed(error.to_string()))?;
        let known = file.metadata().map_err(|error| failed(error.to_string()))?;
        if !known.is_file() || known.mode() & 0o077 != 0 {
            let hint = format!("hint: chmod 600 '{}'", path.display());
            return Err(failed(format!("other users can read it\n{hint}")));
        }
        let text = text_of(file, MAX_BYTES).map_err(failed)?;
        let mut credentials = Credentials::parse(&text).map_err(|cause| failed(cause.into()))?;
        if let Some(ca) = ca {
            let failed = |cause: String| FleetError::Credentials { path: ca.to_owned(), cause };
            let file = File::open(ca).map_err(|error| failed(error.to_string()))?;
            let text = text_of(file, MAX_BUNDLE_BYTES).map_err(failed)?;
            credentials.login.roots = certificates(&text).map_err(|cause| failed(cause.into()))?;
        }
        Ok(credentials)
    }

    /// What a text holds. Errors quote nothing of it.
    pub(crate) fn parse(text: &str) -> Result<Credentials, &'static str> {
        let seed = section(text, SEED).ok_or("it has no section 'USER NKEY SEED'")?;
        let key = SigningKey::from_seed(seed).ok_or("its seed is damaged, or not that of a user")?;
        let jwt = section(text, JWT).map(str::to_owned);
        let mut credentials = Credentials {
            name: None,
            broker: None,
            controllers: Vec::new(),
            login: Login { key: Arc::new(key), jwt, roots: certificates(text)? },
        };
        let lines = text.lines().take_while(|line| !line.starts_with("-----"));
        for (key, value) in lines.filter_map(|line| line.split_once(':')) {
            credentials.take(key.trim(), value.trim())?;
        }
        Ok(credentials)
    }

    fn take(&mut self, key: &str, value: &str) -> Result<(), &'static str> {
        match key {
            "name" if is_fleet_name(value) => self.name = Some(value.to_owned()),
            "name" => return Err("its name is not that of an agent"),
            "broker" => self.broker = Some(value.parse().map_err(|_| "its broker is not a URL")?),
            "controller" if self.controllers.len() < MAX_CONTROLLERS => {
                self.controllers.push(PublicKey::parse(value).ok_or("a controller's key is damaged")?);
            }
            _ => {}
        }
        Ok(())
    }
}

/// The text of a file with these credentials; `certificate` is that of the broker's authority, as PEM.
pub(crate) fn text(
    name: Option<&str>,
    broker: &BrokerUrl,
    controllers: &[PublicKey],
    certificate: &str,
    key: &SigningKey,
) -> String {
    let owner = name.map_or("a controller".to_owned(), |name| format!("agent '{name}'"));
    let name = name.map_or(String::new(), |name| format!("name: {name}\n"));
    let controllers: String = controllers.iter().map(|key| format!("controller: {key}\n")).collect();
    let seed = key.seed();
    format!(
        "# Credentials of {owner} of a sysdyno fleet. Whoever has this file is its owner.\n\
         {name}broker: {broker}\n{controllers}\
         {}\n-----BEGIN {SEED}-----\n{seed}\n------END {SEED}------\n",
        certificate.trim_end()
    )
}

fn text_of(file: File, max_bytes: u64) -> Result<String, String> {
    let mut text = String::new();
    file.take(max_bytes + 1).read_to_string(&mut text).map_err(|error| error.to_string())?;
    if text.len() as u64 > max_bytes {
        return Err("it is too long".into());
    }
    Ok(text)
}

/// What is between the lines that begin and end a section; NATS ends them with one dash more than PEM does.
fn section<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("-----BEGIN {name}-----"))?;
    let (inside, _) = rest.split_once("-----END ")?;
    Some(inside.trim().trim_end_matches('-').trim())
}

fn certificates(text: &str) -> Result<Vec<CertificateDer<'static>>, &'static str> {
    let marked = "-----BEGIN CERTIFICATE-----";
    let Some(begin) = text.find(marked) else { return Ok(Vec::new()) };
    // Behind the certificates, sections of NATS have END lines that no reader of PEM understands.
    let end_mark = "-----END CERTIFICATE-----";
    let end =
        text.rfind(end_mark).filter(|end| *end > begin).ok_or("a certificate is damaged")? + end_mark.len();
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text.as_bytes()[begin..end]).collect();
    found.map_err(|_| "a certificate is damaged")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn written(name: Option<&str>) -> (String, SigningKey, PublicKey) {
        let (key, controller) = (SigningKey::generate(), SigningKey::generate().public());
        let broker = "tls://10.0.0.1:4222".parse().expect("a URL");
        let made = rcgen::generate_simple_self_signed(["broker".to_owned()]).expect("makes");
        (text(name, &broker, &[controller], &made.cert.pem(), &key), key, controller)
    }

    #[test]
    fn what_is_written_is_read_back() {
        let (text, key, controller) = written(Some("web-1"));
        let found = Credentials::parse(&text).expect("parses");
        assert_eq!(found.name.as_deref(), Some("web-1"));
        assert_eq!(found.broker.map(|url| url.to_string()).as_deref(), Some("tls://10.0.0.1:4222"));
        assert_eq!((found.controllers, found.login.key.public()), (vec![controller], key.public()));
        assert_eq!((found.login.roots.len(), found.login.jwt), (1, None));
        assert_eq!(Credentials::parse(&written(None).0).expect("parses").name, None);
    }

    #[test]
    fn a_file_of_the_tools_of_nats_works_too() {
        let seed = SigningKey::generate().seed();
        let text = format!(
            "-----BEGIN NATS USER JWT-----\neyJ0.eyJq.abc\n------END NATS USER JWT------\n\n\
             ************************* IMPORTANT *************************\n\n\
             -----BEGIN USER NKEY SEED-----\n{seed}\n------END USER NKEY SEED------\n\n*****\n"
        );
        let found = Credentials::parse(&text).expect("parses");
        assert_eq!(found.login.jwt.as_deref(), Some("eyJ0.eyJq.abc"));
        assert_eq!(found.login.key.seed(), seed);
    }

    #[test]
    fn damage_is_named_without_the_secret() {
        let (text, key, _) = written(Some("web-1"));
        let damaged = [
            String::new(),
            text.replace(&key.seed(), "SUA"),
            text.replace("web-1", "a.b"),
            text.replace("tls://", "http://"),
            text.replace("controller: U", "controller: V"),
            text.replace("-----END CERTIFICATE-----", ""),
        ];
        for text in damaged {
            let cause = Credentials::parse(&text).expect_err("is damaged");
            assert!(!cause.contains(&key.seed()));
        }
    }

    #[test]
    fn a_file_that_others_can_read_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("web-1.creds");
        std::fs::write(&path, written(Some("web-1")).0).expect("writes");
        let set =
            |mode| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("sets");
        set(0o640);
        let error = Credentials::read(&path, None).expect_err("is refused").to_string();
        assert!(error.contains("other users can read it\nhint: chmod 600"), "{error}");
        set(0o600);
        assert!(Credentials::read(&path, None).is_ok());
    }
}
