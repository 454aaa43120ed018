//! A real sshd in the server's namespace of a pair, with keys of its own; nothing of the user's is read or written.

use super::find_program;
use super::pair::{Pair, SERVER_ADDRESS};
use super::wait_until;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

const PORT: u16 = 2222;

/// Users of the other host only: one may do anything by sudo and is asked for no password, the other may not.
pub const OPERATOR: &str = "sysdyno-operator";
pub const GUEST: &str = "sysdyno-guest";

/// What the daemon is started by. It wants an empty folder below /run; that one and the users are its own, and nobody else
/// sees them.
const SCRIPT: &str = "mount -t tmpfs -o mode=755 none /run && mkdir /run/sshd \
    && mount --bind passwd /etc/passwd && { ! [ -e /etc/sudoers ] || mount --bind sudoers /etc/sudoers; } && exec \"$@\"";

/// The daemon; it ends when the value is dropped.
pub struct Sshd {
    folder: TempDir,
    daemon: Child,
}

impl Sshd {
    /// Starts it. `None` where it is not installed.
    pub fn start(pair: &Pair) -> Option<Sshd> {
        let (sshd, keygen) = (find_program("sshd")?, find_program("ssh-keygen")?);
        find_program("ssh")?;
        let folder = TempDir::new().expect("a folder for keys");
        for name in ["host", "user", "stranger"] {
            make_key(&keygen, &folder.path().join(name));
        }
        fs::copy(folder.path().join("user.pub"), folder.path().join("authorized")).expect("copies");
        fs::create_dir(folder.path().join("tmp")).expect("makes a folder");
        set_mode(folder.path(), 0o755);
        set_mode(&folder.path().join("tmp"), 0o1777);
        let at = |name: &str| folder.path().join(name).display().to_string();
        let settings = format!(
            "Port {PORT}\nHostKey {}\nAuthorizedKeysFile {}\nStrictModes no\nUsePAM no\nPidFile none\n\
             PasswordAuthentication no\nPermitRootLogin yes\nSetEnv TMPDIR={}\nLogLevel VERBOSE\n",
            at("host"),
            at("authorized"),
            at("tmp")
        );
        fs::write(folder.path().join("sshd_config"), settings).expect("writes");
        write_users(folder.path());
        let mut command = pair.server_command("/bin/sh");
        command.current_dir(folder.path()).args(["-c", SCRIPT, "sh"]);
        command.arg(sshd).args(["-D", "-e", "-f", &at("sshd_config")]);
        let log = fs::File::create(folder.path().join("log")).expect("makes a file");
        let daemon = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().expect("starts");
        let sshd = Sshd { folder, daemon };
        sshd.write_client("config", "user", "host");
        let log = || fs::read_to_string(sshd.folder.path().join("log")).unwrap_or_default();
        let is_up = wait_until(Duration::from_secs(20), || log().contains("Server listening on 0.0.0.0"));
        assert!(is_up, "sshd did not come up: {}", log());
        Some(sshd)
    }

    /// What a user types for the server's host.
    pub fn server(&self) -> String {
        self.server_of("root")
    }

    /// The same, as another one.
    pub fn server_of(&self, user: &str) -> String {
        format!("ssh://{user}@{SERVER_ADDRESS}:{PORT}")
    }

    /// A configuration for ssh with this key of the user, and this one taken for the host's.
    pub fn client(&self, user: &str, host: &str) -> String {
        self.write_client(&format!("config-{user}-{host}"), user, host)
    }

    /// The usual one.
    pub fn config(&self) -> String {
        self.folder.path().join("config").display().to_string()
    }

    /// Where the other host keeps temporary files, as it sees them.
    pub fn tmp(&self) -> PathBuf {
        let root = PathBuf::from(format!("/proc/{}/root", self.daemon.id()));
        root.join(self.inner_tmp().strip_prefix("/").expect("it is absolute"))
    }

    /// The name of that folder on the other host.
    pub fn inner_tmp(&self) -> PathBuf {
        self.folder.path().join("tmp")
    }

    /// Leaves the other host a mebibyte for temporary files, which nobody else sees; false without `nsenter`.
    pub fn fill_disk(&self) -> bool {
        let Some(nsenter) = find_program("nsenter") else { return false };
        let mut command = Command::new(nsenter);
        command.args(["-m", "-t", &self.daemon.id().to_string()]);
        command.args(["mount", "-t", "tmpfs", "-o", "size=1m", "none"]).arg(self.inner_tmp());
        command.status().is_ok_and(|status| status.success())
    }

    /// Ids of the processes that serve one session each.
    pub fn sessions(&self) -> Vec<u32> {
        let parent = self.daemon.id();
        let children = fs::read_to_string(format!("/proc/{parent}/task/{parent}/children"));
        children.unwrap_or_default().split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
    }

    fn write_client(&self, name: &str, user: &str, host: &str) -> String {
        let key = fs::read_to_string(self.folder.path().join(format!("{host}.pub"))).expect("reads");
        let known = self.folder.path().join(format!("known-{host}"));
        fs::write(&known, format!("[{SERVER_ADDRESS}]:{PORT} {key}")).expect("writes");
        let settings = format!(
            "IdentityFile {}\nIdentitiesOnly yes\nIdentityAgent none\nUserKnownHostsFile {}\n\
             GlobalKnownHostsFile /dev/null\n",
            self.folder.path().join(user).display(),
            known.display()
        );
        let path = self.folder.path().join(name);
        fs::write(&path, settings).expect("writes");
        path.display().to_string()
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
    }
}

fn make_key(keygen: &Path, path: &Path) {
    let made = Command::new(keygen)
        .args(["-q", "-t", "ed25519", "-N", "", "-C", "", "-f"])
        .arg(path)
        .stdin(Stdio::null())
        .status()
        .expect("ssh-keygen starts");
    assert!(made.success(), "no key was made");
}

fn write_users(folder: &Path) {
    let known = fs::read_to_string("/etc/passwd").expect("reads");
    let users = format!("{known}{OPERATOR}:*:64901:64901::/:/bin/sh\n{GUEST}:*:64902:64902::/:/bin/sh\n");
    fs::write(folder.join("passwd"), users).expect("writes");
    set_mode(&folder.join("passwd"), 0o644);
    let sudoers = format!("root ALL=(ALL) ALL\n{OPERATOR} ALL=(ALL) NOPASSWD: ALL\n");
    fs::write(folder.join("sudoers"), sudoers).expect("writes");
    set_mode(&folder.join("sudoers"), 0o440);
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("changes who may read it");
}
