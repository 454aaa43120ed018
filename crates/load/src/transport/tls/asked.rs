//! Notices when a server asks for a client certificate and there is none. The library answers the server but does not report
//! the request; the server's reaction depends on its version and often does not name the cause.

use rustls::client::ResolvesClientCert;
use rustls::sign::CertifiedKey;
use rustls::{ClientConfig, SignatureScheme};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Notes that a server asked.
#[derive(Debug, Default)]
pub(super) struct Asked(AtomicBool);

impl Asked {
    /// Notes it from now on for connections of this configuration, unless it has a certificate to show.
    pub(super) fn note_in(self: &Arc<Asked>, config: &mut ClientConfig) {
        if !config.client_auth_cert_resolver.has_certs() {
            config.client_auth_cert_resolver = Arc::<Asked>::clone(self);
        }
    }

    /// Whether a server asked since this was called last.
    pub(super) fn take(&self) -> bool {
        self.0.swap(false, Ordering::Relaxed)
    }
}

impl ResolvesClientCert for Asked {
    fn resolve(&self, _: &[&[u8]], _: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        self.0.store(true, Ordering::Relaxed);
        None
    }

    fn has_certs(&self) -> bool {
        false
    }
}
