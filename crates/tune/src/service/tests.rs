//! Files of services: what they say, and that nothing else in them changes.

use super::*;

const NGINX: &str = "\
# worker_connections 1;
user www-data;
worker_processes auto; # by CPU
events { worker_connections 768; }
http {
    log_format main '$remote_addr \"}\" ${request}';
    server { keepalive_timeout 5; }
    server { keepalive_timeout 6; }
    keepalive_timeout  65 60;
}
";

const POOLS: &str = "[global]\npid = /run/php-fpm.pid\n; pm = no\n[www]\npm = dynamic ; by load\npm.max_children=5\n[other]\npm = static\n";

const LIGHTTPD: &str = "server.port = 80\nserver.max-fds = 1024 # few\n$HTTP[\"host\"] == \"a\" {\n  server.max-fds = 1\n}\nserver.modules = (\n  \"mod_access\",\n)\n";

const APACHE: &str = "Timeout 300\n<IfModule mpm_event_module>\n\tMaxRequestWorkers 150\n</IfModule>\n<Directory />\n  KeepAlive Off\n</Directory>\nKeepAlive On\n";

const MEMCACHED: &str = "# -m 1\n-d\n-m 64\n-l 127.0.0.1\n";

#[test]
fn values_are_found_where_the_service_finds_them() {
    let check = |service: Service, text: &str, directive: &str, expected: Option<&str>| {
        assert_eq!(service.value(text, directive), Ok(expected), "{directive}");
    };
    check(Service::Nginx, NGINX, "worker_processes", Some("auto"));
    check(Service::Nginx, NGINX, "events/worker_connections", Some("768"));
    check(Service::Nginx, NGINX, "http/keepalive_timeout", Some("65 60"));
    check(Service::Nginx, NGINX, "worker_connections", None);
    check(Service::PhpFpm, POOLS, "www/pm", Some("dynamic"));
    check(Service::PhpFpm, POOLS, "www/pm.max_children", Some("5"));
    check(Service::PhpFpm, POOLS, "global/pid", Some("/run/php-fpm.pid"));
    check(
        Service::MariaDb,
        "[mysqld]\nmax-connections = 10\nskip-name-resolve\n",
        "mysqld/max_connections",
        Some("10"),
    );
    check(Service::Lighttpd, LIGHTTPD, "server.max-fds", Some("1024"));
    check(Service::Apache, APACHE, "MaxRequestWorkers", Some("150"));
    check(Service::Apache, APACHE, "KeepAlive", Some("On"));
    check(Service::Memcached, MEMCACHED, "-m", Some("64"));
}

#[test]
fn one_value_changes_and_nothing_else_does() {
    let check = |service: Service, text: &str, (directive, value): (&str, &str), (old, new): (&str, &str)| {
        assert_eq!(text.matches(old).count(), 1, "{old}");
        let edited = service.edited(text, directive, value);
        assert_eq!(edited.as_deref(), Ok(text.replace(old, new).as_str()));
    };
    check(
        Service::Nginx,
        NGINX,
        ("worker_processes", "4"),
        ("worker_processes auto;", "worker_processes 4;"),
    );
    check(Service::Nginx, NGINX, ("http/keepalive_timeout", "9"), ("65 60", "9"));
    check(Service::Nginx, NGINX, ("http/sendfile", "on"), ("65 60;\n", "65 60;\nsendfile on;\n"));
    check(Service::PhpFpm, POOLS, ("www/pm", "static"), ("dynamic", "static"));
    check(
        Service::PhpFpm,
        POOLS,
        ("other/pm.max_children", "7"),
        ("[other]\n", "[other]\npm.max_children = 7\n"),
    );
    check(Service::Lighttpd, LIGHTTPD, ("server.max-fds", "9"), ("1024", "9"));
    check(Service::Apache, APACHE, ("MaxRequestWorkers", "9"), ("150", "9"));
    check(Service::Memcached, MEMCACHED, ("-m", "9"), ("64", "9"));
    assert_eq!(Service::Memcached.edited("-m 64", "-c", "9").as_deref(), Ok("-m 64\n-c 9\n"));
}

#[test]
fn what_is_not_plain_is_refused() {
    let check = |service: Service, text: &str, (directive, value): (&str, &str), cause: &str| {
        let refused = service.edited(text, directive, value).expect_err("is refused");
        assert!(refused.contains(cause), "{directive}={value}: {refused}");
    };
    check(Service::Nginx, NGINX, ("http/server/keepalive_timeout", "1"), "more than once");
    check(Service::Nginx, NGINX, ("stream/tcp_nodelay", "on"), "no block 'stream'");
    check(Service::Nginx, "events {", ("worker_processes", "1"), "do not match");
    check(Service::Nginx, "a 'b;", ("worker_processes", "1"), "quote");
    check(Service::Nginx, NGINX, ("worker_processes", "1; load_module x"), "cannot be written there");
    check(Service::Nginx, NGINX, ("worker_processes", "1 # "), "cannot be written there");
    check(Service::PhpFpm, POOLS, ("www/pm", "static\nuser = root"), "cannot be written there");
    check(Service::Lighttpd, "a = {\n", ("server.max-fds", "1"), "do not match");
    check(Service::Apache, "<Directory />\n", ("KeepAlive", "On"), "do not match");
    check(Service::Apache, "KeepAlive \\\nOn\n", ("KeepAlive", "On"), "has continued lines");
}

#[test]
fn a_part_belongs_to_the_main_file_above_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let (main, part) = (folder.path().join("nginx.conf"), folder.path().join("conf.d/site.conf"));
    assert_eq!(Service::Nginx.main_of(&part), None);
    std::fs::write(&main, "").expect("writes");
    assert_eq!(Service::Nginx.main_of(&part), Some(main.clone()));
    assert_eq!(Service::Nginx.main_of(&main), Some(main));
    assert_eq!(Service::MariaDb.main_of(&part), Some(part));
}
