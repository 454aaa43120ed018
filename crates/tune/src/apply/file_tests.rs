//! Trials of files: what their service is asked to do, and that bytes, mode, and time are restored.

use super::*;
use crate::service::{Service, Services};
use crate::testing::{Dead, Host, changes};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::sync::Mutex;

const FILE: &str = "/etc/nginx/nginx.conf";
const TEXT: &str = "worker_processes 2;\nevents {\n    worker_connections 512; # few\n}\n";

/// A service that writes down what it is asked.
#[derive(Debug, Default)]
struct Fake {
    said: Mutex<Vec<String>>,
    understands_nothing: bool,
    /// How many times it cannot be reached, from the first on.
    is_deaf: Mutex<u32>,
}

impl Services for Fake {
    fn check(&self, service: Service, main: &Path) -> io::Result<()> {
        let text = fs::read_to_string(main)?;
        self.said.lock().expect("is whole").push(format!(
            "check {} {}",
            service.name(),
            text.lines().count()
        ));
        if self.understands_nothing { Err(io::Error::other("line 3 is wrong")) } else { Ok(()) }
    }

    fn reload(&self, service: Service, main: &Path) -> io::Result<()> {
        let name = main.file_name().expect("is a file").to_string_lossy().into_owned();
        self.said.lock().expect("is whole").push(format!("reload {} {name}", service.name()));
        let mut left = self.is_deaf.lock().expect("is whole");
        match *left {
            0 => Ok(()),
            _ => {
                *left -= 1;
                Err(io::Error::other("it does not run"))
            }
        }
    }
}

/// A host with the file, and its service; services live as long as the program, as real ones do.
fn host(fake: Fake) -> (Host, &'static Fake) {
    let fake: &'static Fake = Box::leak(Box::new(fake));
    let mut host = Host::new();
    host.roots = host.roots.clone().with_services(fake);
    host.put(FILE, TEXT);
    let place = host.roots.place(FILE);
    fs::set_permissions(&place, fs::Permissions::from_mode(0o640)).expect("sets");
    let time = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::new(1_700_000_000, 123_456_789);
    fs::File::options().write(true).open(&place).expect("opens").set_modified(time).expect("sets");
    (host, fake)
}

/// Everything of the folder of the file: names, bytes, modes, times.
fn folder(host: &Host) -> Vec<(String, String, u32, i64, i64)> {
    let entries = fs::read_dir(host.roots.place("/etc/nginx")).expect("is there").flatten();
    let mut all: Vec<_> = entries
        .map(|entry| {
            let found = entry.metadata().expect("is there");
            let text = fs::read_to_string(entry.path()).expect("reads");
            let name = entry.file_name().to_string_lossy().into_owned();
            (name, text, found.mode(), found.mtime(), found.mtime_nsec())
        })
        .collect();
    all.sort();
    all
}

const CHANGES: [&str; 2] = [
    "nginx:/etc/nginx/nginx.conf:worker_processes=4",
    "nginx:/etc/nginx/nginx.conf:events/worker_connections=1024",
];

#[test]
fn a_file_is_checked_replaced_read_again_and_put_back() {
    let (host, fake) = host(Fake::default());
    let before = folder(&host);
    let wanted = changes(&CHANGES);
    let trial =
        apply(&host.order(&wanted), &mut Dead::default()).expect("applies").expect("changes something");
    let new = TEXT.replace("processes 2", "processes 4").replace("512", "1024");
    assert_eq!(fs::read_to_string(host.roots.place(FILE)).expect("reads"), new);
    assert_eq!(folder(&host)[0].2 & 0o7777, 0o640);
    assert_eq!(trial.plan.changes[1].new, "worker_processes 4; | worker_connections 1024; # few");
    assert_eq!(*fake.said.lock().expect("is whole"), ["check nginx 4", "reload nginx nginx.conf"]);
    let recovery = crate::undo(&host.state, &host.roots, Some(&trial.id)).expect("undoes");
    assert!(recovery.is_clean() && recovery.restored.len() == 1, "{recovery:?}");
    assert_eq!(folder(&host), before, "bytes, mode and time are what they were, and no draft is left");
    assert_eq!(fake.said.lock().expect("is whole").len(), 3, "it is told of the old ones too");
}

#[test]
fn a_file_that_its_service_does_not_understand_is_never_in_force() {
    let (host, fake) = host(Fake { understands_nothing: true, ..Fake::default() });
    let before = folder(&host);
    let wanted = changes(&CHANGES);
    let failed = apply(&host.order(&wanted), &mut Dead::default()).err().expect("is refused").to_string();
    assert!(
        failed.contains("line 3 is wrong") && failed.contains("all settings have their old values"),
        "{failed}"
    );
    assert_eq!(folder(&host), before);
    assert_eq!(fake.said.lock().expect("is whole")[0], "check nginx 4");
}

#[test]
fn a_file_that_its_service_cannot_be_told_of_is_put_back() {
    let (host, _) = host(Fake { is_deaf: Mutex::new(1), ..Fake::default() });
    let before = folder(&host);
    let wanted = changes(&CHANGES);
    let failed = apply(&host.order(&wanted), &mut Dead::default()).err().expect("is refused").to_string();
    assert!(
        failed.contains("it does not run") && failed.contains("all settings have their old values"),
        "{failed}"
    );
    assert_eq!(folder(&host), before);
}

#[test]
fn a_file_is_put_back_after_a_reboot_and_unless_somebody_has_edited_it() {
    for is_edited in [false, true] {
        let (host, fake) = host(Fake::default());
        let before = folder(&host);
        let wanted = changes(&[CHANGES[0], "vm.swappiness=10"]);
        apply(&host.order(&wanted), &mut Dead::default()).expect("applies").expect("changes something");
        host.boot("second");
        host.put("/etc/nginx/.nginx.conf.sysdyno-new", "half a dra");
        let edited = "worker_processes 4; # mine\n";
        if is_edited {
            host.put(FILE, edited);
        }
        *fake.is_deaf.lock().expect("is whole") = 1;
        let recovered = crate::recover(&host.state, &host.roots).expect("recovers");
        let outcomes: Vec<_> = recovered[0].restored.iter().map(|restored| restored.outcome).collect();
        use crate::journal::UndoOutcome::{Conflict, Restored, Void};
        if is_edited {
            assert_eq!(outcomes, [Void, Conflict]);
            assert_eq!(fs::read_to_string(host.roots.place(FILE)).expect("reads"), edited);
        } else {
            assert_eq!(outcomes, [Void, Restored]);
            assert_eq!(folder(&host), before);
            let cause = recovered[0].restored[1].cause.as_deref().expect("is said");
            assert!(cause.contains("it does not run"), "{cause}");
        }
        assert_eq!(host.get("vm.swappiness"), "10\n", "of another boot");
    }
}

#[test]
fn files_that_could_not_be_put_back_are_refused() {
    let (host, _) = host(Fake::default());
    let refusal =
        |change: &str| crate::plan(&changes(&[change]), &host.roots).expect_err("is refused").to_string();
    let place = host.roots.place(FILE);
    std::os::unix::fs::symlink(&place, place.with_file_name("link.conf")).expect("makes");
    assert!(refusal("nginx:/etc/nginx/link.conf:worker_processes=4").contains("it is a symbolic link"));
    assert!(refusal("nginx:/etc/nginx/none.conf:worker_processes=4").contains("cannot look at"));
    assert!(refusal("nginx:/etc/nginx/nginx.conf:worker_processes=many").contains("'many' is not a number"));
    assert!(refusal("nginx:/etc/nginx/nginx.conf:daemon=off").contains("not a setting that sysdyno knows"));
    assert!(refusal("nginx:/etc/nginx/nginx.conf:http/sendfile=on").contains("no block 'http'"));
    fs::set_permissions(&place, fs::Permissions::from_mode(0o666)).expect("sets");
    assert!(refusal(CHANGES[0]).contains("users other than its owner"));
    fs::set_permissions(&place, fs::Permissions::from_mode(0o644)).expect("sets");
    fs::hard_link(&place, place.with_file_name("other.conf")).expect("links");
    assert!(refusal(CHANGES[0]).contains("another hard link"));
}
