//! A lab that is up for some work, and this process in it, on the host that sends the load (unless that host is behind ssh).
//!
//! Only the calling thread and the threads that it starts later are in that host's namespace. The lab is torn down when the
//! work ends, whatever its outcome; if this process dies, `lab down` tears it down.

use super::labs::{Labs, UpOrder};
use super::plan::LabPlan;
use super::{namespace, process};
use std::fs::File;
use std::path::PathBuf;
use sysdyno_observe::allowed_cpus;
use sysdyno_record::place::HostPlace;
use sysdyno_record::service::ServiceReading;
use sysdyno_record::work::ServiceCounter;
use sysdyno_run::RunError;
use sysdyno_run::work::Count;

/// A lab with this process in it.
#[derive(Debug)]
pub struct LabStage {
    pub(super) labs: Labs,
    pub(super) order: UpOrder,
    generator: String,
    pub(super) home: File,
}

impl LabStage {
    /// Puts a lab up and goes to the host that sends the load, if it is on this machine. What an earlier end of the same work has left, with the
    /// same text, is taken away before.
    ///
    /// # Errors
    /// It cannot be put up; then nothing of it is left.
    pub fn up(
        labs: Labs,
        order: UpOrder,
        generator: &str,
        told: &mut dyn FnMut(&str),
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<LabStage, RunError> {
        let cannot = |source| RunError::Process {
            operation: "enter",
            object: format!("host '{generator}' of lab '{}'", order.plan.name),
            source,
        };
        let home = namespace::open_own().map_err(cannot)?;
        let kept = labs.folder_of(&order.plan.name).join("lab.toml");
        if std::fs::read_to_string(kept).is_ok_and(|text| text == order.text) {
            labs.down(&order.plan.name, told)?;
        }
        labs.up(&order, told, is_stopped)?;
        let path = namespace::path_of(&order.plan.name, generator);
        let stays = order.plan.is_here(generator) || order.plan.far(generator).is_some();
        let entered = if stays { Ok(()) } else { namespace::enter(&path).map_err(cannot) };
        let stage = LabStage { labs, order, generator: generator.to_owned(), home };
        match entered {
            Ok(()) => Ok(stage),
            Err(error) => {
                stage.down(told)?;
                Err(error)
            }
        }
    }

    /// A lab that is up already, as its file says it, with this process where it is; `beside` is where sources of files lie.
    ///
    /// # Errors
    /// There is no such lab, or its file cannot be read.
    pub fn of_running(labs: Labs, name: &str, beside: PathBuf) -> Result<LabStage, RunError> {
        labs.made(name)?;
        let path = labs.folder_of(name).join("lab.toml");
        let cannot =
            |source| RunError::Process { operation: "read", object: format!("lab '{name}'"), source };
        let text = std::fs::read_to_string(&path).map_err(cannot)?;
        let plan = LabPlan::parse(&text, &path)?;
        let home = namespace::open_own().map_err(cannot)?;
        let generator = plan.generator().to_owned();
        Ok(LabStage { labs, order: UpOrder { plan, text, beside }, generator, home })
    }

    /// What the lab is now.
    pub fn plan(&self) -> &LabPlan {
        &self.order.plan
    }

    /// Makes the lab match its plan; services in `again` are restarted even if they do not change.
    ///
    /// # Errors
    /// As those of [`Labs::change`].
    pub fn change(&self, again: &[&str], is_stopped: &dyn Fn() -> bool) -> Result<(), RunError> {
        self.labs.change(&self.order, again, &mut |_| {}, is_stopped)
    }

    /// The host of a service, for an agent.
    pub fn place(&self, service: &str) -> Option<HostPlace> {
        let host = self.order.plan.host_of(service)?;
        match self.order.plan.far(host) {
            Some(place) => place.parse().ok(),
            None => format!("netns:sysdyno-{}-{host}", self.order.plan.name).parse().ok(),
        }
    }

    /// A text with the places of services filled in, as the host that sends the load finds them: `{{SERVICE}}` for address and
    /// port, `{{SERVICE.folder}}` for the service's folder, `{{SERVICE.data}}` for what it serves.
    ///
    /// # Errors
    /// It names a service that is not there.
    pub fn fill(&self, text: &str) -> Result<String, RunError> {
        let folder = self.labs.folder_of(&self.order.plan.name);
        self.order.plan.fill(&self.generator, &folder, text)
    }

    /// What the services are to be from now on.
    pub fn set_plan(&mut self, plan: LabPlan) {
        self.order.plan = plan;
    }

    /// What services tell of themselves just now, of those whose recipes say where they are asked.
    pub fn readings(&self) -> Vec<ServiceReading> {
        self.labs.readings(&self.order.plan)
    }

    /// What a service has counted so far, and the CPU time of its processes; `None` if it does not report it.
    pub fn count(&self, counter: &ServiceCounter) -> Option<Count> {
        let plan = &self.order.plan;
        let service = plan.service(&counter.service)?;
        let recipe = super::values::recipe_of(service).ok()?;
        let reading = match plan.is_own(&service.host) {
            true => super::metrics::reading(plan, &self.labs.folder_of(&plan.name), service, &recipe),
            false => self.readings().into_iter().find(|reading| reading.service == service.name)?,
        };
        // Of a process on another machine no CPU time is known here.
        let pid = self.labs.pid_of(&plan.name, &service.name).ok().flatten();
        let told = reading.values.iter().find(|value| value.name == counter.metric)?.value?;
        Some(Count {
            operations_count: told as u64,
            cpu_us: pid.and_then(process::cpu_us_with_descendants),
            cpus: pid.and_then(allowed_cpus).unwrap_or_default(),
        })
    }

    /// Takes the lab away; notes say what was left alone.
    ///
    /// # Errors
    /// This process cannot return to its namespace, or a part of the lab cannot be removed.
    pub fn down(self, told: &mut dyn FnMut(&str)) -> Result<Vec<String>, RunError> {
        let back = namespace::enter_open(&self.home);
        let notes = self.labs.down(&self.order.plan.name, told)?;
        back.map(|()| notes).map_err(|source| RunError::Process {
            operation: "leave",
            object: format!("lab '{}'", self.order.plan.name),
            source,
        })
    }
}
