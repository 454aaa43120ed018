//! A service in an image: its folder with its configuration, and how it is started.

use super::super::machine;
use super::super::plan::{Data, FileContent, LabPlan, LabService};
use super::super::recipe::{HealthCheck, Recipe, StopSignal, TemplateValues};
use super::super::service::expanded;
use super::super::values::{self, ServicePlace};
use super::tree::{NodeContent, RootTree};
use std::io;
use std::path::{Path, PathBuf};

/// Where labs are in an image, whatever the state folder of this machine.
const LABS: &str = "/var/lib/sysdyno/lab";

/// The program and the package that fetch jars, which an image has already.
const OF_FETCHING: [&str; 2] = ["mvn", "maven"];

/// A service as an image starts it.
#[derive(Clone, Debug)]
pub(super) struct ImageService {
    pub(super) name: String,
    pub(super) folder: PathBuf,
    /// Programs that run before its first start.
    pub(super) prepare: Vec<Vec<String>>,
    pub(super) argv: Vec<String>,
    pub(super) stop: StopSignal,
    pub(super) ready: HealthCheck,
    /// Account and group with their numbers.
    pub(super) account: ImageAccount,
    /// Programs and other files of this machine that it names.
    pub(super) programs: Vec<PathBuf>,
    /// Packages of its recipe, of which some may not be installed.
    pub(super) packages: Vec<String>,
    /// Jars of its recipe, by their folder here and in the image.
    pub(super) jars: Option<[PathBuf; 2]>,
}

/// Who a service runs as.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ImageAccount {
    pub(super) user: String,
    pub(super) group: String,
    pub(super) ids: (u32, u32),
}

/// Where things of this machine are that a service is made from.
pub(super) struct ServiceSource<'a> {
    /// Beside which sources of files are.
    pub(super) beside: &'a Path,
    /// Below which jars were fetched.
    pub(super) state: &'a Path,
}

/// Adds the folder of a service to an image.
pub(super) fn add(
    plan: &LabPlan,
    service: &LabService,
    source: &ServiceSource<'_>,
    tree: &mut RootTree,
) -> io::Result<ImageService> {
    let recipe = values::recipe_of(service).map_err(io::Error::other)?;
    if recipe.volume.is_some() {
        return Err(io::Error::other("it has a file system of its own, which an image cannot hold"));
    }
    let folder = Path::new(LABS).join(&plan.name).join(&service.name);
    let place = machine::place(plan, service, folder.clone()).map_err(io::Error::other)?;
    let values = values::of(plan, service, &place).map_err(io::Error::other)?;
    let no_user = || io::Error::other(format!("there is no user '{}'", place.user));
    let ids = machine::ids(&place.user).ok_or_else(no_user)?;
    fill((service, &recipe), &values, (&folder, ids), source.beside, tree)?;
    let prepare = recipe.start.prepare.iter().map(|argv| values.arguments(argv));
    let prepare: Vec<Vec<String>> = prepare.collect::<Result<_, _>>().map_err(io::Error::other)?;
    let argv = values.arguments(&recipe.start.argv).map_err(io::Error::other)?;
    let jars = recipe.jars.as_ref().map(|jars| {
        [source.state, Path::new(LABS).parent().unwrap_or(Path::new("/"))]
            .map(|state| super::super::paths::jars_below(state, jars))
    });
    let ready = expanded(&recipe.ready, &values).map_err(io::Error::other)?;
    let port = values::port(service).map(|port| port.to_string());
    let ready = HealthCheck { port: ready.port.clone().or(ready.http.as_ref().and(port)), ..ready };
    let account = ImageAccount { user: place.user.clone(), group: place.group.clone(), ids };
    let programs = programs(&place, prepare.iter().chain([&argv]));
    let packages = recipe.packages.get("debian").into_iter().flatten();
    let packages = packages.filter(|name| *name != OF_FETCHING[1]).cloned().collect();
    let (name, stop) = (service.name.clone(), recipe.start.stop);
    Ok(ImageService { name, folder, prepare, argv, stop, ready, account, programs, packages, jars })
}

/// What the recipe names, and what is started.
fn programs<'a>(place: &ServicePlace, started: impl Iterator<Item = &'a Vec<String>>) -> Vec<PathBuf> {
    let is_needed = |(name, _): &(&String, &PathBuf)| *name != OF_FETCHING[0];
    let named = place.programs.iter().chain(&place.paths).filter(is_needed).map(|(_, path)| path.clone());
    let started = started.filter_map(|argv| argv.first());
    let started = started.filter_map(|program| match program.contains('/') {
        true => Some(PathBuf::from(program)).filter(|path| path.is_absolute()),
        false => machine::find(std::slice::from_ref(program)),
    });
    named.chain(started).filter(|path| !path.starts_with(LABS)).collect()
}

/// What `lab up` puts into the folder of a service.
fn fill(
    (service, recipe): (&LabService, &Recipe),
    values: &TemplateValues,
    (folder, owner): (&Path, (u32, u32)),
    beside: &Path,
    tree: &mut RootTree,
) -> io::Result<()> {
    let at = |path: &str| folder.join(path).display().to_string();
    tree.folder(&folder.display().to_string(), 0o755, (0, 0));
    for name in recipe.folders.iter().map(String::as_str).chain(["data"]) {
        tree.folder(&at(name), 0o755, owner);
    }
    for file in &recipe.files {
        let text = values.expand(&file.text).map_err(io::Error::other)?;
        tree.text(&at(&file.path), text.trim_start_matches('\n'), 0o644);
    }
    for Data { path, content } in &service.files {
        let to = at(&format!("data/{path}"));
        match content {
            FileContent::Text(text) => tree.text(&to, text.as_str(), 0o644),
            FileContent::Bytes(length_bytes) => tree.file(&to, NodeContent::Generated(*length_bytes), 0o644),
            FileContent::Source(source) => {
                for file in super::super::files::regular_files(&beside.join(source), &to)? {
                    let content = NodeContent::Copy { from: file.from, length_bytes: file.length_bytes };
                    tree.file(&file.path, content, 0o644);
                }
            }
        }
    }
    Ok(())
}
