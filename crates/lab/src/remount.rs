//! Volumes of a lab that is up, unmounted and mounted again: nothing of them is cached then, and what takes an unmounted file
//! system can be changed in between.

use super::journal::{LabJournal, MadeLab};
use super::labs::Labs;
use super::plan::{LabPlan, LabService};
use super::stage::LabStage;
use super::volume::{self, WantedVolume};
use super::{machine, values};
use std::io;
use std::time::Duration;
use sysdyno_run::RunError;

/// How long a volume may stay mounted somewhere else after it was unmounted here.
const RELEASE_TRIES: u32 = 200;
const RELEASE_PAUSE: Duration = Duration::from_millis(10);

impl Labs {
    /// Unmounts the volume of a service, whose disk has no limits then. One that is not mounted is left as it is.
    ///
    /// # Errors
    /// There is no such lab, service, or volume on this machine, or it is in use.
    pub fn unmount(&self, lab: &str, service: &str) -> Result<(), RunError> {
        self.with_volume(lab, service, "unmount", &|made, _, _| unmount(made, service))
    }

    /// Mounts the volume of a service, and limits its disk as the lab says. One that is mounted is left as it is.
    ///
    /// # Errors
    /// There is no such lab, service, or volume on this machine, or it cannot be mounted.
    pub fn mount(&self, lab: &str, service: &str) -> Result<(), RunError> {
        self.with_volume(lab, service, "mount", &|_, journal, volume| volume.mount(journal))
    }

    /// Does something with the volume of a service.
    fn with_volume(
        &self,
        lab: &str,
        service: &str,
        operation: &'static str,
        act: &dyn Fn(&MadeLab, &mut LabJournal, &WantedVolume<'_>) -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        let cannot = |cause: &str| RunError::Process {
            operation,
            object: format!("the volume of service '{}'", service.escape_debug()),
            source: io::Error::other(cause.to_owned()),
        };
        self.made(lab)?;
        let (mut journal, made) = self.open_patiently(lab)?;
        let made = made.ok_or_else(|| cannot("the journal of its lab cannot be read"))?;
        let plan = &made.begin.plan;
        let known = plan.service(service).filter(|service| !service.is_off);
        let known = known.ok_or_else(|| cannot("the lab has no such service"))?;
        if !plan.is_own(&known.host) {
            return Err(cannot("it is on another machine"));
        }
        let recipe = values::recipe_of(known).map_err(|cause| cannot(&cause))?;
        let volume = recipe.volume.as_ref().ok_or_else(|| cannot("this service has none"))?;
        let folder = made.begin.folder.join(service);
        let place = machine::place(plan, known, folder.clone()).map_err(|cause| cannot(&cause))?;
        let values = values::of(plan, known, &place).map_err(|cause| cannot(&cause))?;
        let volume = WantedVolume { service, volume, values: &values, folder: &folder };
        act(&made, &mut journal, &volume)
    }
}

fn unmount(made: &MadeLab, service: &str) -> Result<(), RunError> {
    let cannot = |source| RunError::Process {
        operation: "unmount",
        object: format!("the volume of service '{service}'"),
        source,
    };
    let mut notes = Vec::new();
    volume::remove(made, |name| name == service, &mut notes).map_err(cannot)?;
    if let Some(note) = notes.into_iter().next() {
        return Err(cannot(io::Error::other(note)));
    }
    let images =
        || made.volumes.iter().filter(|volume| volume.service == service).map(|volume| &volume.image);
    for _ in 0..RELEASE_TRIES {
        if !images().any(|image| sysdyno_observe::is_looped(image)) {
            return Ok(());
        }
        std::thread::sleep(RELEASE_PAUSE);
    }
    Err(cannot(io::Error::other("processes in another mount namespace still have it mounted")))
}

impl LabStage {
    /// Unmounts the volumes of this machine's services and mounts them again, so that nothing of them is cached.
    ///
    /// # Errors
    /// One is in use, or cannot be mounted.
    pub fn remount(&self) -> Result<(), RunError> {
        let plan = self.plan();
        plan.volumes().try_for_each(|service| {
            self.labs.unmount(&plan.name, &service.name)?;
            self.labs.mount(&plan.name, &service.name)
        })
    }
}

impl LabPlan {
    /// Services of this machine that have a volume.
    pub fn volumes(&self) -> impl Iterator<Item = &LabService> {
        let has_volume = |service: &&LabService| {
            let recipe = values::recipe_of(service);
            recipe.is_ok_and(|recipe| recipe.volume.is_some()) && self.is_own(&service.host)
        };
        self.services.iter().filter(|service| !service.is_off).filter(has_volume)
    }
}
