//! Checks a service's configuration file with the service's own program, and makes the service reload it.
//!
//! Output is bounded. A process is signaled only if both its pid file and its name identify it as the service.

use crate::program::Program;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use sysdyno_tune::{Service, Services};

/// Longest output of a program that is passed on, in characters.
const MAX_SAID: usize = 4096;

/// How long a service may take to check its files, or to be told to read them again.
const LIMIT: Duration = Duration::from_secs(30);

/// Longest file that is looked into for a pid file. Unit: bytes.
const MAX_FILE: u64 = 256 * 1024;

/// Where services are that are not on every path.
const MORE_PATH: &str = "/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin";

/// How a service is made to read its files.
#[derive(Clone, Copy)]
enum Reload {
    /// By its program, with these arguments.
    Program(&'static [&'static str]),
    /// By a signal to the process of the pid file that this directive names.
    Signal(&'static str, &'static str),
    /// Not at all: it has to be restarted.
    Restart,
}

/// How to check and reload a service; `{}` in arguments is replaced with the main file.
#[derive(Clone, Copy)]
struct Known {
    service: Service,
    /// Names of its program, the first that is there is taken.
    programs: &'static [&'static str],
    /// What makes the program check the file and end; nothing where it cannot.
    check: &'static [&'static str],
    reload: Reload,
}

const KNOWN: [Known; 6] = [
    Known {
        service: Service::Nginx,
        programs: &["nginx"],
        check: &["-t", "-q", "-c", "{}"],
        reload: Reload::Program(&["-s", "reload", "-c", "{}"]),
    },
    Known {
        service: Service::PhpFpm,
        programs: &["php-fpm", "php-fpm8.4", "php-fpm8.3", "php-fpm8.2", "php-fpm8.1", "php-fpm7.4"],
        check: &["-t", "-y", "{}"],
        reload: Reload::Signal("USR2", "global/pid"),
    },
    Known {
        service: Service::MariaDb,
        programs: &["mariadbd", "mysqld"],
        check: &["--defaults-file={}", "--help", "--verbose"],
        reload: Reload::Restart,
    },
    Known { service: Service::Memcached, programs: &["memcached"], check: &[], reload: Reload::Restart },
    Known {
        service: Service::Lighttpd,
        programs: &["lighttpd"],
        check: &["-tt", "-f", "{}"],
        reload: Reload::Signal("USR1", "server.pid-file"),
    },
    Known {
        service: Service::Apache,
        programs: &["apachectl", "apache2ctl", "httpd", "apache2"],
        check: &["-t", "-f", "{}"],
        reload: Reload::Program(&["-k", "graceful", "-f", "{}"]),
    },
];

/// Services of this host, dealt with by their own programs.
#[derive(Clone, Copy, Debug)]
pub(super) struct ServicePrograms;

/// The one that there is.
pub(super) static SERVICE_PROGRAMS: ServicePrograms = ServicePrograms;

impl Services for ServicePrograms {
    fn check(&self, service: Service, main: &Path) -> io::Result<()> {
        let known = known(service)?;
        if known.check.is_empty() {
            return Ok(());
        }
        ask(&program(known, main)?, &filled(known.check, main))
    }

    fn reload(&self, service: Service, main: &Path) -> io::Result<()> {
        let known = known(service)?;
        match known.reload {
            Reload::Restart => Ok(()),
            Reload::Program(arguments) => ask(&program(known, main)?, &filled(arguments, main)),
            Reload::Signal(signal, directive) => {
                let program = program(known, main)?;
                let name = program.file_name().and_then(|name| name.to_str()).unwrap_or_default();
                let pid_file = pid_file(service, main, directive)?;
                let arguments = ["--signal", signal, "--pidfile", &pid_file, "--exact", name];
                ask(Path::new("pkill"), &arguments.map(str::to_owned))
            }
        }
    }
}

fn known(service: Service) -> io::Result<&'static Known> {
    KNOWN.iter().find(|known| known.service == service).ok_or_else(|| io::ErrorKind::Unsupported.into())
}

fn filled(arguments: &[&str], main: &Path) -> Vec<String> {
    arguments.iter().map(|argument| argument.replace("{}", &main.display().to_string())).collect()
}

/// The program of a service: one whose version is in the path of the file, as in `/etc/php/8.2`, else the first.
fn program(known: &Known, main: &Path) -> io::Result<PathBuf> {
    let found = places(known.programs);
    let folders: Vec<&str> = main.iter().filter_map(|step| step.to_str()).collect();
    let is_of_version = |path: &&PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let version = name.trim_start_matches(|letter: char| !letter.is_ascii_digit());
        !version.is_empty() && folders.contains(&version)
    };
    match found.iter().find(is_of_version) {
        Some(program) => Ok(program.clone()),
        None => find(known.programs),
    }
}

/// The first of some programs that is there.
pub(super) fn find(names: &[&str]) -> io::Result<PathBuf> {
    let first = places(names).into_iter().next();
    first.ok_or_else(|| io::Error::other(format!("'{}' is not installed", names[0])))
}

/// Where those of some programs are that are there.
fn places(names: &[&str]) -> Vec<PathBuf> {
    let folders: Vec<&Path> = MORE_PATH.split(':').map(Path::new).collect();
    let place = |name: &&str| folders.iter().map(|folder| folder.join(name)).find(|path| path.is_file());
    names.iter().filter_map(place).collect()
}

/// The pid file that a main file names.
fn pid_file(service: Service, main: &Path, directive: &str) -> io::Result<String> {
    let mut text = String::new();
    fs::File::open(main)?.take(MAX_FILE).read_to_string(&mut text)?;
    let value = service.value(&text, directive).map_err(io::Error::other)?;
    let value = value.map(|value| value.trim_matches(['"', '\'']).to_owned());
    value.ok_or_else(|| io::Error::other(format!("'{}' has no '{directive}'", main.display())))
}

/// Runs a program to its end; if it fails, its output is the error.
pub(super) fn run(program: Program, arguments: &str) -> io::Result<()> {
    let name = program.name().to_owned();
    let ended = program.run()?;
    if ended.status.success() {
        return Ok(());
    }
    let said: String = ended.said().chars().take(MAX_SAID).collect();
    Err(io::Error::other(format!("{name} {arguments}: {said}")))
}

/// Has a service's program do something.
fn ask(program: &Path, arguments: &[String]) -> io::Result<()> {
    let mut command = Command::new(program);
    command.args(arguments);
    run(Program::new(command, LIMIT), &arguments.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_of_the_version_of_the_file_is_taken() {
        let known = Known { programs: &["true", "sh"], ..KNOWN[0] };
        assert_eq!(
            program(&known, Path::new("/etc/x")).expect("is there").file_name(),
            Some("true".as_ref())
        );
        let missing = Known { programs: &["no-such-program"], ..KNOWN[0] };
        assert!(program(&missing, Path::new("/etc/x")).is_err());
    }

    #[test]
    fn what_a_program_says_is_the_error() {
        let script = |text: &str| ask(Path::new("/bin/sh"), &["-c".to_owned(), text.to_owned()]);
        assert!(script("exit 0").is_ok());
        let error = script("echo 'line 3 is wrong' >&2; exit 1").expect_err("fails").to_string();
        assert!(error.ends_with("line 3 is wrong"), "{error}");
        // More than is told on does not make it wait.
        assert!(script("head -c 1000000 /dev/zero >&2; exit 1").is_err());
    }
}
