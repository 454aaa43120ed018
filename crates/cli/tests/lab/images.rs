//! An exported lab serves from its image alone: nginx, PHP, and MariaDB in a root file system that has nothing else.

use crate::rig::Rig;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use sysdyno_needs::has;

/// How long services may take to be ready, and how long to end.
const LIMIT: Duration = Duration::from_secs(90);

const PAGE: &str = "<?php $db = new mysqli('127.0.0.1', 'lab', 'lab', 'lab', 3306);\n\
                    echo 'from ', $db->query('select 20 + 22')->fetch_row()[0], ' ', gethostname();\n";

fn lab(rig: &Rig) -> String {
    fs::create_dir_all(rig.folder().join("pages")).expect("can be made");
    fs::write(rig.folder().join("pages/index.php"), PAGE).expect("can be written");
    rig.lab(
        r#"name = "lnmp"
host = [{ name = "client" }, { name = "server" }]
link = [{ between = ["client", "server"], addresses = ["10.77.0.1/24", "10.77.0.2/24"] }]
[[service]]
name = "database"
host = "server"
recipe = "mariadb"
with = { buffer_pool_mib = 16 }
[[service]]
name = "php"
host = "server"
recipe = "php-fpm"
with = { max_children = 2 }
files = [{ path = "index.php", source = "pages/index.php" }]
[[service]]
name = "front"
host = "server"
recipe = "nginx"
with = { port = 8080, site = "php", upstream = "php", root = "php" }
"#,
    )
}

pub fn run(rig: &mut Rig) {
    let needs = ["nginx", "php-fpm", "mariadb", "mariadb-client", "iproute2", "unshare", "nsenter"];
    if !has("an exported lab", &needs) {
        return;
    }
    let file = lab(rig);
    let image = rig.folder().join("image.tar").display().to_string();
    let said = rig.expect(&["export", &file, "-o", &image], 0).stdout;
    assert!(said.starts_with("server: 3 services, "), "{said}");
    let again = rig.folder().join("again.tar").display().to_string();
    rig.expect(&["export", &file, "-o", &again], 0);
    assert!(
        fs::read(&image).expect("reads") == fs::read(&again).expect("reads"),
        "an image is always the same"
    );
    fs::remove_file(&again).expect("removes");
    let root = rig.folder().join("image");
    fs::create_dir(&root).expect("can be made");
    let status = Command::new("tar").args(["-x", "-f", &image, "-C"]).arg(&root).status().expect("runs");
    assert!(status.success());
    it_serves(&root.join("server"));
    it_serves(&root.join("server"));
    let names = fs::read_to_string(root.join("server/etc/hosts")).expect("reads");
    assert_eq!(names.matches("127.0.0.1 image\n").count(), 1, "it knows its own name: {names}");
    fs::remove_dir_all(&root).expect("removes");
    rig.check("an exported lab");
    refused(rig);
}

/// Starts an image in namespaces of its own, asks it for a page, and has it end.
fn it_serves(root: &Path) {
    let script = "ip link set lo up && hostname image && exec unshare --mount --pid --fork --kill-child \
                  --mount-proc --root \"$1\" /usr/local/sbin/start-lab";
    let mut boot = Command::new("unshare")
        .args(["--net", "--uts", "sh", "-c", script, "sh"])
        .arg(root)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("unshare is there");
    let said = until_ready(&mut boot);
    if said.last().map(String::as_str) != Some("front: ready") {
        let _ = boot.kill();
        panic!("the image is not ready: {said:?}");
    }
    let network = format!("--net=/proc/{}/ns/net", boot.id());
    let page = Command::new("nsenter")
        .args([&network, "curl", "--silent", "--fail", "--max-time", "20", "http://127.0.0.1:8080/index.php"])
        .output()
        .expect("nsenter is there");
    assert_eq!(String::from_utf8_lossy(&page.stdout), "from 42 image");
    let children = fs::read_to_string(format!("/proc/{0}/task/{0}/children", boot.id())).expect("is there");
    let first = children.trim().parse::<i32>().expect("one child");
    let first = rustix::process::Pid::from_raw(first).expect("a process");
    rustix::process::kill_process(first, rustix::process::Signal::TERM).expect("is there");
    let begin = Instant::now();
    while boot.try_wait().expect("can be waited for").is_none() {
        assert!(begin.elapsed() < LIMIT, "it did not end");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(boot.wait().expect("has ended").code(), Some(0), "it ended in order");
}

/// What it says until its last service is ready, or it ends; it is killed if that takes too long.
fn until_ready(boot: &mut Child) -> Vec<String> {
    let output = BufReader::new(boot.stdout.take().expect("piped"));
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| tell.send(line)));
    let (begin, mut said) = (Instant::now(), Vec::new());
    while let Ok(line) = told.recv_timeout(LIMIT.saturating_sub(begin.elapsed())) {
        let is_last = line == "front: ready";
        said.push(line);
        if is_last {
            break;
        }
    }
    said
}

/// What cannot be in an image is said, and no archive is left.
fn refused(rig: &Rig) {
    let image = rig.folder().join("image.tar").display().to_string();
    fs::remove_file(&image).expect("removes");
    let host = "name = 'l'\nhost = [{ name = 'one' }]\n";
    let service =
        |recipe: &str| format!("{host}[[service]]\nname = 'x'\nhost = 'one'\nrecipe = '{recipe}'\n");
    for (text, cause) in
        [(host.to_owned(), "it has no services"), (service("file-system"), "it has a file system of its own")]
    {
        let said = rig.expect(&["export", &rig.lab(&text), "-o", &image], 2).stderr;
        assert!(said.contains(cause), "{said}");
        assert!(!Path::new(&image).exists(), "nothing is left");
    }
    let said = rig.expect(&["export", "no-such-lab", "-o", &image], 2).stderr;
    assert!(said.contains("there is no such lab"), "{said}");
}
