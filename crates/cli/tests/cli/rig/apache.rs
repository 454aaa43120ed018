//! A real Apache in a folder of its own, on a free loopback port, that logs what it was asked.

use super::{find_program, wait_until};
use std::fs::{self, Permissions};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// How often another port is tried, since a free port can be taken before Apache binds it.
const ATTEMPTS: usize = 5;

/// Where distributions keep the modules.
const MODULES: [&str; 3] = ["/usr/lib/apache2/modules", "/usr/lib64/httpd/modules", "/usr/lib/httpd/modules"];

/// The server; it ends when the value is dropped.
pub struct Apache {
    address: SocketAddr,
    folder: TempDir,
    process: Child,
}

impl Apache {
    /// Starts it with a page, `/page.html`. `None` where Apache is not installed.
    pub fn start() -> Option<Apache> {
        let program = find_program("apache2").or_else(|| find_program("httpd"))?;
        let modules = MODULES.iter().map(PathBuf::from).find(|folder| folder.is_dir())?;
        (0..ATTEMPTS).find_map(|_| Apache::try_start(&program, &modules))
    }

    fn try_start(program: &Path, modules: &Path) -> Option<Apache> {
        let folder = TempDir::new().expect("a folder for Apache");
        let path = folder.path();
        // As root, Apache has its pages read by another user, who has to get into the folder.
        fs::set_permissions(path, Permissions::from_mode(0o755)).expect("an own folder can be opened");
        let address = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).ok()?;
        fs::create_dir(path.join("site")).expect("a folder can be made");
        fs::write(path.join("site/page.html"), "hello from a real server").expect("a file can be written");
        fs::write(path.join("mime.types"), "text/html html\n").expect("likewise");
        fs::write(path.join("apache.conf"), configuration(path, modules, address)).expect("likewise");
        let process = Command::new(program)
            .args(["-f", &path.join("apache.conf").display().to_string(), "-D", "FOREGROUND"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("Apache starts");
        let mut apache = Apache { address, folder, process };
        let is_up = wait_until(Duration::from_secs(10), || {
            TcpStream::connect(address).is_ok()
                || apache.process.try_wait().is_ok_and(|status| status.is_some())
        });
        let is_alive = apache.process.try_wait().is_ok_and(|status| status.is_none());
        (is_up && is_alive).then_some(apache)
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Requests that Apache has logged with this line behind them: `GET /a HTTP/1.1 200`; all of them for none.
    pub fn logged_count(&self, request: &str) -> u64 {
        let log = fs::read_to_string(self.folder.path().join("access.log")).unwrap_or_default();
        log.lines().filter(|line| request.is_empty() || *line == request).count() as u64
    }
}

impl Drop for Apache {
    fn drop(&mut self) {
        let pid = rustix::process::Pid::from_child(&self.process);
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        let _ = self.process.wait();
    }
}

fn configuration(folder: &Path, modules: &Path, address: SocketAddr) -> String {
    let is_root = rustix::process::geteuid().is_root();
    let user = if is_root { "User nobody\nGroup #65534" } else { "" };
    let (folder, modules) = (folder.display(), modules.display());
    format!(
        "ServerRoot {folder}
ServerName localhost
PidFile {folder}/apache.pid
DefaultRuntimeDir {folder}
Mutex pthread
{user}
Listen {address}
LoadModule mpm_event_module {modules}/mod_mpm_event.so
LoadModule authz_core_module {modules}/mod_authz_core.so
LoadModule mime_module {modules}/mod_mime.so
TypesConfig {folder}/mime.types
ErrorLog {folder}/error.log
LogFormat \"%r %>s\" request
CustomLog {folder}/access.log request
KeepAlive On
MaxKeepAliveRequests 100
ThreadsPerChild 25
MaxRequestWorkers 50
DocumentRoot {folder}/site
<Directory {folder}/site>
    Require all granted
</Directory>
"
    )
}
