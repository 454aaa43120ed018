//! A lab as images: for each host with services a root file system that starts them, from packages of this machine.
//!
//! An image has the packages of the services' programs and what these need while they run, the services' folders with their
//! configuration, and a script that prepares and starts them. It has neither a kernel nor an init, and no files of this machine
//! but those of packages, of programs, and of `/etc` folders that a taken package has to itself; there only what everybody may
//! read. State of services that run is not taken: each is prepared anew at its first start.

mod oci;
mod packages;
mod program;
mod service;
mod start;
mod tar;
mod tree;

use super::labs::Labs;
use super::machine;
use super::plan::{FileContent, LabPlan, LabService};
use packages::Packages;
use program::TakenPrograms;
use service::{ImageService, ServiceSource};
pub use start::SCRIPT as START_SCRIPT;
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use sysdyno_run::RunError;
use tree::{NodeContent, RootTree};

/// What an archive of images is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageFormat {
    /// A folder for each host, which holds its root file system.
    Tar,
    /// An OCI image layout.
    Oci,
}

/// The image of a host.
#[derive(Clone, Debug)]
pub struct HostImage {
    /// The host.
    pub host: String,
    /// Services that it starts.
    pub services_count: usize,
    /// Packages that it has files of.
    pub packages_count: usize,
    packages: RootTree,
    own: RootTree,
}

impl HostImage {
    /// How many files it has.
    pub fn files_count(&self) -> u64 {
        self.packages.size().0 + self.own.size().0
    }

    /// What they hold. Unit: bytes.
    pub fn size_bytes(&self) -> u64 {
        self.packages.size().1 + self.own.size().1
    }
}

impl Labs {
    /// The lab of this name as a plan that can be exported: sources of its files are those that the lab has copied.
    ///
    /// # Errors
    /// There is none.
    pub fn exportable(&self, name: &str) -> Result<LabPlan, RunError> {
        let made = self.made(name)?;
        let mut plan = made.begin.plan;
        for service in &mut plan.services {
            for data in &mut service.files {
                if let FileContent::Source(source) = &mut data.content {
                    let copied = made.begin.folder.join(&service.name).join("data").join(&data.path);
                    *source = copied.display().to_string();
                }
            }
        }
        Ok(plan)
    }

    /// Images of the hosts of a lab that have services, or of this one of them; sources of files are beside a folder.
    ///
    /// # Errors
    /// What cannot be in an image: a host behind ssh, a file system of its own; or a program that is not installed.
    pub fn images(
        &self,
        plan: &LabPlan,
        beside: &Path,
        host: Option<&str>,
    ) -> Result<Vec<HostImage>, RunError> {
        let object = format!("lab '{}'", plan.name);
        let cannot = |source| RunError::Process { operation: "export", object: object.clone(), source };
        let hosts: BTreeSet<&str> = services(plan).map(|service| service.host.as_str()).collect();
        if let Some(outside) = hosts.iter().find(|host| plan.outside.contains_key(**host)) {
            let cause = format!("host '{outside}' is no namespace of this machine");
            return Err(cannot(io::Error::other(cause)));
        }
        let wanted: Vec<&str> =
            hosts.iter().copied().filter(|name| host.is_none_or(|host| host == *name)).collect();
        if wanted.is_empty() {
            let cause = "it has no services\nhint: services are what an image starts";
            let unknown = |host: &str| format!("host '{host}' has no services, or is none of it");
            return Err(cannot(io::Error::other(host.map_or_else(|| cause.to_owned(), unknown))));
        }
        // A host that needs no other one is found at its loopback, wherever its image is started.
        let alone = (hosts.len() == 1).then(|| LabPlan { links: Vec::new(), ..plan.clone() });
        let plan = alone.as_ref().unwrap_or(plan);
        let packages = Packages::read(Path::new("/")).map_err(&cannot)?;
        let state = self.path().parent().unwrap_or(Path::new("/"));
        let source = ServiceSource { beside, state };
        wanted.iter().map(|host| image(plan, host, &source, &packages).map_err(&cannot)).collect()
    }
}

/// Writes images as one archive.
///
/// # Errors
/// It cannot be written, or files changed meanwhile.
pub fn write_images(
    lab: &str,
    images: &[HostImage],
    format: ImageFormat,
    out: &mut dyn Write,
) -> io::Result<()> {
    if format == ImageFormat::Oci {
        return oci::write(lab, images, out);
    }
    for image in images {
        let root = tree::Node { kind: tree::NodeKind::Folder, mode: 0o755, owner: (0, 0) };
        tar::entry(&image.host, &root, out)?;
        tar::tree(&image.packages.with(&image.own), &format!("{}/", image.host), out)?;
    }
    tar::end(out)
}

fn services(plan: &LabPlan) -> impl Iterator<Item = &LabService> {
    plan.services.iter().filter(|service| !service.is_off)
}

fn image(
    plan: &LabPlan,
    host: &str,
    source: &ServiceSource<'_>,
    packages: &Packages,
) -> io::Result<HostImage> {
    let (mut taken, mut base, mut own) = (TakenPrograms::default(), RootTree::new(), RootTree::new());
    let mut started: Vec<ImageService> = Vec::new();
    for service in services(plan).filter(|service| service.host == host) {
        let of_service =
            |error: io::Error| io::Error::new(error.kind(), format!("service '{}': {error}", service.name));
        let service = service::add(plan, service, source, &mut own).map_err(of_service)?;
        for path in &service.programs {
            taken.take(path, packages, &mut base).map_err(of_service)?;
        }
        if let Some([from, to]) = &service.jars {
            copy_folder(from, &to.display().to_string(), &mut own).map_err(of_service)?;
        }
        taken.packages.extend(service.packages.iter().cloned());
        started.push(service);
    }
    for name in start::BASE {
        let path = machine::find(&[(*name).to_owned()]);
        let path = path.ok_or_else(|| io::Error::other(format!("'{name}' is not installed")))?;
        taken.take(&path, packages, &mut base)?;
    }
    let closure = packages.closure(taken.packages.clone());
    add_packages(&closure, packages, &mut base)?;
    start::add(plan, host, &started, &mut own);
    Ok(HostImage {
        host: host.to_owned(),
        services_count: started.len(),
        packages_count: closure.len(),
        packages: base,
        own,
    })
}

fn copy_folder(from: &Path, to: &str, tree: &mut RootTree) -> io::Result<()> {
    let files = super::files::regular_files(from, to);
    let files = files.map_err(|error| {
        let hint = "hint: `sysdyno lab up` fetches it";
        io::Error::new(error.kind(), format!("cannot read '{}': {error}\n{hint}", from.display()))
    })?;
    for file in files {
        tree.file(&file.path, NodeContent::Copy { from: file.from, length_bytes: file.length_bytes }, 0o644);
    }
    Ok(())
}

/// Adds the files of packages, and those that scripts of packages have put beside them.
fn add_packages(closure: &BTreeSet<String>, packages: &Packages, tree: &mut RootTree) -> io::Result<()> {
    let paths = closure.iter().flat_map(|package| packages.files(package));
    for path in paths.filter(|path| !is_private(path)) {
        tree.host(&path)?;
        if is_own_configuration(&path) && path.is_dir() {
            add_unowned(&path, packages, tree)?;
        }
    }
    Ok(())
}

/// Whether it is at least two levels below `/etc`, as `/etc/php/8.2/fpm/conf.d`: what is nearer belongs to many.
fn is_own_configuration(path: &Path) -> bool {
    path.strip_prefix("/etc").is_ok_and(|below| below.components().count() >= 2)
}

/// Adds what no package has in a folder of configuration, if everybody may read it: links that switch modules on, and files
/// that scripts have made.
fn add_unowned(folder: &Path, packages: &Packages, tree: &mut RootTree) -> io::Result<()> {
    if !is_for_all(folder) {
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let is_owned = packages.owner(&path.to_string_lossy()).is_some();
        if !is_owned && !path.is_dir() && is_for_all(&path) {
            tree.host(&path)?;
        }
    }
    Ok(())
}

/// Whether it is configuration that not everybody may read: it may hold passwords of this machine.
fn is_private(path: &Path) -> bool {
    path.starts_with("/etc") && !path.is_dir() && !is_for_all(path)
}

/// Whether everybody may read it; a link is what it leads to.
fn is_for_all(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|known| known.permissions().mode() & 0o004 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configuration_that_not_everybody_may_read_stays_here() {
        assert!(is_private(Path::new("/etc/shadow")));
        for path in ["/etc/passwd", "/etc/apt", "/usr/bin/env"] {
            assert!(!is_private(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn a_folder_of_configuration_belongs_to_a_package_from_its_second_level_on() {
        let is_own = |path| is_own_configuration(Path::new(path));
        assert!(is_own("/etc/php/8.2") && is_own("/etc/php/8.2/fpm/conf.d"));
        assert!(!is_own("/etc") && !is_own("/etc/ssl") && !is_own("/usr/lib/php/8.2"));
    }
}
