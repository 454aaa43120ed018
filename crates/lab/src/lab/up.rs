//! Putting a lab up: each thing is in the journal, on the disk, before it is made.

use super::journal::{Begin, Journal, LinkEnd, Record};
use super::link::{Place, Role};
use super::plan::LabPlan;
use super::service::Site;
use super::{Labs, UpOrder, files, link, namespace, relay};
use crate::error::LabError;
use crate::execute::clock;
use std::io;

/// Whether this user may put a lab up.
///
/// # Errors
/// Not without root.
pub fn may_make(plan: &LabPlan) -> Result<(), LabError> {
    if rustix::process::geteuid().is_root() {
        return Ok(());
    }
    let source = io::Error::other("namespaces take root\nhint: run it with sudo");
    Err(LabError::Process { operation: "make", object: format!("lab '{}'", plan.name), source })
}

impl Labs {
    /// Puts a lab up. If that fails, or is stopped, all that was made is taken away again.
    ///
    /// # Errors
    /// It is up already, or whatever went wrong.
    pub fn up(
        &self,
        order: &UpOrder,
        told: &mut dyn FnMut(&str),
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<(), LabError> {
        may_make(&order.plan)?;
        let mut journal = self.begin(order)?;
        let made = self.make(order, &mut journal, told, is_stopped);
        drop(journal);
        let Err(error) = made else { return Ok(()) };
        told(&format!("{}: taking away what was made", order.plan.name));
        match self.down(&order.plan.name, &mut |_| {}) {
            Ok(_) => Err(error),
            Err(other) => {
                told(&format!("warning: {other}"));
                Err(error)
            }
        }
    }

    fn cannot(&self, operation: &'static str, order: &UpOrder) -> impl Fn(io::Error) -> LabError + use<> {
        let object = format!("lab '{}'", order.plan.name);
        move |source| LabError::Process { operation, object: object.clone(), source }
    }

    /// Begins the journal of a lab that is not there yet.
    fn begin(&self, order: &UpOrder) -> Result<Journal, LabError> {
        let cannot = self.cannot("make", order);
        self.prepare().map_err(&cannot)?;
        let lock = self.lock().map_err(&cannot)?;
        let name = &order.plan.name;
        let folder = self.folder_of(name);
        if self.journal_of(name).exists() || folder.exists() {
            let cause = format!("it is there already\nhint: `sysdyno lab down {name}` takes it away");
            return Err(cannot(io::Error::other(cause)));
        }
        for host in order.plan.hosts.iter().cloned().chain(relay::names(&order.plan)) {
            let path = namespace::path_of(name, &host);
            if path.exists() {
                let cause = format!("'{}' is there already, and is of no lab", path.display());
                return Err(cannot(io::Error::other(cause)));
            }
        }
        let begin = Begin {
            name: name.clone(),
            tool: order.version.clone(),
            boot_id: sysdyno_observe::boot_id()
                .ok_or_else(|| cannot(io::Error::other("this boot has no id")))?,
            folder,
            started_unix_ns: clock::wall(),
            plan: order.plan.clone(),
        };
        let journal = Journal::create(&self.journal_of(name), begin)?;
        self.make_root().map_err(cannot)?;
        drop(lock);
        Ok(journal)
    }

    fn make(
        &self,
        order: &UpOrder,
        journal: &mut Journal,
        told: &mut dyn FnMut(&str),
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<(), LabError> {
        let folder = self.folder_of(&order.plan.name);
        let cannot = self.cannot("make", order);
        let go_on = || if is_stopped() { Err(cannot(io::ErrorKind::Interrupted.into())) } else { Ok(()) };
        files::make_folder(&folder, 0o711).map_err(&cannot)?;
        files::make_folder(&folder.join("logs"), 0o755).map_err(&cannot)?;
        files::write(&folder, "lab.toml", order.text.as_bytes()).map_err(&cannot)?;
        for host in &order.plan.hosts {
            go_on()?;
            make_host(&order.plan, host, journal)?;
        }
        let site = Site { order, folder: &folder, is_stopped };
        for position in 0..order.plan.links.len() {
            go_on()?;
            make_link(&site, position, journal)?;
        }
        for service in order.plan.services.iter().filter(|service| !service.is_off) {
            go_on()?;
            told(&format!(
                "{}: starting {} ({} on {})",
                order.plan.name, service.name, service.recipe, service.host
            ));
            site.start(service, journal)?;
        }
        journal.append(&Record::Up {})
    }

    /// Makes the folder of names, unless it is there. That a lab made it is written down before.
    fn make_root(&self) -> io::Result<()> {
        if namespace::has_root() {
            return Ok(());
        }
        let boot_id = sysdyno_observe::boot_id().unwrap_or_default();
        files::replace(&self.root_mark(), &boot_id)?;
        files::sync_folder(self.path())?;
        namespace::make_root()
    }
}

fn make_host(plan: &LabPlan, host: &str, journal: &mut Journal) -> Result<(), LabError> {
    let path = namespace::path_of(&plan.name, host);
    let cannot = |source| LabError::Process { operation: "make", object: format!("host '{host}'"), source };
    journal.append(&Record::Host { host: host.to_owned(), namespace: path.clone() })?;
    let inode = namespace::make(&path).map_err(cannot)?;
    journal.append(&Record::Made { host: host.to_owned(), inode })?;
    link::loopback_up(&path).map_err(cannot)?;
    match plan.switches.contains(host) {
        true => link::make_switch(&path).map_err(cannot),
        false => Ok(()),
    }
}

fn make_link(site: &Site<'_>, position: usize, journal: &mut Journal) -> Result<(), LabError> {
    let plan = &site.order.plan;
    let link = &plan.links[position];
    let ends = link.ends.each_ref();
    let [a, b] = ends.map(|end| LinkEnd { host: end.host.clone(), interface: end.interface.clone() });
    let object = format!("link between '{}' and '{}'", a.host, b.host);
    if link.relay.is_some() {
        make_host(plan, &relay::name_of(position), journal)?;
    }
    journal.append(&Record::Link { a, b })?;
    let paths = ends.map(|end| namespace::path_of(&plan.name, &end.host));
    let places = [0, 1].map(|side| {
        let role = if plan.switches.contains(&ends[side].host) { Role::Port } else { Role::Host };
        Place { namespace: &paths[side], role }
    });
    match link.relay {
        Some(_) => relay::make(site, position, places, journal),
        None => {
            let made = link::make(link, places);
            made.map_err(|source| LabError::Process { operation: "make", object, source })
        }
    }
}
