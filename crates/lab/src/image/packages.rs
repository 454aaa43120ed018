//! Debian's packages of this machine: which has a file, what each needs, and which files it has.
//!
//! Read from dpkg's own files (`deb-control(5)`, `/var/lib/dpkg`). Only what a service needs while it runs is followed: what a
//! package depends on, but not what its installation scripts call, nor documents.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Where dpkg keeps its files.
const DPKG: &str = "var/lib/dpkg";

/// Packages that only installation scripts call.
const OF_INSTALLATION: &[&str] = &[
    "adduser",
    "debconf",
    "dpkg",
    "init-system-helpers",
    "lsb-base",
    "passwd",
    "perl",
    "perl-base",
    "sensible-utils",
    "sysvinit-utils",
    "ucf",
];

/// Files that nothing reads while a service runs.
const LEFT_OUT: &[&str] = &[
    "/etc/cron.",
    "/etc/init.d/",
    "/etc/logrotate.d/",
    "/lib/systemd/",
    "/usr/include/",
    "/usr/lib/systemd/",
    "/usr/share/bash-completion/",
    "/usr/share/bug/",
    "/usr/share/doc/",
    "/usr/share/doc-base/",
    "/usr/share/info/",
    "/usr/share/lintian/",
    "/usr/share/locale/",
    "/usr/share/man/",
];

/// The packages that are installed.
#[derive(Debug, Default)]
pub(super) struct Packages {
    info: PathBuf,
    known: BTreeMap<String, Package>,
    /// Names that other packages stand for.
    providers: BTreeMap<String, String>,
    /// The package of each file.
    owners: HashMap<String, String>,
}

#[derive(Debug, Default)]
struct Package {
    architecture: String,
    /// Names of which one each has to be there.
    needs: Vec<Vec<String>>,
}

impl Packages {
    /// Reads dpkg's files below a root.
    ///
    /// # Errors
    /// There are none: the distribution has another kind of packages.
    pub(super) fn read(root: &Path) -> io::Result<Packages> {
        let dpkg = root.join(DPKG);
        let status = fs::read_to_string(dpkg.join("status")).map_err(|error| {
            let cause = "only Debian's packages (dpkg) can be exported";
            io::Error::new(error.kind(), format!("{cause}, and '{}' is missing", dpkg.display()))
        })?;
        let mut packages = Packages { info: dpkg.join("info"), ..Packages::default() };
        status.split("\n\n").for_each(|paragraph| packages.add(paragraph));
        let names: Vec<String> = packages.known.keys().cloned().collect();
        for name in names {
            for file in packages.list(&name) {
                packages.owners.entry(file).or_insert_with(|| name.clone());
            }
        }
        Ok(packages)
    }

    fn add(&mut self, paragraph: &str) {
        let field = |name: &str| {
            let line = paragraph.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
            line.unwrap_or_default()
        };
        let name = field("Package");
        if name.is_empty() || !field("Status").ends_with(" installed") {
            return;
        }
        let provided = field("Provides").split(',').filter_map(first_name);
        for provided in provided {
            self.providers.entry(provided).or_insert_with(|| name.to_owned());
        }
        let needs = [field("Pre-Depends"), field("Depends")];
        let needs = needs.iter().flat_map(|needs| needs.split(','));
        let needs = needs.map(|any| any.split('|').filter_map(first_name).collect()).collect();
        let package = Package { architecture: field("Architecture").to_owned(), needs };
        self.known.entry(name.to_owned()).or_insert(package);
    }

    /// All files and folders of a package, as it lists them.
    fn list(&self, package: &str) -> Vec<String> {
        let architecture = self.known.get(package).map_or("", |known| known.architecture.as_str());
        let names = [format!("{package}.list"), format!("{package}:{architecture}.list")];
        let text = names.iter().find_map(|name| fs::read_to_string(self.info.join(name)).ok());
        let text = text.unwrap_or_default();
        text.lines()
            .filter(|line| line.starts_with('/') && !matches!(*line, "/" | "/."))
            .map(str::to_owned)
            .collect()
    }

    /// The package that has a file; `None`: none has it.
    pub(super) fn owner(&self, path: &str) -> Option<&str> {
        let owner = |path: &str| self.owners.get(path).map(String::as_str);
        // Where /lib is a link into /usr, some packages list the one path and some the other.
        let other = || match path.strip_prefix("/usr") {
            Some(short) => owner(short),
            None => owner(&format!("/usr{path}")),
        };
        owner(path).or_else(other)
    }

    /// These packages and all that they need while they run.
    pub(super) fn closure(&self, seeds: impl IntoIterator<Item = String>) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let mut left: Vec<String> = seeds.into_iter().collect();
        while let Some(name) = left.pop() {
            let Some(package) = self.known.get(&name) else { continue };
            if OF_INSTALLATION.contains(&name.as_str()) || !found.insert(name) {
                continue;
            }
            left.extend(package.needs.iter().filter_map(|any| self.first_installed(any)));
        }
        found
    }

    fn first_installed(&self, any: &[String]) -> Option<String> {
        let real = |name: &String| {
            let provider = || self.providers.get(name).cloned();
            if self.known.contains_key(name) { Some(name.clone()) } else { provider() }
        };
        any.iter().find_map(real)
    }

    /// The paths of a package that an image takes.
    pub(super) fn files(&self, package: &str) -> Vec<PathBuf> {
        let is_kept = |path: &String| !LEFT_OUT.iter().any(|prefix| path.starts_with(prefix));
        self.list(package).into_iter().filter(is_kept).map(PathBuf::from).collect()
    }
}

/// `libc6 (>= 2.36)` and `python3:any` without what follows the name.
fn first_name(text: &str) -> Option<String> {
    let name = text.trim().split([' ', ':', '(']).next().unwrap_or_default();
    (!name.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATUS: &str = "Package: web\nStatus: install ok installed\nArchitecture: amd64\nDepends: libc6 (>= 2.36), adduser, missing | mail, php:any\n\n\
         Package: libc6\nStatus: install ok installed\nArchitecture: amd64\nPre-Depends: web\n\n\
         Package: exim\nStatus: install ok installed\nArchitecture: amd64\nProvides: mail (= 1), other\n\n\
         Package: php\nStatus: deinstall ok config-files\nArchitecture: amd64\n\n\
         Package: adduser\nStatus: install ok installed\nArchitecture: all\nDepends: passwd\n";

    fn packages(folder: &Path) -> Packages {
        let info = folder.join(DPKG).join("info");
        fs::create_dir_all(&info).expect("makes");
        fs::write(folder.join(DPKG).join("status"), STATUS).expect("writes");
        fs::write(info.join("libc6:amd64.list"), "/.\n/lib\n/lib/libc.so.6\n/usr/share/doc/libc6/x\n")
            .expect("writes");
        fs::write(info.join("web.list"), "/usr/sbin/web\n/lib\n").expect("writes");
        Packages::read(folder).expect("reads")
    }

    #[test]
    fn what_a_package_needs_while_it_runs_is_followed() {
        let folder = tempfile::tempdir().expect("a folder");
        let packages = packages(folder.path());
        let closure: Vec<String> = packages.closure(["web".to_owned()]).into_iter().collect();
        assert_eq!(closure, ["exim", "libc6", "web"], "circles end, scripts' programs are left out");
        assert_eq!(packages.files("libc6"), [PathBuf::from("/lib"), PathBuf::from("/lib/libc.so.6")]);
    }

    #[test]
    fn a_file_has_an_owner_by_either_of_its_paths() {
        let folder = tempfile::tempdir().expect("a folder");
        let packages = packages(folder.path());
        assert_eq!(packages.owner("/usr/lib/libc.so.6"), Some("libc6"));
        assert_eq!(packages.owner("/sbin/web"), Some("web"));
        assert_eq!(packages.owner("/usr/local/bin/x"), None);
        let none = tempfile::tempdir().expect("a folder");
        let error = Packages::read(none.path()).expect_err("no dpkg").to_string();
        assert!(error.starts_with("only Debian's packages"), "{error}");
    }
}
