//! Every recipe, started for real where its package is installed, asked for a page, and taken away.

use crate::rig::{Rig, can_limit_disks, has_limits, own_iops, throttles};
use std::fs;
use std::path::Path;
use sysdyno_needs::{has, skip};

/// A service by the name of its recipe, what it serves, and what is asked of it.
struct Case {
    recipe: &'static str,
    /// Names of `crates/needs/table`.
    needs: &'static [&'static str],
    with: &'static str,
    /// What curl is asked for from the other host, and what has to come; nothing where it does not speak HTTP.
    page: Option<(&'static str, &'static str)>,
}

const CASES: &[Case] = &[
    Case { recipe: "nginx", needs: &["nginx"], with: "workers = 2", page: Some(("/page.html", "hello")) },
    Case { recipe: "apache", needs: &["apache"], with: "workers = 50", page: Some(("/page.html", "hello")) },
    Case {
        recipe: "lighttpd",
        needs: &["lighttpd"],
        with: "max_fds = 2048",
        page: Some(("/page.html", "hello")),
    },
    Case { recipe: "h2o", needs: &["h2o"], with: "threads = 2", page: Some(("/page.html", "hello")) },
    Case { recipe: "caddy", needs: &["caddy"], with: "", page: Some(("/page.html", "hello")) },
    Case {
        recipe: "mighttpd2",
        needs: &["mighttpd2"],
        with: "capabilities = 2",
        page: Some(("/page.html", "hello")),
    },
    Case { recipe: "memcached", needs: &["memcached"], with: "threads = 2", page: None },
    Case {
        recipe: "mariadb",
        needs: &["mariadb", "mariadb-client"],
        with: "buffer_pool_mib = 16",
        page: None,
    },
];

pub fn run(rig: &mut Rig) {
    CASES.iter().for_each(|case| one(rig, case));
    a_service_keeps_to_its_limits(rig);
    php_behind_nginx(rig);
    a_host_of_a_lab_is_read_by_ssh(rig);
    a_wordpress_site_answers_with_its_posts(rig);
    a_working_copy_lies_on_a_file_system_of_its_own(rig);
    files_are_uploaded_to_a_file_system(rig);
}

const HOSTS: &str = r#"name = "real"
[[host]]
name = "client"
[[host]]
name = "server"
[[link]]
between = ["client", "server"]
addresses = ["10.77.0.1/24", "10.77.0.2/24"]
"#;

fn one(rig: &mut Rig, case: &Case) {
    if !has(case.recipe, case.needs) {
        return;
    }
    let Case { recipe, with, .. } = case;
    let service = format!(
        "[[service]]\nname = 'it'\nhost = 'server'\nrecipe = '{recipe}'\nwith = {{ {with} }}\nfiles = [{{ path = 'page.html', text = 'hello' }}]\n"
    );
    // The folder of a database holds nothing but its own.
    let service = if *recipe == "mariadb" { service.replace("files =", "# files =") } else { service };
    rig.expect(&["up", &rig.lab(&format!("{HOSTS}{service}"))], 0);
    told_in_full(rig);
    if let Some((path, text)) = case.page {
        assert_eq!(fetch(rig, path), text, "{recipe}");
    }
    rig.expect(&["down", "real"], 0);
    rig.check(recipe);
}

/// Each process of a service is in its groups, which go with it.
fn a_service_keeps_to_its_limits(rig: &mut Rig) {
    if !has("limits of services", &["nginx"]) || !has_limits("limits of services") {
        return;
    }
    let service = "[[service]]\nname = 'it'\nhost = 'server'\nrecipe = 'nginx'\nwith = { workers = 1 }\n";
    let file = rig.lab(&format!("{HOSTS}{service}limits = {{ cpus = 0.25, memory_mib = 64, pids = 9 }}\n"));
    rig.expect(&["up", &file], 0);
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let first = "/sys/fs/cgroup/cpu/sysdyno-real-it";
    let is_first = Path::new(first).exists();
    let quota = if is_first {
        read(&format!("{first}/cpu.cfs_quota_us"))
    } else {
        read("/sys/fs/cgroup/sysdyno-real-it/cpu.max")
    };
    assert_eq!(quota.split(' ').next().map(str::trim), Some("25000"));
    let members = read(if is_first {
        "/sys/fs/cgroup/pids/sysdyno-real-it/cgroup.procs"
    } else {
        "/sys/fs/cgroup/sysdyno-real-it/cgroup.procs"
    });
    // Its keeper, its first process, and its worker at least.
    assert!(members.lines().count() >= 3, "{members}");
    rig.expect(&["down", "real"], 0);
    rig.check("limits of a service");
}

/// All services are well, and tell every number of the tables of their recipes.
fn told_in_full(rig: &Rig) {
    let said = rig.expect(&["status", "real", "--json"], 0).stdout;
    let status: serde_json::Value = serde_json::from_str(&said).expect("is JSON");
    for service in status["labs"][0]["services"].as_array().expect("is a list") {
        let values = service["values"].as_array().expect("is a list");
        assert!(values.iter().all(|value| value["value"].is_number()), "{service}");
        let tells = ["nginx", "apache", "lighttpd", "php-fpm", "mariadb", "memcached", "wordpress"];
        let should = service["recipe"].as_str().is_some_and(|recipe| tells.contains(&recipe));
        assert_eq!(!values.is_empty(), should, "{service}");
    }
}

fn fetch(rig: &Rig, path: &str) -> String {
    let url = format!("http://10.77.0.2{path}");
    rig.expect(&["exec", "real", "client", "--", "curl", "--silent", "--fail", "--max-time", "20", &url], 0)
        .stdout
}

fn a_host_of_a_lab_is_read_by_ssh(rig: &mut Rig) {
    if !has("a host of a lab behind ssh", &["sshd", "ssh", "nginx"]) {
        return;
    }
    let services = "[[service]]\nname = 'door'\nhost = 'server'\nrecipe = 'sshd'\nwith = { port = 2222 }\n\
        [[service]]\nname = 'web'\nhost = 'server'\nrecipe = 'nginx'\nfiles = [{ path = 'page.html', text = 'hello' }]\n";
    rig.expect(&["up", &rig.lab(&format!("{HOSTS}{services}"))], 0);
    let own = env!("CARGO_BIN_EXE_sysdyno");
    let config = rig.state().join("lab/real/door/client");
    let config = config.to_string_lossy();
    let runs = rig.folder().join("runs").display().to_string();
    let load = ["load", "http://10.77.0.2/page.html", "-n", "200", "--json", "--runs-dir"];
    let server = ["--server", "ssh://root@10.77.0.2:2222", "--ssh-config", &config];
    let load = [&load[..], &[&runs], &server].concat();
    let loaded = rig.ask(&[&["exec", "real", "client", "--", own], &load[..]].concat());
    assert!(loaded.stdout.contains("\"ok\": 200"), "{loaded:?}");
    the_host_of_a_target_is_found_and_read(rig);
    rig.expect(&["down", "real"], 0);
    rig.check("sshd");
}

/// Without `--server`: the load goes to an address of the lab.
fn the_host_of_a_target_is_found_and_read(rig: &Rig) {
    let own = env!("CARGO_BIN_EXE_sysdyno");
    let runs = rig.folder().join("found").display().to_string();
    let load = ["load", "http://10.77.0.2/page.html", "-n", "2000", "-c", "4", "--json", "--runs-dir", &runs];
    let loaded = rig.ask(&[&["exec", "real", "client", "--", own], &load[..]].concat());
    assert!(loaded.stdout.contains("\"ok\": 2000"), "{loaded:?}");
    assert!(loaded.stderr.contains("the target is host 'server' of lab 'real'"), "{loaded:?}");
    assert!(!loaded.stderr.contains("processes were not found"), "{loaded:?}");
    // Both share the CPUs of this machine, and the verdict knows it.
    assert!(loaded.stdout.contains("\"M15\""), "{loaded:?}");
    assert!(loaded.stdout.contains("nginx completed"), "{loaded:?}");
}

fn php_behind_nginx(rig: &mut Rig) {
    if !has("php behind nginx", &["nginx", "php-fpm"]) {
        return;
    }
    let services = r#"
[[service]]
name = "php"
host = "server"
recipe = "php-fpm"
with = { max_children = 2, opcache = true }
[[service]]
name = "front"
host = "server"
recipe = "nginx"
with = { site = "php", upstream = "php", cache = true, root = "ROOT" }
health = { http = "/sum.php", status = 200 }
"#;
    let root = rig.folder().join("site");
    std::fs::create_dir_all(&root).expect("can be made");
    std::fs::write(root.join("sum.php"), "<?php echo 20 + 22;").expect("can be written");
    let services = services.replace("ROOT", &root.display().to_string());
    rig.expect(&["up", &rig.lab(&format!("{HOSTS}{services}"))], 0);
    assert_eq!(fetch(rig, "/sum.php"), "42");
    told_in_full(rig);
    rig.expect(&["reload", "real", "front"], 0);
    assert_eq!(fetch(rig, "/sum.php"), "42");
    rig.expect(&["down", "real"], 0);
    rig.check("php behind nginx");
}

/// Whether all that a lab takes is there; `name` is what it would be for want of.
pub fn is_whole(rig: &Rig, file: &str, name: &str) -> bool {
    let dry = rig.expect(&["up", "--dry-run", file], 0).stdout;
    let missing: Vec<&str> = dry.lines().filter_map(|line| line.strip_prefix("install  ")).collect();
    if !missing.is_empty() {
        skip(&format!("lab '{file}', which installs {}", missing.join(" ")), &[name]);
    }
    missing.is_empty()
}

fn a_wordpress_site_answers_with_its_posts(rig: &mut Rig) {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments/labs/wordpress.toml");
    if !is_whole(rig, file, "wordpress") {
        return;
    }
    let all = "object_cache = \"memcached\", opcache = true, page_cache = true";
    let text = std::fs::read_to_string(file).expect("is there");
    let text = text.replace("object_cache = \"none\", opcache = true, page_cache = false", all);
    assert!(text.contains(all));
    rig.expect(&["up", &rig.lab(&text)], 0);
    let fetch = |port: u16, more: &[&str]| {
        let url = format!("http://10.77.1.2:{port}/");
        let curl = ["exec", "wordpress", "client", "--", "curl", "--silent", "--fail", "--max-time", "20"];
        rig.expect(&[&curl, more, &[&url]].concat(), 0).stdout
    };
    let pages = [fetch(80, &[]), fetch(8080, &[])];
    for page in &pages {
        let is_whole = page.contains("Post 60:") && page.contains("Post 51:") && page.contains("</html>");
        assert!(is_whole && !page.contains("Post 50:"), "{page}");
    }
    assert!(fetch(80, &["--head", "--request", "GET"]).contains("X-Lab-Page: kept"));
    rig.expect(&["status", "wordpress"], 0);
    rig.expect(&["down", "wordpress"], 0);
    rig.check("WordPress");
}

fn files_are_uploaded_to_a_file_system(rig: &mut Rig) {
    if !has("uploads to a file system", &["nginx", "e2fsprogs"]) {
        return;
    }
    let services = "[[service]]\nname = 'store'\nhost = 'server'\nrecipe = 'file-system'\n\
                    with = { size_mib = 16, journal_mib = 4 }\n\
                    [[service]]\nname = 'it'\nhost = 'server'\nrecipe = 'nginx'\n\
                    with = { root = 'store', uploads = true }\n";
    let file = rig.lab(&format!("{HOSTS}{services}"));
    rig.expect(&["up", &file], 0);
    let folder = rig.state().join("lab/real/store/volume");
    let put = ["exec", "real", "client", "--", env!("CARGO_BIN_EXE_sysdyno"), "load", "-m", "PUT", "-n", "4"];
    let runs = rig.state().join("runs").display().to_string();
    let more = ["-c", "1", "--expect-status", "201,204", "--runs-dir", &runs, "http://10.77.0.2/a/b.lock"];
    rig.expect(&[&put[..], &more[..]].concat(), 0);
    assert_eq!(fs::read(folder.join("a/b.lock")).ok(), Some(Vec::new()), "it is there, and empty");
    rig.expect(&["down", "real"], 0);
    rig.check("uploads");
}

fn a_working_copy_lies_on_a_file_system_of_its_own(rig: &mut Rig) {
    let is_limited = can_limit_disks("limits of a disk");
    let limit =
        if is_limited { format!(", disk_iops = {}, disk_mib = 100", own_iops()) } else { String::new() };
    let services = format!(
        "[[service]]\nname = 'source'\nhost = 'server'\nrecipe = 'subversion-server'\nwith = {{ files = 120 }}\n\
         [[service]]\nname = 'it'\nhost = 'server'\nrecipe = 'subversion-copy'\n\
         with = {{ server = 'source', type = 'ext3', size_mib = 32, journal_mib = 4{limit} }}\n"
    );
    let file = rig.lab(&format!("{HOSTS}{services}"));
    if !is_whole(rig, &file, "subversion") {
        return;
    }
    rig.expect(&["up", &file], 0);
    let folder = rig.state().join("lab/real/it");
    let copy = folder.join("volume/copy");
    let read = || std::fs::read_to_string(copy.join("0001/000119.txt")).expect("is there");
    let before = read();
    let path = copy.display().to_string();
    rig.expect(&["exec", "real", "server", "--", "svn", "update", "--quiet", "--revision", "2", &path], 0);
    assert_ne!(before, read());
    let script = folder.join("lock.sh").display().to_string();
    rig.expect(&["exec", "real", "server", "--", "sh", &script], 0);
    assert!(!copy.join("0001/lock").exists());
    let limits = throttles();
    assert_eq!(limits.len(), if is_limited { 2 } else { 0 }, "to read and to write: {limits:?}");
    for _ in 0..2 {
        rig.expect(&["unmount", "real", "it"], 0);
        assert!(!copy.exists() && throttles().is_empty(), "it is unmounted");
    }
    for _ in 0..2 {
        rig.expect(&["mount", "real", "it"], 0);
        assert!(copy.join("0001").exists() && throttles().len() == limits.len(), "it is as it was");
    }
    let told = rig.expect(&["unmount", "real", "source"], 2).stderr;
    assert!(told.contains("cannot unmount the volume of service 'source': this service has none"), "{told}");
    rig.expect(&["down", "real"], 0);
    rig.check("a working copy");
}
