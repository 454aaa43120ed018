//! Paths within the folders of labs and services.

use super::recipe::Jars;
use std::path::{Path, PathBuf};

/// Where a service's output goes.
pub(crate) fn log_of(folder: &Path, service: &str) -> PathBuf {
    folder.join("logs").join(format!("{service}.log"))
}

/// Where it is written how a service ended.
pub(crate) fn ended_of(folder: &Path, service: &str) -> PathBuf {
    folder.join("logs").join(format!("{service}.ended"))
}

/// The file of a service's volume, in the service's folder.
pub(crate) fn image_of(folder: &Path) -> PathBuf {
    folder.join("volume.img")
}

/// Where a service's volume is mounted.
pub(crate) fn mounted_at(folder: &Path) -> PathBuf {
    folder.join("volume")
}

/// Where a set of jars is, by the folder of a service that takes it.
pub(crate) fn jars_of(service: &Path, jars: &Jars) -> PathBuf {
    // STATE/lab/LAB/SERVICE
    jars_below(service.ancestors().nth(3).unwrap_or(Path::new("")), jars)
}

/// Where a set of jars is, by the state folder.
pub(crate) fn jars_below(state: &Path, jars: &Jars) -> PathBuf {
    state.join("cache").join(&jars.name)
}
