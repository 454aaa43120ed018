//! The configuration files of services that run, and what is set in them.
//!
//! A file is only used if it is the same for the service as for this process: that of a container is not.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use sysdyno_record::autotune::SeenSetting;
use sysdyno_record::event::{Event, EventKind, ProcessRole};
use sysdyno_record::plan::Endpoint;
use sysdyno_tune::Service;

/// Longest file that is read. Unit: bytes.
const MAX_BYTES: u64 = 256 * 1024;

/// Most files of one service.
const MAX_FILES: usize = 32;

/// Most processes whose limits are looked at.
const MAX_PROCESSES: usize = 64;

/// How the file of a service is found.
struct Known {
    service: Service,
    /// What a word of its command line has at its end, without a version.
    programs: &'static [&'static str],
    /// What comes before the path of its file in the command line; empty: nothing, the path is in brackets.
    option: &'static str,
    /// Where it is if the command line does not say.
    default: &'static str,
}

/// Services that read their files again while they run. The others are not tuned by their files.
const KNOWN: [Known; 4] = [
    Known {
        service: Service::Nginx,
        programs: &["nginx", "nginx:"],
        option: "-c",
        default: "/etc/nginx/nginx.conf",
    },
    Known { service: Service::PhpFpm, programs: &["php-fpm:"], option: "", default: "" },
    Known {
        service: Service::Lighttpd,
        programs: &["lighttpd"],
        option: "-f",
        default: "/etc/lighttpd/lighttpd.conf",
    },
    Known {
        service: Service::Apache,
        programs: &["apache2", "httpd"],
        option: "-f",
        default: "/etc/apache2/apache2.conf",
    },
];

/// The settings in the files of the services that these processes belong to.
pub fn found_settings(pids: &[u32]) -> Vec<SeenSetting> {
    let mut files: BTreeSet<(&'static str, PathBuf)> = BTreeSet::new();
    let mut all = Vec::new();
    for pid in pids {
        let Some(words) = sysdyno_observe::process_words(*pid) else { continue };
        let Some((known, main)) = main_file(&words) else { continue };
        if !sysdyno_observe::is_file_of(*pid, &main) || !files.insert((known.service.name(), main.clone())) {
            continue;
        }
        for path in files_of(known.service, &main) {
            all.extend(settings_in(known.service, &path));
        }
    }
    let mut keys = BTreeSet::new();
    all.retain(|setting| keys.insert(setting.key.clone()));
    all
}

/// How many descriptors these processes may have open. Most processes that are looked at: [`MAX_PROCESSES`].
pub fn descriptor_settings(pids: &[u32]) -> Vec<SeenSetting> {
    let limit = |pid: &u32| {
        let value = sysdyno_observe::process_descriptor_limit(*pid)?.to_string();
        let key = format!("process.{pid}.nofile");
        Some(SeenSetting { id: "process.*.nofile".into(), key, value: Some(value), is_parameter: false })
    };
    pids.iter().take(MAX_PROCESSES).filter_map(limit).collect()
}

/// The processes of all tiers of the server, as a run watched them.
pub fn target_pids(events: &[Event]) -> Vec<u32> {
    let watched = events.iter().filter_map(|event| match &event.event {
        EventKind::Watched(process) if process.role == ProcessRole::Target => Some(process.pid),
        _ => None,
    });
    watched.collect()
}

/// The accept queue of the server's own port, whose length nobody has asked for; `None`: it is no port.
pub fn listener_setting(endpoint: &Endpoint) -> Option<SeenSetting> {
    let Endpoint::Tcp(address) = endpoint else { return None };
    let key = format!("listener.{}.backlog", address.port());
    Some(SeenSetting { id: "listener.*.backlog".into(), key, value: None, is_parameter: false })
}

/// The service whose process has this command line, and its main file.
fn main_file(words: &[String]) -> Option<(&'static Known, PathBuf)> {
    let first = words.first()?;
    let program = first.rsplit('/').next().unwrap_or(first);
    let known = KNOWN.iter().find(|known| known.programs.contains(&program))?;
    // A worker has its title, and nothing after it that says where its file is.
    if words.get(1).is_some_and(|word| word == "worker" || word == "cache" || word == "pool") {
        return None;
    }
    let named = match known.option {
        "" => words.iter().find_map(|word| word.strip_prefix('(')?.strip_suffix(')')),
        option => words.windows(2).find(|pair| pair[0] == option).map(|pair| pair[1].as_str()),
    };
    let path = PathBuf::from(named.unwrap_or(known.default));
    path.is_absolute().then_some((known, path))
}

/// The main file, and those that belong to it.
fn files_of(service: Service, main: &Path) -> Vec<PathBuf> {
    let mut files = vec![main.to_owned()];
    let text = read(main).unwrap_or_default();
    for pattern in service.includes(&text) {
        let pattern = Path::new(&pattern);
        let (Some(folder), Some(ending)) = (pattern.parent(), pattern.extension()) else { continue };
        let Ok(entries) = fs::read_dir(folder) else { continue };
        let is_meant = |path: &PathBuf| path.extension() == Some(ending);
        let mut included: Vec<PathBuf> =
            entries.flatten().map(|entry| entry.path()).filter(is_meant).take(MAX_FILES).collect();
        included.sort();
        files.extend(included);
    }
    if service == Service::PhpFpm {
        files.extend(main.parent().map(|folder| folder.join("php.ini")).filter(|path| path.is_file()));
    }
    files
}

fn settings_in(service: Service, path: &Path) -> Vec<SeenSetting> {
    let Some(text) = read(path) else { return Vec::new() };
    let found = service.found(path, &text).unwrap_or_default();
    found
        .into_iter()
        .map(|one| SeenSetting { id: one.id.to_owned(), key: one.key, value: one.value, is_parameter: false })
        .collect()
}

fn read(path: &Path) -> Option<String> {
    let mut text = String::new();
    fs::File::open(path).ok()?.take(MAX_BYTES + 1).read_to_string(&mut text).ok()?;
    (text.len() as u64 <= MAX_BYTES).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn main_of(line: &str) -> Option<(Service, String)> {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        main_file(&words).map(|(known, path)| (known.service, path.display().to_string()))
    }

    #[test]
    fn the_file_of_a_service_is_in_its_command_line_or_where_packages_put_it() {
        let check = |line: &str, expected: Option<(Service, &str)>| {
            assert_eq!(main_of(line), expected.map(|(service, path)| (service, path.to_owned())), "{line}");
        };
        let nginx = |path| Some((Service::Nginx, path));
        check(
            "nginx: master process /usr/sbin/nginx -p /x -c /x/nginx.conf -g daemon off;",
            nginx("/x/nginx.conf"),
        );
        check("nginx: master process /usr/sbin/nginx -g daemon on;", nginx("/etc/nginx/nginx.conf"));
        check("nginx: worker process", None);
        check("/usr/sbin/nginx -c nginx.conf", None);
        check(
            "php-fpm: master process (/etc/php/8.4/fpm/php-fpm.conf)",
            Some((Service::PhpFpm, "/etc/php/8.4/fpm/php-fpm.conf")),
        );
        check("php-fpm: pool www", None);
        check("/usr/sbin/lighttpd -D -f /x/lighttpd.conf", Some((Service::Lighttpd, "/x/lighttpd.conf")));
        check("/usr/sbin/apache2 -k start", Some((Service::Apache, "/etc/apache2/apache2.conf")));
        check("/usr/sbin/mariadbd", None);
    }

    #[test]
    fn pools_and_the_file_of_php_belong_to_php_fpm() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("pool.d")).expect("makes");
        let include = format!("[global]\ninclude={}/*.conf\n", at("pool.d").display());
        fs::write(at("php-fpm.conf"), include).expect("writes");
        fs::write(at("pool.d/www.conf"), "[www]\npm.max_children = 5\n").expect("writes");
        fs::write(at("pool.d/old.bak"), "[www]\npm.max_children = 6\n").expect("writes");
        fs::write(at("php.ini"), "[opcache]\nopcache.enable=0\n").expect("writes");
        let files = files_of(Service::PhpFpm, &at("php-fpm.conf"));
        assert_eq!(files, [at("php-fpm.conf"), at("pool.d/www.conf"), at("php.ini")]);
        let all: Vec<SeenSetting> =
            files.iter().flat_map(|path| settings_in(Service::PhpFpm, path)).collect();
        let value = |id: &str| all.iter().find(|one| one.id == id).and_then(|one| one.value.clone());
        assert_eq!(value("php-fpm:*:*/pm.max_children").as_deref(), Some("5"));
        assert_eq!(value("php-fpm:*:*/opcache.enable").as_deref(), Some("0"));
    }
}
