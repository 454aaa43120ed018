//! Every recipe, started for real where its package is installed, asked for a page, and taken away.

use crate::rig::Rig;

/// A service, what it serves, and what is asked of it.
struct Case {
    recipe: &'static str,
    program: &'static str,
    with: &'static str,
    /// What curl is asked for from the other host, and what has to come; nothing where it does not speak HTTP.
    page: Option<(&'static str, &'static str)>,
}

const CASES: &[Case] = &[
    Case { recipe: "nginx", program: "nginx", with: "workers = 2", page: Some(("/page.html", "hello")) },
    Case { recipe: "apache", program: "apache2", with: "workers = 50", page: Some(("/page.html", "hello")) },
    Case {
        recipe: "lighttpd",
        program: "lighttpd",
        with: "max_fds = 2048",
        page: Some(("/page.html", "hello")),
    },
    Case { recipe: "h2o", program: "h2o", with: "threads = 2", page: Some(("/page.html", "hello")) },
    Case { recipe: "caddy", program: "caddy", with: "", page: Some(("/page.html", "hello")) },
    Case { recipe: "memcached", program: "memcached", with: "threads = 2", page: None },
    Case { recipe: "mariadb", program: "mariadbd", with: "buffer_pool_mib = 16", page: None },
];

pub fn run(rig: &mut Rig) {
    CASES.iter().for_each(|case| one(rig, case));
    php_behind_nginx(rig);
}

pub fn is_installed(program: &str) -> bool {
    let folders = ["/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin"];
    let is_there = folders.iter().any(|folder| std::path::Path::new(folder).join(program).is_file());
    if !is_there {
        println!("skipped: a lab with {program}: needs {program}");
    }
    is_there
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
    if !is_installed(case.program) {
        return;
    }
    let Case { recipe, with, .. } = case;
    let service = format!(
        "[[service]]\nname = 'it'\nhost = 'server'\nrecipe = '{recipe}'\nwith = {{ {with} }}\nfiles = [{{ path = 'page.html', text = 'hello' }}]\n"
    );
    // The folder of a database holds nothing but its own.
    let service = if *recipe == "mariadb" { service.replace("files =", "# files =") } else { service };
    rig.expect(&["up", &rig.lab(&format!("{HOSTS}{service}"))], 0);
    rig.expect(&["status", "real"], 0);
    if let Some((path, text)) = case.page {
        assert_eq!(fetch(rig, path), text, "{recipe}");
    }
    rig.expect(&["down", "real"], 0);
    rig.check(recipe);
}

fn fetch(rig: &Rig, path: &str) -> String {
    let url = format!("http://10.77.0.2{path}");
    rig.expect(&["exec", "real", "client", "--", "curl", "--silent", "--fail", "--max-time", "20", &url], 0)
        .stdout
}

fn php_behind_nginx(rig: &mut Rig) {
    if !is_installed("nginx") || !is_installed("php-fpm8.2") {
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
    rig.expect(&["reload", "real", "front"], 0);
    assert_eq!(fetch(rig, "/sum.php"), "42");
    rig.expect(&["down", "real"], 0);
    rig.check("php behind nginx");
}
