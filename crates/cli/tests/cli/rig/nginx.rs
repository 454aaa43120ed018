//! A real nginx in a folder of its own, on a free loopback port, that counts what it was asked.

use super::{find_program, wait_until};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// How often another port is tried, since a free port can be taken before nginx binds it.
const ATTEMPTS: usize = 5;

/// The server; it ends when the value is dropped.
pub struct Nginx {
    pub address: SocketAddr,
    secure: SocketAddr,
    prior: SocketAddr,
    folder: TempDir,
    process: Child,
}

impl Nginx {
    /// Starts it with these `location` blocks. `None` where nginx is not installed.
    pub fn start(locations: &str) -> Option<Nginx> {
        Nginx::start_with_files(locations, &[])
    }

    /// The same, with files in its folder, which `FOLDER` stands for in the blocks; `ADDRESS` is where it speaks HTTP/1.1.
    pub fn start_with_files(locations: &str, files: &[(String, Vec<u8>)]) -> Option<Nginx> {
        let program = find_program("nginx")?;
        (0..ATTEMPTS).find_map(|_| Nginx::try_start(&program, locations, files))
    }

    fn try_start(program: &std::path::Path, locations: &str, files: &[(String, Vec<u8>)]) -> Option<Nginx> {
        let folder = TempDir::new().expect("a folder for nginx");
        let [address, secure, prior] = free_addresses();
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
        fs::write(folder.path().join("cert.pem"), made.cert.pem()).expect("a file can be written");
        fs::write(folder.path().join("key.pem"), made.signing_key.serialize_pem()).expect("likewise");
        for (name, content) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("it is in a folder")).expect("a folder can be made");
            fs::write(path, content).expect("likewise");
        }
        let prefix = folder.path().display();
        let locations = &locations.replace("FOLDER", &prefix.to_string());
        let locations = &locations.replace("ADDRESS", &address.to_string());
        fs::write(
            folder.path().join("nginx.conf"),
            configuration(&prefix.to_string(), [address, secure, prior], locations),
        )
        .expect("a file can be written");
        let process = Command::new(program)
            .args(["-p", &prefix.to_string(), "-e", "error.log", "-c", "nginx.conf"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("nginx starts");
        let mut nginx = Nginx { address, secure, prior, folder, process };
        let is_up = wait_until(Duration::from_secs(10), || {
            // It opens what it can, and tries the others again before it gives up.
            [address, secure, prior].into_iter().all(|at| TcpStream::connect(at).is_ok())
                || nginx.process.try_wait().is_ok_and(|status| status.is_some())
        });
        let is_alive = nginx.process.try_wait().is_ok_and(|status| status.is_none());
        (is_up && is_alive).then_some(nginx)
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The same over TLS; the certificate is for `localhost`.
    pub fn secure_url(&self, path: &str) -> String {
        format!("https://{}{path}", self.secure)
    }

    /// The same by HTTP/2 without TLS.
    pub fn prior_url(&self, path: &str) -> String {
        format!("http://{}{path}", self.prior)
    }

    /// The file to trust.
    pub fn certificate(&self) -> String {
        self.folder.path().join("cert.pem").display().to_string()
    }

    /// How many different connections of the log have this word behind the request.
    pub fn logged_connections(&self, word: &str) -> u64 {
        let log = fs::read_to_string(self.folder.path().join("access.log")).unwrap_or_default();
        let with_word = log.lines().filter_map(|line| {
            let words: Vec<&str> = line.rsplit('"').next()?.split_whitespace().collect();
            words.contains(&word).then(|| words.last().copied().unwrap_or("").to_owned())
        });
        with_word.collect::<BTreeSet<String>>().len() as u64
    }

    /// Requests that nginx has logged.
    pub fn logged_count(&self) -> u64 {
        let log = fs::read(self.folder.path().join("access.log")).unwrap_or_default();
        log.iter().filter(|byte| **byte == b'\n').count() as u64
    }

    /// Requests that nginx has logged, by method and path: `GET /a`.
    pub fn logged_requests(&self) -> BTreeMap<String, u64> {
        let log = fs::read_to_string(self.folder.path().join("access.log")).unwrap_or_default();
        let mut counts = BTreeMap::new();
        for request in log.lines().filter_map(|line| line.split('"').nth(1)) {
            let words: Vec<&str> = request.split(' ').take(2).collect();
            *counts.entry(words.join(" ")).or_default() += 1;
        }
        counts
    }

    /// Requests that nginx has answered with this status.
    pub fn logged_status(&self, status: u16) -> u64 {
        let log = fs::read_to_string(self.folder.path().join("access.log")).unwrap_or_default();
        let with_status = format!("\" {status} ");
        log.lines().filter(|line| line.contains(&with_status)).count() as u64
    }

    /// Requests that its status page has counted, the one for the page itself not included.
    pub fn status_count(&self) -> u64 {
        let page = self.get("/nginx-status");
        let numbers = page.lines().skip_while(|line| !line.contains("accepts handled requests")).nth(1);
        let requests = numbers.and_then(|line| line.split_whitespace().nth(2)?.parse::<u64>().ok());
        requests.unwrap_or_else(|| panic!("no count of requests in {page:?}")) - 1
    }

    fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(self.address).expect("nginx listens");
        stream.set_read_timeout(Some(Duration::from_secs(10))).expect("a timeout can be set");
        write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").expect("nginx reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("nginx answers");
        answer
    }

    /// A file in its folder; empty if there is none.
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(name)).unwrap_or_default()
    }

    /// Empties a file in its folder, which nginx goes on appending to.
    pub fn empty(&self, name: &str) {
        let file = fs::File::options().write(true).open(self.folder.path().join(name));
        file.and_then(|file| file.set_len(0)).expect("the file is there");
    }

    pub fn error_log(&self) -> String {
        fs::read_to_string(self.folder.path().join("error.log")).unwrap_or_default()
    }
}

/// Held all at once, so that they differ.
fn free_addresses() -> [SocketAddr; 3] {
    let held = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0").expect("binds"));
    held.map(|listener| listener.local_addr().expect("has an address"))
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let pid = rustix::process::Pid::from_child(&self.process);
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        let _ = self.process.wait();
    }
}

fn configuration(prefix: &str, [address, secure, prior]: [SocketAddr; 3], locations: &str) -> String {
    // As root, nginx would run its worker as another user, who may not enter a private folder.
    let user = if rustix::process::geteuid().is_root() { "user root;" } else { "" };
    format!(
        "{user}
daemon off;
worker_processes 1;
pid {prefix}/nginx.pid;
error_log {prefix}/error.log warn;
events {{ worker_connections 1024; }}
http {{
    log_format counted '$remote_addr \"$request\" $status $ssl_protocol $ssl_session_reused $connection';
    access_log {prefix}/access.log counted;
    log_format who '$remote_addr $proxy_protocol_addr $remote_port $proxy_protocol_port $connection';
    client_body_temp_path {prefix}/body;
    proxy_temp_path {prefix}/proxy;
    fastcgi_temp_path {prefix}/fastcgi;
    uwsgi_temp_path {prefix}/uwsgi;
    scgi_temp_path {prefix}/scgi;
    keepalive_requests 1000000000;
    lingering_close off;
    split_clients $request_id $is_unlucky {{ 5% 1; * 0; }}
    server {{
        listen {address} backlog=1024;
        listen {secure} ssl http2 backlog=1024;
        listen {prior} http2 backlog=1024;
        ssl_certificate {prefix}/cert.pem;
        ssl_certificate_key {prefix}/key.pem;
        ssl_session_cache shared:SSL:1m;
        ssl_protocols TLSv1.2 TLSv1.3;
        location = /nginx-status {{ stub_status; access_log off; }}
        {locations}
    }}
}}
"
    )
}
