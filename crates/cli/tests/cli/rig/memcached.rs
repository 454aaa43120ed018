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
}

/// A memcached; it ends with this value.
pub struct Memcached {
    child: Child,
    place: Place,
    _folder: tempfile::TempDir,
}

impl Memcached {
    /// One on a port of its own, with so many megabytes; `None` if it is not installed.
    pub fn on_port(megabytes: u32) -> Option<Memcached> {
        let free = TcpListener::bind("127.0.0.1:0").expect("binds");
        let port = free.local_addr().expect("has an address").port();
        drop(free);
        let arguments = ["-l", "127.0.0.1", "-p", &port.to_string(), "-m", &megabytes.to_string()];
        Memcached::start(&arguments, |_| Place::Port(port))
    }

    /// One on a Unix socket; `None` if it is not installed.
    pub fn on_socket() -> Option<Memcached> {
        Memcached::start(&[], Place::Socket)
    }

    fn start(arguments: &[&str], place: impl FnOnce(PathBuf) -> Place) -> Option<Memcached> {
        let program = find_program("memcached")?;
        let folder = tempfile::tempdir().expect("a folder");
        let place = place(folder.path().join("m.sock"));
        let mut command = Command::new(program);
        command.args(arguments).args(["-t", "2", "-U", "0"]);
        if let Place::Socket(path) = &place {
            command.arg("-s").arg(path);
        }
        if rustix::process::geteuid().is_root() {
            command.args(["-u", "root"]);
        }
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("memcached starts");
        let memcached = Memcached { child, place, _folder: folder };
        assert!(wait_until(Duration::from_secs(10), || memcached.ask("version").is_some()), "it answers");
        Some(memcached)
    }

    /// The URL of it.
    pub fn url(&self) -> String {
        match &self.place {
            Place::Port(port) => format!("memcached://127.0.0.1:{port}"),
            Place::Socket(path) => format!("memcached:{}", path.display()),
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
            Place::Port(port) => {
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

impl Drop for Memcached {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
