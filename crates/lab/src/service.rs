//! Brings a service up: creates its folder and files, starts its keeper, and waits until the service is ready.

use super::check::{self, Subject};
use super::journal::{LabJournal, LabRecord};
use super::keeper::{self, KeeperOrder};
use super::labs::UpOrder;
use super::paths::{ended_of, jars_of, log_of};
use super::plan::{Data, FileContent, LabPlan, LabService};
use super::process::{self, Held};
use super::recipe::{HealthCheck, Recipe, TemplateValues};
use super::volume::WantedVolume;
use super::{files, limits, machine, namespace, values};
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use sysdyno_observe::cgroup_root;
use sysdyno_run::RunError;
use sysdyno_run::clock;
use sysdyno_run::program::Watchdog;

/// How often a service that is not ready is asked again.
const AGAIN: Duration = Duration::from_millis(20);

/// How long a keeper may take to start a service that nothing has to be done for before.
const KEEPER_LIMIT: Duration = Duration::from_secs(60);

/// A lab that is being put up.
pub(super) struct Site<'a> {
    pub(super) order: &'a UpOrder,
    /// This program, which is started again as keepers.
    pub(super) program: &'a Path,
    /// The lab's folder.
    pub(super) folder: &'a Path,
    pub(super) is_stopped: &'a dyn Fn() -> bool,
}

impl Site<'_> {
    fn plan(&self) -> &LabPlan {
        &self.order.plan
    }

    /// Checks whether to continue.
    ///
    /// # Errors
    /// It was stopped.
    pub(super) fn go_on(&self) -> Result<(), RunError> {
        if !(self.is_stopped)() {
            return Ok(());
        }
        let object = format!("lab '{}'", self.plan().name);
        Err(RunError::Process { operation: "make", object, source: io::ErrorKind::Interrupted.into() })
    }

    /// Puts a service up and waits until it is ready.
    pub(super) fn start(&self, service: &LabService, journal: &mut LabJournal) -> Result<(), RunError> {
        let cannot = |source| RunError::Process {
            operation: "start",
            object: format!("service '{}'", service.name),
            source,
        };
        let other = |cause: String| cannot(io::Error::other(cause));
        let recipe = values::recipe_of(service).map_err(other)?;
        let folder = self.folder.join(&service.name);
        let place = machine::place(self.plan(), service, folder.clone()).map_err(other)?;
        let values = values::of(self.plan(), service, &place).map_err(other)?;
        if let Some(jars) = &recipe.jars
            && !jars_of(&folder, jars).is_dir()
        {
            return Err(other(format!("{} is missing\nhint: `sysdyno lab up` fetches it", jars.name)));
        }
        self.fill(service, &recipe, &values, &place.user).map_err(cannot)?;
        let volume = recipe.volume.as_ref().map(|volume| WantedVolume {
            service: &service.name,
            volume,
            values: &values,
            folder: &folder,
        });
        if let Some(volume) = &volume {
            let no_user = || cannot(io::Error::other(format!("there is no user '{}'", place.user)));
            volume.make(machine::ids(&place.user).ok_or_else(no_user)?, journal)?;
        }
        let order = self.order_of(service, &recipe, &values).map_err(other)?;
        let held = self.keep(&service.name, &order, journal)?;
        let check = expanded(&recipe.ready, &values).map_err(other)?;
        let address = self.plan().address(&service.host);
        let port = values::port(service);
        let subject = Subject { namespace: &order.namespace, address, port, log: &order.log };
        self.wait(&order, &check, &subject, &held).map_err(cannot)?;
        if let Some(health) = &service.health {
            self.wait(&order, health, &subject, &held).map_err(cannot)?;
        }
        volume.map_or(Ok(()), |volume| volume.limit(journal))
    }

    /// Starts a keeper and lets it go, each once it is in the journal.
    pub(super) fn keep(
        &self,
        name: &str,
        order: &KeeperOrder,
        journal: &mut LabJournal,
    ) -> Result<Held, RunError> {
        let cannot =
            |source| RunError::Process { operation: "start", object: format!("service '{name}'"), source };
        let mut keeper = self.keeper().map_err(cannot)?;
        let id = process::identify(keeper.id());
        let id = id.ok_or_else(|| cannot(io::Error::other("its keeper exited immediately")))?;
        journal.append(&LabRecord::Keeper { service: name.to_owned(), process: id })?;
        let main = let_go(&mut keeper, order).map_err(cannot)?;
        journal.append(&LabRecord::Main { service: name.to_owned(), process: main })?;
        Held::of(id).ok_or_else(|| failed(order, "its keeper exited")).map_err(cannot)
    }

    /// Makes the folder of a service with all that is in it.
    fn fill(
        &self,
        service: &LabService,
        recipe: &Recipe,
        values: &TemplateValues,
        user: &str,
    ) -> io::Result<()> {
        let folder = self.folder.join(&service.name);
        files::make_folder(&folder, 0o755)?;
        let owner =
            machine::ids(user).ok_or_else(|| io::Error::other(format!("there is no user '{user}'")))?;
        for name in recipe.folders.iter().map(String::as_str).chain(["data"]) {
            let path = folder.join(name);
            files::make_folder(&path, 0o755)?;
            files::give(&path, owner)?;
        }
        for file in &recipe.files {
            let text = values.expand(&file.text).map_err(io::Error::other)?;
            files::write(&folder, &file.path, text.trim_start_matches('\n').as_bytes())?;
        }
        service.files.iter().try_for_each(|data| self.put(&folder.join("data"), data))
    }

    fn put(&self, folder: &Path, data: &Data) -> io::Result<()> {
        let put = match &data.content {
            FileContent::Text(text) => files::write(folder, &data.path, text.as_bytes()),
            FileContent::Bytes(length) => files::write_bytes(folder, &data.path, *length),
            FileContent::Source(source) => files::copy(&self.order.beside.join(source), folder, &data.path),
        };
        put.map_err(|error| io::Error::new(error.kind(), format!("cannot write '{}': {error}", data.path)))
    }

    fn order_of(
        &self,
        service: &LabService,
        recipe: &Recipe,
        values: &TemplateValues,
    ) -> Result<KeeperOrder, String> {
        let prepare = recipe.start.prepare.iter().map(|argv| values.arguments(argv));
        let group = limits::group_name(&self.plan().name, &service.name);
        let groups = service.limits.groups(&cgroup_root(), &group);
        Ok(KeeperOrder {
            lab: self.plan().name.clone(),
            service: service.name.clone(),
            namespace: namespace::path_of(&self.plan().name, &service.host),
            folder: self.folder.join(&service.name),
            log: log_of(self.folder, &service.name),
            ended: ended_of(self.folder, &service.name),
            prepare: prepare.collect::<Result<_, _>>()?,
            argv: values.arguments(&recipe.start.argv)?,
            cpus: service.cpus.clone(),
            limits: groups.map_err(|error| error.to_string())?,
            stop: recipe.start.stop,
            stop_within_ms: recipe.start.stop_within().as_millis() as u64,
        })
    }

    /// Starts a keeper, which waits for its order.
    fn keeper(&self) -> io::Result<Child> {
        Command::new(self.program)
            .args(["lab", "keep"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // It outlives this process, and must not hold what its terminal or its caller waits for.
            .stderr(Stdio::null())
            .spawn()
    }

    /// Waits until what is kept is as `check` wants it.
    pub(super) fn wait(
        &self,
        order: &KeeperOrder,
        check: &HealthCheck,
        subject: &Subject<'_>,
        keeper: &Held,
    ) -> io::Result<()> {
        let deadline = clock::monotonic().0 + check.within().as_nanos() as u64;
        loop {
            let asked = check::ask(check, subject);
            if keeper.wait(AGAIN)? {
                return Err(failed(order, "it exited"));
            }
            let Err(error) = asked else { return Ok(()) };
            if (self.is_stopped)() {
                return Err(io::ErrorKind::Interrupted.into());
            }
            if clock::monotonic().0 >= deadline {
                return Err(failed(order, &format!("it is not ready within {:?}: {error}", check.within())));
            }
        }
    }
}

/// A check of a recipe with its places filled in.
pub(super) fn expanded(check: &HealthCheck, values: &TemplateValues) -> Result<HealthCheck, String> {
    let expand = |text: &Option<String>| text.as_ref().map(|text| values.expand(text)).transpose();
    Ok(HealthCheck {
        http: expand(&check.http)?,
        port: expand(&check.port)?,
        log: expand(&check.log)?,
        text: expand(&check.text)?,
        ..check.clone()
    })
}

/// Gives a keeper its order, and hears from it who the service is.
fn let_go(keeper: &mut Child, order: &KeeperOrder) -> io::Result<super::journal::ProcessId> {
    let mut line = serde_json::to_string(order)?;
    line.push('\n');
    let mut input = keeper.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
    input.write_all(line.as_bytes())?;
    let output = keeper.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
    let mut said = String::new();
    // It answers once all that comes before the service has ended, each step in its time.
    let steps_count = u32::try_from(order.prepare.len()).unwrap_or(u32::MAX);
    let limit = (keeper::PREPARE_LIMIT.saturating_mul(steps_count)).saturating_add(KEEPER_LIMIT);
    let watchdog = Watchdog::over(keeper, limit)?;
    watchdog.judge(BufReader::new(output).read_line(&mut said), limit)?;
    let mut words = said.split_whitespace();
    let number = |word: Option<&str>| word.and_then(|word| word.parse::<u64>().ok());
    match (words.next(), number(words.next()), number(words.next())) {
        (Some("main"), Some(pid), Some(start_ticks)) => {
            Ok(super::journal::ProcessId { pid: pid as u32, start_ticks })
        }
        _ => Err(failed(order, said.trim().strip_prefix("ended ").unwrap_or("its keeper exited"))),
    }
}

/// Why it does not run, with what it has printed last.
fn failed(order: &KeeperOrder, cause: &str) -> io::Error {
    let said = keeper::last_lines(order);
    io::Error::other(if said.is_empty() { cause.to_owned() } else { format!("{cause}\n{said}") })
}
