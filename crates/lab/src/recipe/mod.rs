//! Recipes: data that describes how to set up a service. They are TOML files built into the program.
//!
//! Specified in `docs/reference/formats/lab.md`. A recipe contains no code, only texts with placeholders ([`template`]),
//! arguments of programs, and conditions to wait for.

mod metric;
mod parameter;
mod template;

pub use metric::ServiceMetric;
pub(super) use parameter::ParameterValue;
pub use parameter::{Parameter, ParameterKind};
pub(super) use template::TemplateValues;

use serde::Deserialize;
use std::collections::BTreeMap;
use std::time::Duration;

/// How long a service may take to be ready where its recipe says nothing. Unit: seconds.
const READY_SECONDS: u64 = 30;

/// How long a service may take to stop where its recipe says nothing. Unit: seconds.
const STOP_SECONDS: u64 = 10;

/// All recipes, by name.
const RECIPES: &[(&str, &str)] = &[
    ("apache", include_str!("../../recipes/apache.toml")),
    ("caddy", include_str!("../../recipes/caddy.toml")),
    ("command", include_str!("../../recipes/command.toml")),
    ("file-copier", include_str!("../../recipes/file-copier.toml")),
    ("file-system", include_str!("../../recipes/file-system.toml")),
    ("h2o", include_str!("../../recipes/h2o.toml")),
    ("hadoop-client", include_str!("../../recipes/hadoop-client.toml")),
    ("hdfs-datanode", include_str!("../../recipes/hdfs-datanode.toml")),
    ("hdfs-namenode", include_str!("../../recipes/hdfs-namenode.toml")),
    ("hdfs-secondary", include_str!("../../recipes/hdfs-secondary.toml")),
    ("lighttpd", include_str!("../../recipes/lighttpd.toml")),
    ("load-generators", include_str!("../../recipes/load-generators.toml")),
    ("lossy-path", include_str!("../../recipes/lossy-path.toml")),
    ("mariadb", include_str!("../../recipes/mariadb.toml")),
    ("memcached", include_str!("../../recipes/memcached.toml")),
    ("mighttpd2", include_str!("../../recipes/mighttpd2.toml")),
    ("nfs-ganesha", include_str!("../../recipes/nfs-ganesha.toml")),
    ("nginx", include_str!("../../recipes/nginx.toml")),
    ("packet-filter", include_str!("../../recipes/packet-filter.toml")),
    ("php-fpm", include_str!("../../recipes/php-fpm.toml")),
    ("samba", include_str!("../../recipes/samba.toml")),
    ("sshd", include_str!("../../recipes/sshd.toml")),
    ("subversion-copy", include_str!("../../recipes/subversion-copy.toml")),
    ("subversion-server", include_str!("../../recipes/subversion-server.toml")),
    ("web20", include_str!("../../recipes/web20.toml")),
    ("wordpress", include_str!("../../recipes/wordpress.toml")),
    ("yarn-nodemanager", include_str!("../../recipes/yarn-nodemanager.toml")),
    ("yarn-resourcemanager", include_str!("../../recipes/yarn-resourcemanager.toml")),
];

/// Files of recipes that are too long to stand in them, by the name that `from` has for them.
const FILES: &[(&str, &str)] = &[
    ("copier/copy.py", include_str!("../../recipes/copier/copy.py")),
    ("copier/make.awk", include_str!("../../recipes/copier/make.awk")),
    ("hadoop/capacity-scheduler.xml", include_str!("../../recipes/hadoop/capacity-scheduler.xml")),
    ("hadoop/core-site.xml", include_str!("../../recipes/hadoop/core-site.xml")),
    ("hadoop/hdfs-site.xml", include_str!("../../recipes/hadoop/hdfs-site.xml")),
    ("hadoop/jars.txt", include_str!("../../recipes/hadoop/jars.txt")),
    ("hadoop/log4j.properties", include_str!("../../recipes/hadoop/log4j.properties")),
    ("hadoop/mapred-site.xml", include_str!("../../recipes/hadoop/mapred-site.xml")),
    ("hadoop/pom.xml", include_str!("../../recipes/hadoop/pom.xml")),
    ("hadoop/run.sh", include_str!("../../recipes/hadoop/run.sh")),
    ("hadoop/yarn-site.xml", include_str!("../../recipes/hadoop/yarn-site.xml")),
    ("php/status.php", include_str!("../../recipes/php/status.php")),
    ("subversion/dump.awk", include_str!("../../recipes/subversion/dump.awk")),
    ("web20/forms.php", include_str!("../../recipes/web20/forms.php")),
    ("web20/index.php", include_str!("../../recipes/web20/index.php")),
    ("web20/pages.php", include_str!("../../recipes/web20/pages.php")),
    ("web20/setup.php", include_str!("../../recipes/web20/setup.php")),
    ("web20/site.php", include_str!("../../recipes/web20/site.php")),
    ("wordpress/advanced-cache.php", include_str!("../../recipes/wordpress/advanced-cache.php")),
    ("wordpress/object-cache.php", include_str!("../../recipes/wordpress/object-cache.php")),
    ("wordpress/setup.php", include_str!("../../recipes/wordpress/setup.php")),
];

/// How a service is put up.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Recipe {
    /// Its name, which is not in the file.
    #[serde(skip)]
    pub name: String,
    /// What it is, in one line.
    pub does: String,
    /// Programs by the name that texts have for them; of several the first that is there is taken.
    #[serde(default)]
    pub programs: BTreeMap<String, Vec<String>>,
    /// Other files that it takes, by name; of several the first that is there is taken.
    #[serde(default)]
    pub paths: BTreeMap<String, Vec<String>>,
    /// Accounts that the service may run as; the first that is there is taken.
    #[serde(default)]
    pub users: Vec<String>,
    /// Packages with programs and files, by distribution.
    #[serde(default)]
    pub packages: BTreeMap<String, Vec<String>>,
    /// What can be chosen.
    #[serde(default)]
    pub parameters: BTreeMap<String, Parameter>,
    #[serde(default)]
    pub(super) folders: Vec<String>,
    #[serde(default)]
    pub(super) files: Vec<FileTemplate>,
    pub(super) volume: Option<Volume>,
    /// What texts of it and of recipes that refer to it call it.
    pub(super) itself: Option<String>,
    pub(super) jars: Option<Jars>,
    #[serde(default)]
    pub(super) at_most: Vec<AtMost>,
    pub(super) start: Start,
    pub(super) ready: HealthCheck,
    /// What can be tuned while it runs.
    #[serde(default)]
    pub tunables: Vec<TunableKey>,
    pub(super) metrics: Option<Metrics>,
    #[serde(default)]
    pub(super) symptoms: Vec<Symptom>,
    /// What of it is kept.
    #[serde(default)]
    pub metric: Vec<ServiceMetric>,
}

/// A file that is made from a text.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileTemplate {
    pub(super) path: String,
    #[serde(default)]
    pub(super) text: String,
    /// Which of [`FILES`] the text is; `None`: it stands in the recipe.
    from: Option<String>,
}

/// A file system of its own, in a file; all are texts with places.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Volume {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) size_mib: String,
    /// Of the mount.
    pub(super) options: String,
    /// What makes each kind.
    pub(super) make: BTreeMap<String, Vec<String>>,
    /// Requests per second of its disk at most; 0: no limit.
    pub(super) iops: String,
    /// MiB per second, likewise.
    pub(super) mib_per_second: String,
}

/// Jars from Maven Central.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Jars {
    /// Of the set, with its version.
    pub(super) name: String,
    /// Which of [`FILES`] says what is wanted, and which what that comes to.
    pom: String,
    list: String,
}

impl Jars {
    pub(super) fn pom(&self) -> &'static str {
        embedded(&self.pom)
    }

    pub(super) fn list(&self) -> &'static str {
        embedded(&self.list)
    }
}

/// A parameter that must not be more than there are services of a recipe that refer to this one.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AtMost {
    pub(super) parameter: String,
    pub(super) recipe: String,
    /// The parameter of that recipe that refers.
    pub(super) through: String,
    /// What would happen otherwise.
    pub(super) because: String,
}

/// How it is started and stopped.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Start {
    pub(super) argv: Vec<String>,
    #[serde(default)]
    pub(super) prepare: Vec<Vec<String>>,
    #[serde(default)]
    pub(super) stop: StopSignal,
    /// Unit: seconds.
    pub(super) stop_within: Option<u64>,
    /// What makes it read its files again; `None`: only a restart does.
    pub(super) reload: Option<ReloadSignal>,
}

impl Start {
    pub(super) fn stop_within(&self) -> Duration {
        Duration::from_secs(self.stop_within.unwrap_or(STOP_SECONDS))
    }
}

/// The signal that ends a service in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum StopSignal {
    /// SIGTERM.
    #[default]
    Term,
    /// SIGQUIT.
    Quit,
    /// SIGINT.
    Int,
    /// SIGWINCH, which ends Apache's httpd in order.
    Winch,
    /// SIGKILL.
    Kill,
}

/// How to check whether a service works.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HealthCheck {
    /// A path to request by HTTP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http: Option<String>,
    /// The status that the answer has to have; `None`: 200 to 399.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// A port that has to take connections; with `http` where to ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<String>,
    /// What the body of the answer has to hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// What the service has to have printed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
    /// How long that may take. Unit: seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<u64>,
}

impl HealthCheck {
    pub(super) fn within(&self) -> Duration {
        Duration::from_secs(self.within.unwrap_or(READY_SECONDS))
    }
}

/// The signal that makes a service read its files again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(super) enum ReloadSignal {
    Hup,
    Usr1,
    Usr2,
}

/// A setting of the service that `sysdyno tune` changes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TunableKey {
    /// Its key, with places.
    pub key: String,
    /// What it does.
    pub does: String,
}

/// A number that the service tells of itself in JSON, and that should not be above a value.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Symptom {
    /// The path to request.
    pub(super) http: String,
    pub(super) port: String,
    /// Its name.
    pub(super) number: String,
    #[serde(default)]
    pub(super) above: i64,
    /// What it means, with `{NAME}` for other numbers of the answer.
    pub(super) says: String,
    /// What to do.
    pub(super) hint: String,
}

/// Where the service tells of itself: one of both.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Metrics {
    pub(super) url: Option<String>,
    /// A program and its arguments; what it prints is the answer.
    #[serde(default)]
    pub(super) run: Vec<String>,
}

/// Names of all recipes.
pub fn names() -> impl Iterator<Item = &'static str> {
    RECIPES.iter().map(|(name, _)| *name)
}

/// The recipe of this name; `None` if there is none.
pub fn find(name: &str) -> Option<Recipe> {
    let (name, text) = RECIPES.iter().find(|(known, _)| *known == name)?;
    let mut recipe: Recipe = toml::from_str(text).expect("every recipe is read in a test");
    recipe.name = (*name).to_owned();
    for file in &mut recipe.files {
        if let Some(from) = &file.from {
            file.text = embedded(from).to_owned();
        }
    }
    Some(recipe)
}

fn embedded(name: &str) -> &'static str {
    FILES.iter().find(|(known, _)| *known == name).expect("every recipe is read in a test").1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Recipes of what is ready at once.
    const NEVER_ASKED: &[&str] =
        &["command", "file-copier", "file-system", "hadoop-client", "load-generators", "subversion-copy"];

    #[test]
    fn every_recipe_is_read_and_complete() {
        for (name, text) in RECIPES {
            let _: Recipe = toml::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}"));
            let recipe = find(name).expect("is in the list");
            assert!(recipe.files.iter().all(|file| !file.text.is_empty()), "{name}");
            let has_packages = recipe.packages.contains_key("debian") || recipe.programs.is_empty();
            assert!(has_packages && !recipe.start.argv.is_empty(), "{name}");
            let HealthCheck { http, port, log, .. } = &recipe.ready;
            assert!(
                http.is_some() || port.is_some() || log.is_some() || NEVER_ASKED.contains(name),
                "{name}"
            );
            let places = recipe
                .metrics
                .as_ref()
                .map(|at| usize::from(at.url.is_some()) + usize::from(!at.run.is_empty()));
            assert_eq!(places.unwrap_or(1), 1, "{name}");
            assert!(recipe.metric.is_empty() || places.is_some(), "{name}");
            assert!(recipe.metric.iter().all(ServiceMetric::is_complete), "{name}");
            for (parameter, known) in &recipe.parameters {
                known.check_definition().unwrap_or_else(|cause| panic!("{name}: {parameter}: {cause}"));
            }
        }
        assert!(names().is_sorted(), "the list is in order");
    }
}
