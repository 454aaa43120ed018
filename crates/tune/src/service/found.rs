//! Which settings a file of a service holds, with their values.

use super::Service;
use super::syntax::Outline;
use crate::tunable::TUNABLES;
use std::path::Path;

/// A setting in a file of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundSetting {
    /// Its definition: `nginx:*:worker_processes`.
    pub id: &'static str,
    /// Its name: `nginx:/etc/nginx/nginx.conf:worker_processes`.
    pub key: String,
    /// Its value; `None`: it is not set, and a line can be added for it.
    pub value: Option<String>,
}

impl Service {
    /// The settings of a text that was read from `path`: those that it sets, and, of a main file, those that it could.
    ///
    /// # Errors
    /// The text cannot be understood.
    pub fn found(self, path: &Path, text: &str) -> Result<Vec<FoundSetting>, String> {
        let outline = self.known().syntax.outline(text)?;
        let is_main = self.main_of(path).is_some_and(|main| main == path);
        let prefix = format!("{}:*:", self.name());
        let path = path.display();
        let mut found = Vec::new();
        for tunable in TUNABLES.iter().flat_map(|table| table.iter()) {
            let Some(directive) = tunable.id.strip_prefix(&prefix) else { continue };
            for directive in spelled_out(&outline, directive) {
                // What is set twice cannot be changed.
                let Ok(entry) = outline.only(&directive) else { continue };
                let value = entry.map(|entry| text[entry.value.clone()].to_owned());
                let can_be_added = is_main && outline.has_place(&directive);
                if value.is_some() || can_be_added {
                    let key = format!("{}:{path}:{directive}", self.name());
                    found.push(FoundSetting { id: tunable.id, key, value });
                }
            }
        }
        Ok(found)
    }

    /// Files that a main file of php-fpm takes its pools from, as patterns; of other services, none.
    pub fn includes(self, text: &str) -> Vec<String> {
        if self != Service::PhpFpm {
            return Vec::new();
        }
        let Ok(outline) = self.known().syntax.outline(text) else { return Vec::new() };
        let named = outline
            .entries
            .iter()
            .filter(|entry| entry.name == "include" || entry.name.ends_with("/include"));
        named.map(|entry| text[entry.value.clone()].to_owned()).collect()
    }
}

/// A directive with every section that sets it in the place of a `*`.
fn spelled_out(outline: &Outline, directive: &str) -> Vec<String> {
    let Some(name) = directive.strip_prefix("*/") else { return vec![directive.to_owned()] };
    let sections =
        outline.entries.iter().filter_map(|entry| entry.name.strip_suffix(name)?.strip_suffix('/'));
    let mut found: Vec<String> = sections.map(|section| format!("{section}/{name}")).collect();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(service: Service, path: &str, text: &str) -> Vec<(String, Option<String>)> {
        let found = service.found(Path::new(path), text).expect("is understood");
        found.into_iter().map(|one| (one.key, one.value)).collect()
    }

    #[test]
    fn a_main_file_holds_what_it_sets_and_what_it_could() {
        let text = "worker_processes 2;\nevents { worker_connections 512; }\nhttp { sendfile on; }\n";
        let found = values(Service::Nginx, "/x/nginx.conf", text);
        let value = |directive: &str| {
            let key = format!("nginx:/x/nginx.conf:{directive}");
            found.iter().find(|(known, _)| *known == key).map(|(_, value)| value.clone())
        };
        assert_eq!(value("worker_processes"), Some(Some("2".into())));
        assert_eq!(value("events/worker_connections"), Some(Some("512".into())));
        assert_eq!(value("http/tcp_nopush"), Some(None));
        let found = values(Service::Nginx, "/x/part.conf", "server_tokens off;\n");
        assert_eq!(found, [], "a part says nothing of what it does not set");
    }

    #[test]
    fn pools_have_the_names_of_their_sections() {
        let text =
            "[global]\npid = /run/p\n[www]\npm = static\npm.max_children = 4\n[api]\npm.max_children = 9\n";
        let found = values(Service::PhpFpm, "/x/php-fpm.conf", text);
        let children = |pool: &str, value: &str| {
            (format!("php-fpm:/x/php-fpm.conf:{pool}/pm.max_children"), Some(value.to_owned()))
        };
        assert!(found.contains(&children("www", "4")) && found.contains(&children("api", "9")), "{found:?}");
        assert_eq!(Service::PhpFpm.includes("[global]\ninclude=/x/pool.d/*.conf\n"), ["/x/pool.d/*.conf"]);
    }

    #[test]
    fn what_is_set_twice_is_not_found() {
        let found = values(Service::Nginx, "/x/nginx.conf", "worker_processes 2;\nworker_processes 3;\n");
        assert!(!found.iter().any(|(key, _)| key.ends_with(":worker_processes")), "{found:?}");
    }
}
