//! One connection to a broker: TCP, then TLS where the URL asks for it, then the login.
//!
//! The name that a certificate must have is the one in the URL, never one that the broker sends before the connection is
//! encrypted (RUSTSEC-2023-0027). A broker that does not offer TLS is not used without it.

use super::address::BrokerUrl;
use super::nkey::SigningKey;
use super::wire::{BrokerInfo, Operation, OperationDecoder};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore};
use serde::Serialize;
use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;
use sysdyno_record::units::MonoNs;
use sysdyno_run::clock;

/// How long a connection may take to come up, in all.
const SET_UP: Duration = Duration::from_secs(8);

/// How long one step of it may take.
const STEP: Duration = Duration::from_secs(3);

/// Oldest broker that is used: the first one whose permissions and key logins are still maintained.
const OLDEST: [u32; 2] = [2, 9];

/// How to log in to a broker.
#[derive(Clone, Debug)]
pub struct Login {
    /// The user's key.
    pub key: Arc<SigningKey>,
    /// A token of an account server that goes with it; `None`: the broker itself knows the key.
    pub jwt: Option<String>,
    /// Certificates that the broker's own must be signed by.
    pub roots: Vec<CertificateDer<'static>>,
}

/// Why a connection does not come up.
#[derive(Debug)]
pub(super) struct LinkError {
    pub(super) cause: String,
    pub(super) hint: &'static str,
}

const NETWORK_HINT: &str = "check that the broker runs, and that its port can be reached from here";
const TLS_HINT: &str = "use the credentials that belong to this broker: its certificate authority is in them";
const LOGIN_HINT: &str = "`sysdyno fleet add NAME`, where the broker runs, makes credentials for an agent";

fn network(error: io::Error) -> LinkError {
    LinkError { cause: error.to_string(), hint: NETWORK_HINT }
}

fn unusable(cause: impl Into<String>) -> LinkError {
    LinkError { cause: cause.into(), hint: NETWORK_HINT }
}

/// A connection that is logged in.
pub(super) struct BrokerLink {
    pub(super) socket: TcpStream,
    tls: Option<Box<ClientConnection>>,
    pub(super) decoder: OperationDecoder,
    pub(super) max_payload_bytes: usize,
}

impl BrokerLink {
    /// Connects and logs in. Blocks for a few seconds at most.
    pub(super) fn open(url: &BrokerUrl, login: &Login, name: &str) -> Result<BrokerLink, LinkError> {
        let end = clock::monotonic().after(SET_UP);
        let mut link = BrokerLink {
            socket: connect(url)?,
            tls: None,
            decoder: OperationDecoder::default(),
            max_payload_bytes: 0,
        };
        let Operation::Info(info) = link.await_operation(end)? else {
            return Err(unusable("it does not begin as a broker does"));
        };
        check_version(&info)?;
        if url.is_tls {
            if !info.tls_required && !info.tls_available {
                return Err(LinkError { cause: "it does not offer TLS".into(), hint: TLS_HINT });
            }
            link.encrypt(url, login)?;
        } else if info.tls_required {
            return Err(LinkError { cause: "it requires TLS".into(), hint: "use tls:// in the URL" });
        }
        link.max_payload_bytes = info.max_payload;
        link.log_in(&info, login, name, end)?;
        link.socket.set_nonblocking(true).map_err(network)?;
        Ok(link)
    }

    fn encrypt(&mut self, url: &BrokerUrl, login: &Login) -> Result<(), LinkError> {
        let failed = |cause: String| LinkError { cause, hint: TLS_HINT };
        // What came in plain after the first operation would be taken for something that was encrypted.
        if !self.decoder.is_empty() {
            return Err(failed("it sent something before the connection was encrypted".into()));
        }
        let mut roots = RootCertStore::empty();
        let (known, _) = roots.add_parsable_certificates(login.roots.iter().cloned());
        if known == 0 {
            return Err(failed("the credentials hold no certificate authority".into()));
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let config = builder.map_err(|error| failed(error.to_string()))?;
        let config = config.with_root_certificates(roots).with_no_client_auth();
        let name = ServerName::try_from(url.host.clone()).map_err(|error| failed(error.to_string()))?;
        let mut tls =
            ClientConnection::new(Arc::new(config), name).map_err(|error| failed(error.to_string()))?;
        let end = clock::monotonic().after(SET_UP);
        while tls.is_handshaking() {
            tls.complete_io(&mut self.socket).map_err(|error| failed(error.to_string()))?;
            if clock::monotonic() > end {
                return Err(failed("it did not finish the TLS handshake".into()));
            }
        }
        self.tls = Some(Box::new(tls));
        Ok(())
    }

    fn log_in(&mut self, info: &BrokerInfo, login: &Login, name: &str, end: MonoNs) -> Result<(), LinkError> {
        let nonce = info.nonce.as_deref().unwrap_or_default();
        let connect = Connect {
            verbose: false,
            pedantic: false,
            tls_required: self.tls.is_some(),
            lang: "sysdyno",
            version: env!("CARGO_PKG_VERSION"),
            protocol: 1,
            echo: false,
            headers: false,
            name,
            nkey: login.key.public().to_string(),
            jwt: login.jwt.as_deref(),
            sig: URL_SAFE_NO_PAD.encode(login.key.sign(nonce.as_bytes())),
        };
        let text = serde_json::to_string(&connect).map_err(|error| unusable(error.to_string()))?;
        self.send_all(format!("CONNECT {text}\r\nPING\r\n").as_bytes()).map_err(network)?;
        loop {
            match self.await_operation(end)? {
                Operation::Pong => return Ok(()),
                Operation::Ping => self.send_all(b"PONG\r\n").map_err(network)?,
                Operation::Error(text) => {
                    let said = text.chars().take(100).collect::<String>().escape_debug().to_string();
                    return Err(LinkError {
                        cause: format!("it refused the login: {said}"),
                        hint: LOGIN_HINT,
                    });
                }
                Operation::Info(_) | Operation::Ok => {}
                Operation::Message { .. } => return Err(unusable("it sent a message that nobody asked for")),
            }
        }
    }

    /// The next operation, while the socket blocks.
    fn await_operation(&mut self, end: MonoNs) -> Result<Operation, LinkError> {
        let mut piece = [0; 4096];
        loop {
            if let Some(operation) =
                self.decoder.next_operation().map_err(|error| unusable(error.to_string()))?
            {
                return Ok(operation);
            }
            if clock::monotonic() > end {
                return Err(unusable("it did not answer in time"));
            }
            let length = match self.read(&mut piece) {
                Err(error) if is_blocked(&error) => return Err(unusable("it did not answer in time")),
                other => other.map_err(network)?,
            };
            if length == 0 {
                return Err(unusable("it closed the connection"));
            }
            self.decoder.push(&piece[..length]);
        }
    }

    fn send_all(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let length = self.write(bytes)?;
            bytes = &bytes[length..];
        }
        self.flush()
    }

    /// Reads what has come; 0: the broker has closed the connection.
    pub(super) fn read(&mut self, piece: &mut [u8]) -> io::Result<usize> {
        let Some(tls) = &mut self.tls else { return self.socket.read(piece) };
        loop {
            match tls.reader().read(piece) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                other => return other,
            }
            if tls.read_tls(&mut self.socket)? == 0 {
                return Ok(0);
            }
            tls.process_new_packets().map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        }
    }

    /// Takes bytes to send; with TLS they may lie in memory until [`BrokerLink::flush`].
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(tls) = &mut self.tls else { return self.socket.write(bytes) };
        let taken = tls.writer().write(bytes)?;
        // No room until what is there has gone.
        if taken == 0 {
            self.flush()?;
        }
        Ok(taken)
    }

    /// Sends what lies in memory.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        let Some(tls) = &mut self.tls else { return Ok(()) };
        while tls.wants_write() {
            tls.write_tls(&mut self.socket)?;
        }
        Ok(())
    }

    /// Whether something is left to send in memory.
    pub(super) fn wants_write(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.wants_write())
    }
}

#[derive(Serialize)]
struct Connect<'a> {
    verbose: bool,
    pedantic: bool,
    tls_required: bool,
    lang: &'a str,
    version: &'a str,
    protocol: u32,
    echo: bool,
    headers: bool,
    name: &'a str,
    nkey: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    jwt: Option<&'a str>,
    sig: String,
}

fn connect(url: &BrokerUrl) -> Result<TcpStream, LinkError> {
    let addresses = (url.host.as_str(), url.port).to_socket_addrs().map_err(network)?;
    let mut failure = unusable("its name has no address");
    for address in addresses.take(4) {
        match TcpStream::connect_timeout(&address, STEP) {
            Ok(socket) => {
                socket.set_nodelay(true).map_err(network)?;
                socket.set_read_timeout(Some(STEP)).map_err(network)?;
                socket.set_write_timeout(Some(STEP)).map_err(network)?;
                return Ok(socket);
            }
            Err(error) => failure = network(error),
        }
    }
    Err(failure)
}

fn check_version(info: &BrokerInfo) -> Result<(), LinkError> {
    let mut numbers = info.version.split('.').map(|word| word.parse::<u32>().ok());
    match [numbers.next().flatten(), numbers.next().flatten()] {
        [Some(major), Some(minor)] if [major, minor] >= OLDEST => Ok(()),
        _ => Err(LinkError {
            cause: format!(
                "it is version '{}', but at least {}.{} is needed",
                info.version.chars().take(40).collect::<String>().escape_debug(),
                OLDEST[0],
                OLDEST[1]
            ),
            hint: "install a newer nats-server",
        }),
    }
}

/// Whether an error only says that there is nothing at the moment.
pub(super) fn is_blocked(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted)
}
