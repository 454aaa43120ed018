//! Brings a lab up: every object is in the journal on disk before it is created.

use super::journal::{LabBegin, LabJournal, LabRecord, LinkEnd};
use super::labs::{Labs, UpOrder};
use super::link::{EndPlace, Role};
use super::plan::LabPlan;
use super::service::Site;
use super::{files, link, namespace, relay};
use std::io;
use std::path::Path;
use sysdyno_run::RunError;
use sysdyno_run::clock;

/// Whether this user may put a lab up.
///
/// # Errors
/// Not without root.
pub fn may_make(plan: &LabPlan) -> Result<(), RunError> {
    if rustix::process::geteuid().is_root() {
        return Ok(());
    }
    let source = io::Error::other(
        "labs need root\nhint: run it with sudo; on hosts behind ssh, log in as root or use --server-sudo",
    );
    Err(RunError::Process { operation: "make", object: format!("lab '{}'", plan.name), source })
}

impl Labs {
    /// Brings a lab up. If that fails or is stopped, everything created is removed again.
    ///
    /// # Errors
    /// It is up already, or whatever went wrong.
    pub fn up(
        &self,
        order: &UpOrder,
        told: &mut dyn FnMut(&str),
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<(), RunError> {
        may_make(&order.plan)?;
        let (mut journal, id) = self.begin(order)?;
        let made = self.make((order, &id), &mut journal, told, is_stopped);
        drop(journal);
        let Err(error) = made else { return Ok(()) };
        told(&format!("{}: cleaning up", order.plan.name));
        match self.down(&order.plan.name, &mut |_| {}) {
            Ok(_) => Err(error),
            Err(other) => {
                told(&format!("warning: {other}"));
                Err(error)
            }
        }
    }

    fn cannot(&self, operation: &'static str, order: &UpOrder) -> impl Fn(io::Error) -> RunError + use<> {
        let object = format!("lab '{}'", order.plan.name);
        move |source| RunError::Process { operation, object: object.clone(), source }
    }

    /// Begins the journal of a lab that is not there yet, and says what no other lab is called.
    pub(super) fn begin(&self, order: &UpOrder) -> Result<(LabJournal, String), RunError> {
        let cannot = self.cannot("make", order);
        self.prepare().map_err(&cannot)?;
        let lock = self.lock().map_err(&cannot)?;
        let name = &order.plan.name;
        let folder = self.folder_of(name);
        if self.journal_of(name).exists() || folder.exists() {
            let cause = format!("it already exists\nhint: `sysdyno lab down {name}` tears it down");
            return Err(cannot(io::Error::other(cause)));
        }
        for host in order.plan.own_hosts().cloned().chain(relay::names(&order.plan)) {
            let path = namespace::path_of(name, &host);
            if path.exists() {
                let cause = format!("'{}' already exists and does not belong to a lab", path.display());
                return Err(cannot(io::Error::other(cause)));
            }
        }
        let begin = LabBegin {
            name: name.clone(),
            tool: self.version.clone(),
            boot_id: sysdyno_observe::boot_id()
                .ok_or_else(|| cannot(io::Error::other("this boot has no id")))?,
            folder,
            started_unix_ns: clock::wall(),
            plan: order.plan.clone(),
        };
        let id = begin.id();
        let journal = LabJournal::create(&self.journal_of(name), begin)?;
        self.make_root().map_err(cannot)?;
        drop(lock);
        Ok((journal, id))
    }

    fn make(
        &self,
        (order, id): (&UpOrder, &str),
        journal: &mut LabJournal,
        told: &mut dyn FnMut(&str),
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<(), RunError> {
        let folder = self.folder_of(&order.plan.name);
        let site = self.site(order, &folder, is_stopped);
        self.lay(&site, journal)?;
        let shares = self.begin_shares(&site, id, journal, told)?;
        for service in order.plan.services.iter().filter(|service| !service.is_off) {
            site.go_on()?;
            self.start(&site, service, (&shares[..], &mut *journal), told)?;
        }
        self.finish_shares(&shares)?;
        journal.append(&LabRecord::Up {})
    }

    /// Where services of a lab are started.
    pub(super) fn site<'a>(
        &'a self,
        order: &'a UpOrder,
        folder: &'a Path,
        is_stopped: &'a dyn Fn() -> bool,
    ) -> Site<'a> {
        Site { order, program: self.program(), folder, is_stopped }
    }

    /// Creates what services need: the lab's folder, its hosts on this machine, and their links.
    pub(super) fn lay(&self, site: &Site<'_>, journal: &mut LabJournal) -> Result<(), RunError> {
        let (plan, folder) = (&site.order.plan, site.folder);
        let cannot = self.cannot("make", site.order);
        files::make_folder(folder, 0o711).map_err(&cannot)?;
        files::make_folder(&folder.join("logs"), 0o755).map_err(&cannot)?;
        files::write(folder, "lab.toml", site.order.text.as_bytes()).map_err(&cannot)?;
        for host in plan.own_hosts() {
            site.go_on()?;
            make_host(plan, host, journal)?;
        }
        for position in plan.own_links() {
            site.go_on()?;
            make_link(site, position, journal)?;
        }
        Ok(())
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

fn make_host(plan: &LabPlan, host: &str, journal: &mut LabJournal) -> Result<(), RunError> {
    let path = namespace::path_of(&plan.name, host);
    let cannot = |source| RunError::Process { operation: "make", object: format!("host '{host}'"), source };
    journal.append(&LabRecord::Host { host: host.to_owned(), namespace: path.clone() })?;
    let is_here = plan.is_here(host);
    let inode = if is_here { namespace::name_own(&path) } else { namespace::make(&path) };
    journal.append(&LabRecord::Made { host: host.to_owned(), inode: inode.map_err(cannot)? })?;
    if is_here {
        return Ok(());
    }
    link::loopback_up(&path).map_err(cannot)?;
    match plan.switches.contains(host) {
        true => link::make_switch(&path).map_err(cannot),
        false => Ok(()),
    }
}

fn make_link(site: &Site<'_>, position: usize, journal: &mut LabJournal) -> Result<(), RunError> {
    let plan = &site.order.plan;
    let link = &plan.links[position];
    let ends = link.ends.each_ref();
    let [a, b] = ends.map(|end| LinkEnd { host: end.host.clone(), interface: end.interface.clone() });
    let object = format!("link between '{}' and '{}'", a.host, b.host);
    if link.relay.is_some() {
        make_host(plan, &relay::name_of(position), journal)?;
    }
    journal.append(&LabRecord::Link { a, b })?;
    let paths = ends.map(|end| namespace::path_of(&plan.name, &end.host));
    let places = [0, 1].map(|side| {
        let role = if plan.switches.contains(&ends[side].host) { Role::Port } else { Role::Host };
        EndPlace { namespace: &paths[side], role }
    });
    match link.relay {
        Some(_) => relay::make(site, position, places, journal),
        None => {
            let made = link::make(link, places);
            made.map_err(|source| RunError::Process { operation: "make", object, source })
        }
    }
}
