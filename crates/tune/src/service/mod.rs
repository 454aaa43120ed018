//! Services with settings in files: which services, what a file says, and how to change one value in it.
//!
//! This crate starts no process: [`Services`], which the caller passes in, checks that the service accepts a file and makes
//! it reload the file.

mod found;
mod syntax;

pub use found::FoundSetting;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use syntax::Syntax;

/// A service that reads its settings from a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// nginx.
    Nginx,
    /// PHP's process manager.
    PhpFpm,
    /// MariaDB, and MySQL.
    MariaDb,
    /// memcached, by Debian's file of options.
    Memcached,
    /// lighttpd.
    Lighttpd,
    /// Apache's httpd.
    Apache,
}

/// What there is to know of one.
struct Known {
    service: Service,
    name: &'static str,
    syntax: Syntax,
    /// Names of its main file; none where every file can be looked at alone.
    main: &'static [&'static str],
}

const KNOWN: [Known; 6] = [
    Known { service: Service::Nginx, name: "nginx", syntax: Syntax::Braces, main: &["nginx.conf"] },
    Known { service: Service::PhpFpm, name: "php-fpm", syntax: Syntax::Sections, main: &["php-fpm.conf"] },
    Known { service: Service::MariaDb, name: "mariadb", syntax: Syntax::Sections, main: &[] },
    Known { service: Service::Memcached, name: "memcached", syntax: Syntax::Options, main: &[] },
    Known {
        service: Service::Lighttpd,
        name: "lighttpd",
        syntax: Syntax::Assignments,
        main: &["lighttpd.conf"],
    },
    Known {
        service: Service::Apache,
        name: "apache",
        syntax: Syntax::Tags,
        main: &["apache2.conf", "httpd.conf"],
    },
];

/// Has services look at their files.
pub trait Services: fmt::Debug + Sync {
    /// Has a service's own program say whether it understands `main` with all that it includes.
    ///
    /// # Errors
    /// It does not, in the words of the program; or the program cannot be run.
    fn check(&self, service: Service, main: &Path) -> io::Result<()>;

    /// Has a service that runs read its files again; one that has to be restarted for that is left alone.
    ///
    /// # Errors
    /// It could not be told.
    fn reload(&self, service: Service, main: &Path) -> io::Result<()>;
}

impl Service {
    fn known(self) -> &'static Known {
        KNOWN.iter().find(|known| known.service == self).expect("every service is in the table")
    }

    /// Its name, as keys begin with.
    pub fn name(self) -> &'static str {
        self.known().name
    }

    /// The service of this name.
    pub(crate) fn named(name: &str) -> Option<Service> {
        KNOWN.iter().find(|known| known.name == name).map(|known| known.service)
    }

    /// The main file that a file of this service is a part of: itself, or the nearest one in its folder or above.
    pub(crate) fn main_of(self, file: &Path) -> Option<PathBuf> {
        let names = self.known().main;
        let is_main =
            file.file_name().and_then(|name| name.to_str()).is_some_and(|name| names.contains(&name));
        if names.is_empty() || is_main {
            return Some(file.to_owned());
        }
        let folders = file.ancestors().skip(1);
        folders.flat_map(|folder| names.iter().map(|name| folder.join(name))).find(|main| main.is_file())
    }

    /// The value of a directive in a text of this service; `None` if it is not set there.
    ///
    /// # Errors
    /// It is set more than once, or the text cannot be understood.
    pub fn value<'a>(self, text: &'a str, directive: &str) -> Result<Option<&'a str>, String> {
        let outline = self.known().syntax.outline(text)?;
        Ok(outline.only(directive)?.map(|entry| &text[entry.value.clone()]))
    }

    /// The text with another value of a directive, and not another byte changed.
    pub(crate) fn edited(self, text: &str, directive: &str, value: &str) -> Result<String, String> {
        let syntax = self.known().syntax;
        let outline = syntax.outline(text)?;
        let new = match outline.only(directive)? {
            Some(entry) => format!("{}{value}{}", &text[..entry.value.start], &text[entry.value.end..]),
            None => {
                let (at, line) = syntax.insertion(&outline, text, (directive, value))?;
                format!("{}{line}{}", &text[..at], &text[at..])
            }
        };
        // What was written is what is read; a value that would end its own line or block is not.
        match self.value(&new, directive) {
            Ok(Some(found)) if found == value => Ok(new),
            _ => Err(format!("'{value}' cannot be written there")),
        }
    }
}

#[cfg(test)]
mod tests;
