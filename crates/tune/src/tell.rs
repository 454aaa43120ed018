//! Reports what a process without a terminal has done: to the system log, and to the terminal where the trial was started.

use rustix::fs::{FileType, Mode, OFlags};
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where the system log listens. Source: syslog(3).
const LOG: &str = "/dev/log";

/// Facility daemon, severity notice. Source: RFC 3164, 4.1.1.
const PRIORITY: u32 = 3 * 8 + 5;

/// How long a log that is not read is waited for.
const LIMIT: Duration = Duration::from_secs(1);

/// A terminal, by its path and whose it was: another user may get its name later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terminal {
    /// Its device.
    pub path: PathBuf,
    /// Whose it was.
    pub uid: u32,
}

/// Tells all who listen; that nobody does is no error. The text must not hold what a terminal could take for commands.
pub fn tell(text: &str, terminal: Option<&Terminal>) {
    let _ = log(Path::new(LOG), text);
    let _ = terminal.map(|terminal| terminal.write(text));
}

/// Sends one message for each line.
fn log(to: &Path, text: &str) -> io::Result<()> {
    let socket = UnixDatagram::unbound()?;
    socket.set_write_timeout(Some(LIMIT))?;
    socket.connect(to)?;
    let name = format!("<{PRIORITY}>sysdyno[{}]: ", std::process::id());
    text.lines().try_for_each(|line| socket.send(format!("{name}{line}").as_bytes()).map(drop))
}

impl Terminal {
    /// The terminal of a descriptor; `None` if it is none.
    pub fn of(file: impl std::os::fd::AsFd) -> Option<Terminal> {
        let name = rustix::termios::ttyname(&file, Vec::new()).ok()?;
        let uid = rustix::fs::fstat(&file).ok()?.st_uid;
        Some(Terminal { path: name.into_string().ok()?.into(), uid })
    }

    fn write(&self, text: &str) -> io::Result<()> {
        // One that was stopped is not waited for.
        let flags = OFlags::WRONLY | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(rustix::fs::open(&self.path, flags, Mode::empty())?);
        let found = file.metadata()?;
        let is_terminal = FileType::from_raw_mode(found.mode()) == FileType::CharacterDevice
            && rustix::termios::isatty(&file);
        if is_terminal && found.uid() == self.uid {
            write!(file, "\r\nsysdyno: {}\r\n", text.replace('\n', "\r\n"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_log_gets_each_line_with_name_and_priority() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("log");
        let listener = UnixDatagram::bind(&place).expect("listens");
        log(&place, "one\ntwo").expect("sends");
        let mut heard = [0; 100];
        for line in ["one", "two"] {
            let length = listener.recv(&mut heard).expect("hears");
            let wanted = format!("<29>sysdyno[{}]: {line}", std::process::id());
            assert_eq!(String::from_utf8_lossy(&heard[..length]), wanted);
        }
        assert!(log(&folder.path().join("none"), "x").is_err());
    }

    #[test]
    fn what_is_no_terminal_or_another_users_is_not_written_to() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        assert_eq!(Terminal::of(file.as_file()), None);
        let terminal = Terminal { path: file.path().into(), uid: rustix::process::geteuid().as_raw() };
        terminal.write("x").expect("is left alone");
        assert_eq!(file.as_file().metadata().expect("is there").len(), 0);
    }
}
