//! Another machine, as far as it can be had here: a real sshd in network and mount namespaces of its own, with a link to it,
//! keys that were made for it, and a state folder that no login shell has by itself.

use crate::rig::{Rig, wait_until};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Where it is found, and this machine by it.
pub const ADDRESS: &str = "10.99.0.2";
pub const OWN_ADDRESS: &str = "10.99.0.1";

const PORT: u16 = 2222;

/// The machine; its daemon ends when the value is dropped.
pub struct Far {
    folder: PathBuf,
    daemon: Child,
    before: BTreeSet<String>,
}

impl Far {
    /// Starts it.
    pub fn start(rig: &Rig) -> Far {
        let folder = rig.folder().join("far");
        for part in ["tmp", "state"] {
            fs::create_dir_all(folder.join(part)).expect("can be made");
        }
        for name in ["host", "user", "stranger"] {
            let path = folder.join(name).display().to_string();
            run("ssh-keygen", &["-q", "-t", "ed25519", "-N", "", "-C", "", "-f", &path]);
        }
        fs::copy(folder.join("user.pub"), folder.join("authorized")).expect("can be copied");
        let at = |name: &str| folder.join(name).display().to_string();
        let settings = format!(
            "Port {PORT}\nHostKey {}\nAuthorizedKeysFile {}\nStrictModes no\nUsePAM no\nPidFile none\n\
             PasswordAuthentication no\nPermitRootLogin yes\nSetEnv TMPDIR={} SYSDYNO_STATE_DIR={}\nMaxStartups 100\n",
            at("host"),
            at("authorized"),
            at("tmp"),
            at("state")
        );
        fs::write(folder.join("sshd_config"), settings).expect("can be written");
        let script =
            "mount -t tmpfs -o mode=755 none /run && mkdir /run/sshd && ip link set lo up && exec \"$@\"";
        let log = fs::File::create(folder.join("log")).expect("can be made");
        let daemon = Command::new("unshare")
            .args(["--net", "--mount", "sh", "-c", script, "sh", "/usr/sbin/sshd", "-D", "-e", "-f"])
            .arg(at("sshd_config"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("unshare starts");
        let mut far = Far { folder, daemon, before: BTreeSet::new() };
        let said = || fs::read_to_string(far.folder.join("log")).unwrap_or_default();
        let is_up = wait_until(Duration::from_secs(20), || said().contains("Server listening on 0.0.0.0"));
        assert!(is_up, "sshd did not come up: {}", said());
        far.link();
        for user in ["user", "stranger"] {
            far.write_config(user);
        }
        far.before = far.traces();
        far
    }

    fn link(&self) {
        let pid = self.daemon.id().to_string();
        run("ip", &["link", "add", "far0", "type", "veth", "peer", "name", "far1", "netns", &pid]);
        run("ip", &["addr", "add", &format!("{OWN_ADDRESS}/24"), "dev", "far0"]);
        run("ip", &["link", "set", "far0", "up"]);
        // By it this machine finds itself by its address.
        run("ip", &["link", "set", "lo", "up"]);
        let inside = ["-n", "-t", &pid, "ip"];
        run("nsenter", &[&inside[..], &["addr", "add", &format!("{ADDRESS}/24"), "dev", "far1"]].concat());
        run("nsenter", &[&inside[..], &["link", "set", "far1", "up"]].concat());
    }

    fn write_config(&self, user: &str) {
        let key = fs::read_to_string(self.folder.join("host.pub")).expect("is there");
        fs::write(self.folder.join("known"), format!("[{ADDRESS}]:{PORT} {key}")).expect("can be written");
        let settings = format!(
            "IdentityFile {}\nIdentitiesOnly yes\nIdentityAgent none\nUserKnownHostsFile {}\nGlobalKnownHostsFile /dev/null\n",
            self.folder.join(user).display(),
            self.folder.join("known").display()
        );
        fs::write(self.folder.join(format!("config-{user}")), settings).expect("can be written");
    }

    /// What lab.toml says of it.
    pub fn ssh(&self) -> String {
        format!("ssh://root@{ADDRESS}:{PORT}")
    }

    /// A configuration for ssh with the key of `user`, or one that opens nothing: that of `stranger`.
    pub fn config(&self, user: &str) -> String {
        self.folder.join(format!("config-{user}")).display().to_string()
    }

    /// Its state folder.
    pub fn state(&self) -> PathBuf {
        self.folder.join("state")
    }

    /// A command on it, without ssh.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["-n", "-m", "-t", &self.daemon.id().to_string()]).args(words);
        command.env("SYSDYNO_STATE_DIR", self.state()).stdin(Stdio::null());
        command
    }

    /// The bytes of a setting of its network.
    pub fn setting(&self, path: &str) -> String {
        let said = self.command(&["cat", path]).output().expect("nsenter starts");
        assert!(said.status.success(), "{path}: {said:?}");
        String::from_utf8(said.stdout).expect("is text")
    }

    /// How many connections there were so far.
    pub fn connections_count(&self) -> usize {
        let log = fs::read_to_string(self.folder.join("log")).expect("is there");
        log.matches("Accepted publickey").count()
    }

    /// Journals of settings of it that are tried, or were.
    pub fn journals(&self, folder: &str) -> Vec<String> {
        let folder = self.state().join("tune").join(folder);
        let paths = names(&folder).into_iter().filter(|name| name.ends_with(".wal"));
        paths
            .filter_map(|name| fs::read(folder.join(name)).ok())
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .collect()
    }

    /// Everything that a share may leave there but processes, which are seen from here.
    fn traces(&self) -> BTreeSet<String> {
        let own = PathBuf::from(format!("/proc/{}", self.daemon.id()));
        let mounts = fs::read_to_string(own.join("mountinfo")).expect("is there");
        let place = |line: &str| line.split(' ').nth(4).unwrap_or_default().to_owned();
        let mut found: BTreeSet<String> =
            mounts.lines().map(|line| format!("mount {}", place(line))).collect();
        let run = own.join("root/run");
        for folder in [run.clone(), run.join("netns"), self.folder.join("tmp"), self.state().join("lab")] {
            let kept = names(&folder).into_iter().filter(|name| name != "lock" && name != "mount");
            found.extend(kept.map(|name| folder.join(name).display().to_string()));
        }
        let network = fs::read_to_string(own.join("net/dev")).expect("is there");
        let interfaces = network.lines().filter_map(|line| line.split_once(':'));
        found.extend(interfaces.map(|(name, _)| format!("link {}", name.trim())));
        found
    }

    /// What is there that was not there at the beginning, or the other way round.
    pub fn left(&self) -> Vec<String> {
        wait_until(Duration::from_secs(5), || self.traces() == self.before);
        self.traces().symmetric_difference(&self.before).cloned().collect()
    }
}

impl Drop for Far {
    fn drop(&mut self) {
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
    }
}

fn names(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

fn run(program: &str, arguments: &[&str]) {
    let status = Command::new(program).args(arguments).stdin(Stdio::null()).status();
    assert!(status.is_ok_and(|status| status.success()), "{program} {arguments:?}");
}
