//! What starts the services of an image: a script, a unit of systemd that runs it, and what both read.

use super::super::machine::PATH;
use super::super::plan::LabPlan;
use super::super::recipe::StopSignal;
use super::service::{ImageAccount, ImageService};
use super::tree::RootTree;
use std::collections::BTreeSet;
use std::net::IpAddr;

/// Where the script is.
pub const SCRIPT: &str = "/usr/local/sbin/start-lab";
/// Programs that the script calls, and those that installation scripts of services take for granted.
pub(super) const BASE: &[&str] = &["sh", "cat", "grep", "sed", "sleep", "hostname", "find", "id"];

/// What comes before the services.
const HEAD: &str = r#"set -u
if [ ! -e /proc/self ]; then
    echo '/proc has to be mounted, as by unshare --mount-proc' >&2
    exit 2
fi

# node NAME NUMBER: a device of memory(4), where no container program has made it.
node() {
    [ -e "/dev/$1" ] || mknod -m 666 "/dev/$1" c 1 "$2" || exit 2
}
node null 3
node zero 5
node full 7
node random 8
node urandom 9
for one in 0/stdin 1/stdout 2/stderr; do
    [ -e "/dev/${one#*/}" ] || [ -L "/dev/${one#*/}" ] || ln -s "/proc/self/fd/${one%/*}" "/dev/${one#*/}" || exit 2
done

# Programs ask for the address of this host's own name, which nobody else may know.
own=$(cat /proc/sys/kernel/hostname)
grep -q -s -e "[[:space:]]$own[[:space:]]" -e "[[:space:]]$own\$" /etc/hosts || echo "127.0.0.1 $own" >>/etc/hosts || :

logs=/var/log/lab
mkdir -p "$logs"
running=

# Ends the services, the last first, kills those that are left after 30 s, and exits with this code.
leave() {
    trap '' TERM INT
    code=$1
    # shellcheck disable=SC2086  # a list of words
    set -- $running
    for one; do kill -s "${one#*:}" "${one%:*}" 2>/dev/null; done
    (
        sleep 30
        for one; do kill -s KILL "${one%:*}" 2>/dev/null; done
    ) &
    killer=$!
    for one; do wait "${one%:*}"; done
    kill "$killer" 2>/dev/null
    exit "$code"
}
trap 'leave 0' TERM INT

# Whether something listens at a port, which is written in hexadecimal.
listens() {
    grep -q -s "^ *[0-9]*: [0-9A-F]*:$1 [0-9A-F]*:0000 0A " /proc/net/tcp /proc/net/tcp6
}

# fail NAME CAUSE
fail() {
    echo "$1: $2; the end of $logs/$1.log:" >&2
    tail -n 10 "$logs/$1.log" >&2
    leave 1
}

# await NAME PID SECONDS CONDITION...
await() {
    name=$1 pid=$2 left=$(($3 * 10))
    shift 3
    until "$@"; do
        kill -0 "$pid" 2>/dev/null || fail "$name" 'it exited'
        [ "$left" -gt 0 ] || fail "$name" 'it is not ready in time'
        left=$((left - 1))
        sleep 0.1
    done
    echo "$name: ready"
}
"#;

/// What comes after them.
const TAIL: &str = r#"
# Nobody is to wait for a service that has ended.
while :; do
    for one in $running; do
        kill -0 "${one%:*}" 2>/dev/null || leave 1
    done
    sleep 1
done
"#;

/// Adds the script, the unit, and the files of accounts and names.
pub(super) fn add(plan: &LabPlan, host: &str, services: &[ImageService], tree: &mut RootTree) {
    tree.text(SCRIPT, script(plan, host, services), 0o755);
    let unit = "/etc/systemd/system/lab.service";
    tree.text(unit, unit_text(plan, host), 0o644);
    tree.link("/etc/systemd/system/multi-user.target.wants/lab.service", unit);
    for (path, mode) in [("dev", 0o755), ("proc", 0o555), ("sys", 0o555), ("run", 0o755), ("root", 0o700)] {
        tree.folder(path, mode, (0, 0));
    }
    ["tmp", "var/tmp"].iter().for_each(|path| tree.folder(path, 0o1777, (0, 0)));
    tree.folder("var/log/lab", 0o755, (0, 0));
    let accounts: BTreeSet<&ImageAccount> = services.iter().map(|service| &service.account).collect();
    let others = accounts.into_iter().filter(|account| account.ids.0 != 0);
    let (mut users, mut groups) = ("root:x:0:0:root:/root:/bin/sh\n".to_owned(), "root:x:0:\n".to_owned());
    for ImageAccount { user, group, ids: (uid, gid) } in others {
        users.push_str(&format!("{user}:x:{uid}:{gid}::/nonexistent:/usr/sbin/nologin\n"));
        groups.push_str(&format!("{group}:x:{gid}:\n"));
    }
    tree.text("/etc/passwd", users, 0o644);
    tree.text("/etc/group", groups, 0o644);
    tree.text("/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n", 0o644);
    tree.text("/etc/hostname", format!("{host}\n"), 0o644);
    let hosts = plan.hosts.iter().filter(|host| !plan.switches.contains(*host));
    let lines = hosts.map(|host| format!("{} {host}\n", plan.address(host)));
    tree.text("/etc/hosts", format!("127.0.0.1 localhost\n{}", lines.collect::<String>()), 0o644);
}

fn script(plan: &LabPlan, host: &str, services: &[ImageService]) -> String {
    let mut text = format!(
        "#!/bin/sh\n# Starts the services of host '{host}' of lab '{}' in order. Ends all of them when it is told to \
         (SIGTERM), or when one of\n# them ends. Made by `sysdyno lab export`.\nexport PATH={PATH} LANG=C.UTF-8\n{HEAD}",
        plan.name
    );
    if let IpAddr::V4(address) = plan.address(host)
        && !address.is_loopback()
    {
        text.push_str(&format!(
            "\nif ! grep -q -s ' {address}$' /proc/net/fib_trie; then\n    echo 'this host has to have the address \
             {address}, at which the other hosts of the lab find it' >&2\n    exit 2\nfi\n"
        ));
    }
    services.iter().for_each(|service| text.push_str(&start(service)));
    text + TAIL
}

fn start(service: &ImageService) -> String {
    let ImageService { name, folder, prepare, argv, ready, .. } = service;
    let folder = quoted(&folder.display().to_string());
    let log = format!("\"$logs/{name}.log\"");
    let mut text = format!("\n# {name}\ncd {folder} || exit 2\nexport HOME={folder}\n");
    if !prepare.is_empty() {
        text.push_str("if [ ! -e .prepared ]; then\n");
        for argv in prepare {
            text.push_str(&format!(
                "    {} >>{log} 2>&1 || fail {name} 'it cannot be prepared'\n",
                words(argv)
            ));
        }
        text.push_str("    : >.prepared\nfi\n");
    }
    text.push_str(&format!("{} >>{log} 2>&1 </dev/null &\n", words(argv)));
    text.push_str(&format!("pid=$!\nrunning=\"$pid:{} $running\"\n", signal(service.stop)));
    let condition = match (&ready.port, &ready.log) {
        (Some(port), _) => port.parse::<u16>().ok().map(|port| format!("listens {port:04X}")),
        (None, Some(said)) => Some(format!("grep -q -s -F -e {} {log}", quoted(said))),
        (None, None) => None,
    };
    let seconds = ready.within().as_secs();
    let wait = condition.map(|condition| format!("await {name} \"$pid\" {seconds} {condition}\n"));
    text + &wait.unwrap_or_default()
}

fn signal(stop: StopSignal) -> &'static str {
    match stop {
        StopSignal::Term => "TERM",
        StopSignal::Quit => "QUIT",
        StopSignal::Int => "INT",
        StopSignal::Winch => "WINCH",
        StopSignal::Kill => "KILL",
    }
}

fn words(argv: &[String]) -> String {
    argv.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// A word that a shell takes as it is.
fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.:=,@%+".contains(&byte);
    match !word.is_empty() && word.bytes().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

fn unit_text(plan: &LabPlan, host: &str) -> String {
    format!(
        "[Unit]\nDescription=Services of host '{host}' of lab '{}'\nAfter=network.target\n\n[Service]\nExecStart={SCRIPT}\n\
         KillMode=mixed\nTimeoutStopSec=40\n\n[Install]\nWantedBy=multi-user.target\n",
        plan.name
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::tree::{NodeContent, NodeKind};
    use std::path::PathBuf;
    use std::process::Command;

    fn service(name: &str) -> ImageService {
        ImageService {
            name: name.into(),
            folder: PathBuf::from("/srv/it's"),
            prepare: vec![vec!["echo".into(), "a b".into()]],
            argv: vec!["/usr/sbin/nginx".into(), "-g".into(), "daemon off;".into()],
            stop: StopSignal::Quit,
            ready: crate::recipe::HealthCheck { port: Some("8080".into()), ..Default::default() },
            account: ImageAccount { user: "www-data".into(), group: "www-data".into(), ids: (33, 33) },
            programs: Vec::new(),
            packages: Vec::new(),
            jars: None,
        }
    }

    fn plan() -> LabPlan {
        let text = "name = 'l'\nhost = [{ name = 'one' }]\n";
        LabPlan::parse(text, std::path::Path::new("lab.toml")).expect("is a lab")
    }

    #[test]
    fn a_service_is_prepared_once_started_and_awaited() {
        let text = start(&service("web"));
        let expected = "\n# web\ncd '/srv/it'\\''s' || exit 2\nexport HOME='/srv/it'\\''s'\n\
            if [ ! -e .prepared ]; then\n    echo 'a b' >>\"$logs/web.log\" 2>&1 || fail web 'it cannot be prepared'\n\
            \x20   : >.prepared\nfi\n/usr/sbin/nginx -g 'daemon off;' >>\"$logs/web.log\" 2>&1 </dev/null &\n\
            pid=$!\nrunning=\"$pid:QUIT $running\"\nawait web \"$pid\" 30 listens 1F90\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_shell_reads_the_script_and_accounts_are_those_of_the_services() {
        let mut tree = RootTree::default();
        add(&plan(), "one", &[service("web"), service("other")], &mut tree);
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("script");
        std::fs::write(&path, script(&plan(), "one", &[service("web")])).expect("writes");
        assert!(Command::new("sh").arg("-n").arg(&path).status().expect("runs").success());
        let users = "root:x:0:0:root:/root:/bin/sh\nwww-data:x:33:33::/nonexistent:/usr/sbin/nologin\n";
        let found = tree.nodes().find(|(path, _)| *path == "etc/passwd").map(|(_, node)| node.kind.clone());
        assert_eq!(found, Some(NodeKind::File(NodeContent::Bytes(users.into()))));
    }
}
