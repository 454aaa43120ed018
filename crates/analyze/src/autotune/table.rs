//! The remedies, as data: what to change, when, and where it is known from.
//!
//! A remedy without diagnoses is worth a try wherever its setting is found: it helps often, and what shows that it would is no
//! counter. The others are suggested only by what was seen. Order is the order of suggestions that are equally pressing.

use super::remedy::{Remedy, RemedyChange, ValueStep};
use sysdyno_record::allowance::Allowance;

/// Memory of a PHP process that serves one request. Unit: bytes. House value.
const PHP_BYTES: u64 = 48 << 20;

const fn change(setting: &'static str, step: ValueStep, default: &'static str) -> RemedyChange {
    RemedyChange { setting, step, default }
}

/// What shows that processes or threads that serve are all taken.
const POOL: &[&str] = &["F04", "F07", "F13", "F16", "A05", "A14", "L01", "T01", "F11"];

/// What shows that connections, or descriptors for them, are used up.
const CONNECTIONS: &[&str] = &["F11", "L01", "F01", "A14", "T01"];

/// What shows that one thread does the work of many.
const ONE_CPU: &[&str] = &["F05", "C13", "C02", "T01", "F04"];

const NONE: Remedy =
    Remedy { id: "", title: "", changes: &[], when: &[], only_if: None, gives_up: None, why: "", source: "" };

/// All of them.
pub const REMEDIES: &[Remedy] = &[
    Remedy {
        id: "nginx-workers",
        title: "nginx: {} worker processes",
        changes: &[change("nginx:*:worker_processes", ValueStep::Cpus, "1")],
        why: "one worker uses one CPU, and there are more",
        source: "nginx.org/en/docs/ngx_core_module.html#worker_processes",
        ..NONE
    },
    Remedy {
        id: "nginx-connections",
        title: "nginx: {} connections for each worker",
        changes: &[
            change("nginx:*:events/worker_connections", ValueStep::Times(4, 65_536), "512"),
            change("nginx:*:worker_rlimit_nofile", ValueStep::OfFirst(2), ""),
        ],
        when: CONNECTIONS,
        why: "a worker refuses what is beyond its connections, and a proxied request takes two",
        source: "nginx.org/en/docs/ngx_core_module.html#worker_connections",
        ..NONE
    },
    Remedy {
        id: "nginx-descriptors",
        title: "nginx: {} descriptors for each worker",
        changes: &[change("nginx:*:worker_rlimit_nofile", ValueStep::AtLeast(65_536), "")],
        when: &["F01", "L01"],
        why: "a worker without descriptors can take no connection",
        source: "nginx.org/en/docs/ngx_core_module.html#worker_rlimit_nofile",
        ..NONE
    },
    Remedy {
        id: "php-children",
        title: "php-fpm: {} children",
        changes: &[change("php-fpm:*:*/pm.max_children", ValueStep::InMemory(2, PHP_BYTES), "")],
        when: POOL,
        why: "a child serves one request at a time, and the others wait",
        source: "www.php.net/manual/en/install.fpm.configuration.php#pm.max-children",
        ..NONE
    },
    Remedy {
        id: "php-fewer-children",
        title: "php-fpm: {} children",
        changes: &[change("php-fpm:*:*/pm.max_children", ValueStep::Divide(2, 2), "")],
        when: &["C02", "C13", "E02", "E03", "E04"],
        why: "children beyond what the CPUs carry wait for each other, and each takes memory",
        source: "www.php.net/manual/en/install.fpm.configuration.php#pm.max-children",
        ..NONE
    },
    Remedy {
        id: "php-opcache",
        title: "PHP: compiled programs are kept",
        changes: &[change("php-fpm:*:*/opcache.enable", ValueStep::To("1"), "1")],
        why: "without it, every request compiles every file again",
        source: "www.php.net/manual/en/opcache.configuration.php",
        ..NONE
    },
    Remedy {
        id: "php-static",
        title: "php-fpm: a fixed number of children",
        changes: &[change("php-fpm:*:*/pm", ValueStep::To("static"), "static")],
        when: POOL,
        why: "a pool that follows its load forks in every burst",
        source: "www.php.net/manual/en/install.fpm.configuration.php#pm",
        ..NONE
    },
    Remedy {
        id: "php-backlog",
        title: "php-fpm: {} connections may wait",
        changes: &[
            change("php-fpm:*:*/listen.backlog", ValueStep::AtLeast(4096), "511"),
            change("net.core.somaxconn", ValueStep::OfFirst(1), ""),
        ],
        when: &["T01", "A14", "L01"],
        why: "the web server answers 502 when the queue of the pool is full",
        source: "www.php.net/manual/en/install.fpm.configuration.php#listen-backlog",
        ..NONE
    },
    Remedy {
        id: "wordpress-object-cache",
        title: "WordPress: an object cache in php-fpm",
        changes: &[change("wordpress.object_cache", ValueStep::To("apcu"), "none")],
        why: "what was read from the database once is not asked for again",
        source: "developer.wordpress.org/reference/classes/wp_object_cache",
        ..NONE
    },
    Remedy {
        id: "wordpress-page-cache",
        title: "WordPress: whole pages are kept",
        changes: &[change("wordpress.page_cache", ValueStep::To("true"), "false")],
        gives_up: Some(Allowance::SharedCache),
        why: "a page that is kept needs no database",
        source: "developer.wordpress.org/advanced-administration/performance/cache",
        ..NONE
    },
    Remedy {
        id: "nginx-fastcgi-cache",
        title: "nginx: keeps what PHP answered",
        changes: &[change("nginx.cache", ValueStep::To("true"), "false")],
        only_if: Some(("nginx.site", "php")),
        gives_up: Some(Allowance::SharedCache),
        why: "a page that nginx keeps needs no PHP",
        source: "nginx.org/en/docs/http/ngx_http_fastcgi_module.html#fastcgi_cache",
        ..NONE
    },
    Remedy {
        id: "nginx-proxy-cache",
        title: "nginx: keeps what the server behind it answered",
        changes: &[change("nginx.proxy_cache", ValueStep::To("true"), "false")],
        only_if: Some(("nginx.site", "proxy")),
        gives_up: Some(Allowance::SharedCache),
        why: "a response that nginx keeps needs no other server",
        source: "nginx.org/en/docs/http/ngx_http_proxy_module.html#proxy_cache",
        ..NONE
    },
    Remedy {
        id: "accept-queue",
        title: "kernel: {} connections may wait for the server",
        changes: &[
            change("listener.*.backlog", ValueStep::AtLeast(4096), ""),
            change("net.core.somaxconn", ValueStep::OfFirst(1), ""),
        ],
        when: &["T01", "T03", "T04"],
        why: "a full accept queue drops connections, which come again after a second; half-open ones are limited by its length, too",
        source: "listen(2); admin-guide/sysctl/net.rst",
        ..NONE
    },
    Remedy {
        id: "syn-queue",
        title: "kernel: {} half-open connections",
        changes: &[change("net.ipv4.tcp_max_syn_backlog", ValueStep::AtLeast(8192), "")],
        when: &["T03", "T04"],
        why: "a full queue of half-open connections drops new ones, or answers them by cookies",
        source: "networking/ip-sysctl.rst",
        ..NONE
    },
    Remedy {
        id: "receive-backlog",
        title: "kernel: {} packets may wait for each CPU",
        changes: &[change("net.core.netdev_max_backlog", ValueStep::AtLeast(10_000), "")],
        when: &["N04", "N07"],
        why: "packets beyond it are dropped before TCP sees them",
        source: "admin-guide/sysctl/net.rst",
        ..NONE
    },
    Remedy {
        id: "receive-budget",
        title: "kernel: {} packets in one round of receiving",
        changes: &[
            change("net.core.netdev_budget", ValueStep::Times(2, 1200), ""),
            change("net.core.netdev_budget_usecs", ValueStep::AtLeast(16_000), ""),
        ],
        when: &["N05"],
        why: "rounds end before the queue of the card is empty",
        source: "admin-guide/sysctl/net.rst",
        ..NONE
    },
    Remedy {
        id: "time-wait",
        title: "kernel: {} sockets in TIME-WAIT",
        changes: &[change("net.ipv4.tcp_max_tw_buckets", ValueStep::Times(4, 1 << 21), "")],
        when: &["T05"],
        why: "sockets beyond it are closed at once, and late packets meet the wrong connection",
        source: "networking/ip-sysctl.rst",
        ..NONE
    },
    Remedy {
        id: "descriptors-of-host",
        title: "kernel: {} open files on the host",
        changes: &[change("fs.file-max", ValueStep::Times(4, 1 << 30), "")],
        when: &["F02"],
        why: "no process can open another file or connection",
        source: "admin-guide/sysctl/fs.rst",
        ..NONE
    },
    Remedy {
        id: "swapping",
        title: "kernel: swaps as late as it can",
        changes: &[change("vm.swappiness", ValueStep::AtMost(1), "")],
        when: &["E03"],
        why: "pages of the server are written to disk and read again",
        source: "admin-guide/sysctl/vm.rst",
        ..NONE
    },
    Remedy {
        id: "nginx-multi-accept",
        title: "nginx: takes all waiting connections at once",
        changes: &[change("nginx:*:events/multi_accept", ValueStep::To("on"), "off")],
        when: &["T01"],
        why: "a burst empties the accept queue in one round",
        source: "nginx.org/en/docs/ngx_core_module.html#multi_accept",
        ..NONE
    },
    Remedy {
        id: "nginx-keepalive",
        title: "nginx: {} requests for each connection",
        changes: &[change("nginx:*:http/keepalive_requests", ValueStep::AtLeast(100_000), "1000")],
        why: "every new connection costs both sides",
        source: "nginx.org/en/docs/http/ngx_http_core_module.html#keepalive_requests",
        ..NONE
    },
    Remedy {
        id: "nginx-open-files",
        title: "nginx: keeps files open",
        changes: &[change("nginx:*:http/open_file_cache", ValueStep::To("max=10000 inactive=60s"), "off")],
        only_if: Some(("nginx.site", "static")),
        why: "a file is not looked up and opened for every request",
        source: "nginx.org/en/docs/http/ngx_http_core_module.html#open_file_cache",
        ..NONE
    },
    Remedy {
        id: "nginx-sendfile",
        title: "nginx: the kernel sends files",
        changes: &[change("nginx:*:http/sendfile", ValueStep::To("on"), "off")],
        why: "files are not copied through the process",
        source: "nginx.org/en/docs/http/ngx_http_core_module.html#sendfile",
        ..NONE
    },
    Remedy {
        id: "nginx-nopush",
        title: "nginx: sends head and file together",
        changes: &[change("nginx:*:http/tcp_nopush", ValueStep::To("on"), "off")],
        only_if: Some(("nginx:*:http/sendfile", "on")),
        why: "each response needs a packet less",
        source: "nginx.org/en/docs/http/ngx_http_core_module.html#tcp_nopush",
        ..NONE
    },
    Remedy {
        id: "nginx-no-nopush",
        title: "nginx: sends the head at once",
        changes: &[change("nginx:*:http/tcp_nopush", ValueStep::To("off"), "off")],
        why: "small files gain nothing from waiting, and two system calls are saved",
        source: "nginx.org/en/docs/http/ngx_http_core_module.html#tcp_nopush",
        ..NONE
    },
    Remedy {
        id: "nginx-gzip-level",
        title: "nginx: compresses at level {}",
        changes: &[change("nginx:*:http/gzip_comp_level", ValueStep::AtMost(1), "1")],
        why: "higher levels cost several times the CPU for a few per cent less to send",
        source: "nginx.org/en/docs/http/ngx_http_gzip_module.html#gzip_comp_level",
        ..NONE
    },
    Remedy {
        id: "lighttpd-connections",
        title: "lighttpd: {} connections",
        changes: &[
            change("lighttpd:*:server.max-connections", ValueStep::Times(4, 65_536), ""),
            change("lighttpd:*:server.max-fds", ValueStep::OfFirst(2), ""),
        ],
        when: CONNECTIONS,
        why: "lighttpd stops accepting at its limit of connections",
        source: "redmine.lighttpd.net/projects/lighttpd/wiki/Server_max-connectionsDetails",
        ..NONE
    },
    Remedy {
        id: "lighttpd-descriptors",
        title: "lighttpd: {} descriptors",
        changes: &[change("lighttpd:*:server.max-fds", ValueStep::Times(4, 131_072), "1024")],
        when: &["F01", "F11", "L01"],
        why: "lighttpd stops accepting when its descriptors are used up",
        source: "redmine.lighttpd.net/projects/lighttpd/wiki/Server_max-fdsDetails",
        ..NONE
    },
    Remedy {
        id: "lighttpd-workers",
        title: "lighttpd: {} processes",
        changes: &[change("lighttpd.workers", ValueStep::Cpus, "0")],
        when: ONE_CPU,
        why: "one process uses one CPU, and there are more",
        source: "redmine.lighttpd.net/projects/lighttpd/wiki/Server_max-workerDetails",
        ..NONE
    },
    Remedy {
        id: "apache-workers",
        title: "Apache: {} requests at a time",
        changes: &[change("apache:*:MaxRequestWorkers", ValueStep::Times(2, 4096), "")],
        when: POOL,
        why: "requests beyond it wait for a worker",
        source: "httpd.apache.org/docs/2.4/mod/mpm_common.html#maxrequestworkers",
        ..NONE
    },
    Remedy {
        id: "apache-keepalive",
        title: "Apache: {} requests for each connection",
        changes: &[change("apache:*:MaxKeepAliveRequests", ValueStep::AtLeast(100_000), "100")],
        why: "every new connection costs both sides",
        source: "httpd.apache.org/docs/2.4/mod/core.html#maxkeepaliverequests",
        ..NONE
    },
    Remedy {
        id: "memcached-threads",
        title: "memcached: {} threads",
        changes: &[change("memcached.threads", ValueStep::Cpus, "4")],
        when: ONE_CPU,
        why: "a thread uses one CPU, and there are more",
        source: "memcached(1)",
        ..NONE
    },
    Remedy {
        id: "memcached-connections",
        title: "memcached: {} connections",
        changes: &[change("memcached.max_connections", ValueStep::Times(4, 65_536), "1024")],
        when: CONNECTIONS,
        why: "memcached stops accepting at its limit",
        source: "memcached(1)",
        ..NONE
    },
    Remedy {
        id: "mariadb-connections",
        title: "MariaDB: {} connections",
        changes: &[change("mariadb.max_connections", ValueStep::Times(2, 4096), "151")],
        when: &["L01", "L03", "A14"],
        why: "clients beyond it are refused",
        source: "mariadb.com/kb/en/server-system-variables/#max_connections",
        ..NONE
    },
    Remedy {
        id: "mariadb-memory",
        title: "MariaDB: {} MiB for pages",
        changes: &[change("mariadb.buffer_pool_mib", ValueStep::InMemory(4, 1 << 20), "128")],
        when: &["D03", "D09", "E05", "A05"],
        why: "pages that do not fit are read from disk again",
        source: "mariadb.com/kb/en/innodb-buffer-pool",
        ..NONE
    },
    Remedy {
        id: "mariadb-commits",
        title: "MariaDB: commits do not wait for the disk",
        changes: &[change("mariadb.flush", ValueStep::To("system"), "commit")],
        when: &["D02", "D03", "F07"],
        gives_up: Some(Allowance::Durability),
        why: "every commit waits until its log is on the disk",
        source: "mariadb.com/kb/en/innodb-system-variables/#innodb_flush_log_at_trx_commit",
        ..NONE
    },
];
