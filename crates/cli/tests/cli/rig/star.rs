//! Several generator hosts around one server: network namespaces with a link each, and an nginx in the middle that counts
//! along. Gone with the value.

use super::{find_program, wait_until};
use std::fs;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tempfile::TempDir;

/// The server's address, the same for all generators.
const SERVER_ADDRESS: &str = "10.78.0.1";

/// Numbers of the stars of this process.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// The namespaces and the server; they end when the value is dropped.
pub struct Star {
    ip: PathBuf,
    server: String,
    generators: Vec<String>,
    folder: TempDir,
    nginx: Option<Child>,
}

impl Star {
    /// Makes a server and so many generators. `None` without the rights, `ip` or nginx.
    pub fn make(generators: usize) -> Option<Star> {
        let (ip, nginx) = (find_program("ip")?, find_program("nginx")?);
        let tag = format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let mut star = Star {
            ip,
            server: format!("sysdyno-c{tag}"),
            generators: (0..generators).map(|number| format!("sysdyno-r{number}-{tag}")).collect(),
            folder: TempDir::new().expect("a folder for nginx"),
            nginx: None,
        };
        let server_address = format!("{SERVER_ADDRESS}/32");
        let is_made = star.ip(&["netns", "add", &star.server])
            && star.ip(&["-n", &star.server, "link", "set", "lo", "up"])
            && star.ip(&["-n", &star.server, "addr", "add", &server_address, "dev", "lo"])
            && (0..generators).all(|number| star.link(number));
        if !is_made {
            return None;
        }
        star.serve(&nginx);
        Some(star)
    }

    /// Makes a generator's namespace, with a way to the server.
    fn link(&self, number: usize) -> bool {
        let (g, s) = (self.generators[number].as_str(), self.server.as_str());
        let device = format!("v{number}");
        let [near, far] = [2, 1].map(|end| format!("10.78.{}.{end}", number + 1));
        self.ip(&["netns", "add", g])
            && self.ip(&["-n", g, "link", "add", "v", "type", "veth", "peer", "name", &device, "netns", s])
            && self.ip(&["-n", g, "addr", "add", &format!("{near}/24"), "dev", "v"])
            && self.ip(&["-n", s, "addr", "add", &format!("{far}/24"), "dev", &device])
            && self.ip(&["-n", g, "link", "set", "lo", "up"])
            && self.ip(&["-n", g, "link", "set", "v", "up"])
            && self.ip(&["-n", s, "link", "set", &device, "up"])
            && self.ip(&["-n", g, "route", "add", SERVER_ADDRESS, "via", &far])
    }

    fn serve(&mut self, nginx: &std::path::Path) {
        let folder = self.folder.path().display().to_string();
        fs::write(self.folder.path().join("nginx.conf"), configuration(&folder)).expect("writes");
        let mut command = Command::new(&self.ip);
        command.args(["netns", "exec", &self.server]).arg(nginx);
        command.args(["-p", &folder, "-e", "error.log", "-c", "nginx.conf"]);
        let started = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        self.nginx = Some(started.expect("nginx starts"));
        let is_up = wait_until(Duration::from_secs(10), || UnixStream::connect(self.socket()).is_ok());
        assert!(is_up, "nginx did not come up: {}", self.read("error.log"));
    }

    pub fn url(&self) -> String {
        format!("http://{SERVER_ADDRESS}/ok")
    }

    /// A program in the server's namespace, not yet started.
    pub fn server_command(&self, program: &str) -> Command {
        self.inside(&self.server, program)
    }

    /// A program in a generator's namespace, not yet started.
    pub fn generator_command(&self, number: usize, program: &str) -> Command {
        self.inside(&self.generators[number], program)
    }

    fn inside(&self, namespace: &str, program: &str) -> Command {
        let mut command = Command::new(&self.ip);
        command.args(["netns", "exec", namespace, program]);
        command
    }

    /// What a user types for a generator.
    pub fn generator(&self, number: usize) -> String {
        format!("netns:{}", self.generators[number])
    }

    /// The same for all of them.
    pub fn all(&self) -> String {
        (0..self.generators.len()).map(|number| self.generator(number)).collect::<Vec<_>>().join(",")
    }

    /// Requests that nginx has logged of a generator.
    pub fn logged_of(&self, number: usize) -> u64 {
        let begin = format!("10.78.{}.2 ", number + 1);
        self.read("access.log").lines().filter(|line| line.starts_with(&begin)).count() as u64
    }

    /// Requests that its status page has counted, the one for the page itself not included.
    pub fn status_count(&self) -> u64 {
        let mut stream = UnixStream::connect(self.socket()).expect("nginx listens");
        stream.set_read_timeout(Some(Duration::from_secs(10))).expect("a timeout can be set");
        write!(stream, "GET /nginx-status HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            .expect("it reads");
        let mut page = String::new();
        stream.read_to_string(&mut page).expect("nginx answers");
        let numbers = page.lines().skip_while(|line| !line.contains("accepts handled requests")).nth(1);
        let requests = numbers.and_then(|line| line.split_whitespace().nth(2)?.parse::<u64>().ok());
        requests.unwrap_or_else(|| panic!("no count of requests in {page:?}")) - 1
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("status.sock")
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(name)).unwrap_or_default()
    }

    fn ip(&self, arguments: &[&str]) -> bool {
        let ended = Command::new(&self.ip).args(arguments).stderr(Stdio::null()).status();
        ended.is_ok_and(|status| status.success())
    }
}

impl Drop for Star {
    fn drop(&mut self) {
        if let Some(mut nginx) = self.nginx.take() {
            let pid = rustix::process::Pid::from_child(&nginx);
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
            let _ = nginx.wait();
        }
        for name in self.generators.iter().chain([&self.server]) {
            self.ip(&["netns", "del", name]);
        }
    }
}

fn configuration(folder: &str) -> String {
    format!(
        "user root;
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log warn;
events {{ worker_connections 1024; }}
http {{
    log_format counted '$remote_addr \"$request\" $status';
    access_log {folder}/access.log counted;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    keepalive_requests 1000000000;
    server {{
        listen {SERVER_ADDRESS}:80 backlog=1024;
        listen unix:{folder}/status.sock;
        location = /ok {{ return 200 'hello'; }}
        location = /nginx-status {{ stub_status; access_log off; }}
    }}
}}
"
    )
}
