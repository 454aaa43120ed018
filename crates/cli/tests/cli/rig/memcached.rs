//! A real memcached that counts along.

use super::{find_program, wait_until};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Where it listens.
enum Place {
    Port(u16),
    Socket(PathBuf),
    /// Over TLS, and on a port without it.
    Secure(u16, u16),
}

/// A memcached; it ends with this value.
pub struct Memcached {
    child: Child,
    place: Place,
    folder: tempfile::TempDir,
}

impl Memcached {
    /// One on a port of its own, with so many megabytes; `None` if it is not installed.
    pub fn on_port(megabytes: u32) -> Option<Memcached> {
        let [port] = free_ports();
        let arguments = ["-l", "127.0.0.1", "-p", &port.to_string(), "-m", &megabytes.to_string()];
        Memcached::start(&arguments.map(str::to_owned), Place::Port(port))
    }

    /// One on a Unix socket; `None` if it is not installed.
    pub fn on_socket() -> Option<Memcached> {
        let folder = tempfile::tempdir().expect("a folder");
        let socket = folder.path().join("m.sock");
        Memcached::start_in(folder, &["-s".to_owned(), socket.display().to_string()], Place::Socket(socket))
    }

    /// One that speaks TLS, with a certificate for `localhost`; `None` if it is not installed, or made without TLS.
    pub fn secure() -> Option<Memcached> {
        let help = Command::new(find_program("memcached")?).arg("-h").output().expect("memcached starts");
        if !String::from_utf8_lossy(&help.stdout).contains("--enable-ssl") {
            return None;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
        let path = |name: &str| folder.path().join(name).display().to_string();
        std::fs::write(path("cert.pem"), made.cert.pem()).expect("a file can be written");
        std::fs::write(path("key.pem"), made.signing_key.serialize_pem()).expect("likewise");
        let files = format!("ssl_chain_cert={},ssl_key={}", path("cert.pem"), path("key.pem"));
        let [secure, plain] = free_ports();
        let places = [format!("127.0.0.1:{secure}"), format!("notls:127.0.0.1:{plain}")];
        let [first, second] = places;
        let arguments = ["-Z".into(), "-o".into(), files, "-l".into(), first, "-l".into(), second];
        Memcached::start_in(folder, &arguments, Place::Secure(secure, plain))
    }

    /// The file to trust, of one that speaks TLS.
    pub fn certificate(&self) -> String {
        self.folder.path().join("cert.pem").display().to_string()
    }

    fn start(arguments: &[String], place: Place) -> Option<Memcached> {
        Memcached::start_in(tempfile::tempdir().expect("a folder"), arguments, place)
    }

    fn start_in(folder: tempfile::TempDir, arguments: &[String], place: Place) -> Option<Memcached> {
        let mut command = Command::new(find_program("memcached")?);
        command.args(arguments).args(["-t", "2", "-U", "0"]);
        if rustix::process::geteuid().is_root() {
            command.args(["-u", "root"]);
        }
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("memcached starts");
        let memcached = Memcached { child, place, folder };
        assert!(wait_until(Duration::from_secs(10), || memcached.ask("version").is_some()), "it answers");
        Some(memcached)
    }

    /// The URL of it.
    pub fn url(&self) -> String {
        match &self.place {
            Place::Port(port) => format!("memcached://127.0.0.1:{port}"),
            Place::Socket(path) => format!("memcached:{}", path.display()),
            Place::Secure(port, _) => format!("memcacheds://127.0.0.1:{port}"),
        }
    }

    /// One of the numbers that it counts.
    pub fn stat(&self, name: &str) -> u64 {
        let stats = self.ask("stats").expect("memcached answers");
        let value =
            stats.lines().find_map(|line| line.strip_prefix("STAT ")?.strip_prefix(name)?.strip_prefix(' '));
        value.and_then(|value| value.trim().parse().ok()).unwrap_or_else(|| panic!("no '{name}' in {stats}"))
    }

    fn ask(&self, command: &str) -> Option<String> {
        let lines = format!("{command}\r\nquit\r\n");
        let mut answer = String::new();
        match &self.place {
            Place::Port(port) | Place::Secure(_, port) => {
                let mut stream = TcpStream::connect(("127.0.0.1", *port)).ok()?;
                stream.write_all(lines.as_bytes()).ok()?;
                stream.read_to_string(&mut answer).ok()?;
            }
            Place::Socket(path) => {
                let mut stream = UnixStream::connect(path).ok()?;
                stream.write_all(lines.as_bytes()).ok()?;
                stream.read_to_string(&mut answer).ok()?;
            }
        }
        Some(answer)
    }
}

/// Ports that nobody listens on.
fn free_ports<const COUNT: usize>() -> [u16; COUNT] {
    let held = [(); COUNT].map(|()| TcpListener::bind("127.0.0.1:0").expect("binds"));
    held.map(|listener| listener.local_addr().expect("has an address").port())
}

impl Drop for Memcached {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
