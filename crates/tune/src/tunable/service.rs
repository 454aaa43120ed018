//! Settings of services, in their configuration files.
//!
//! A key is `SERVICE:FILE:DIRECTIVE`; blocks and sections precede the directive, separated by slashes. The service's own
//! program checks the file before the service reloads it. Sources are the services' own manuals.

use super::{EffectTime, INT_MAX, Risk, Scope, Tunable, int};
use crate::service::Service;
use crate::setting::Directives;
use crate::value::ValueKind;

const SWITCH: ValueKind = ValueKind::OneOf(&["on", "off"]);
const APACHE_SWITCH: ValueKind = ValueKind::OneOf(&["On", "Off"]);

const GIB: i128 = 1 << 30;

const fn entry(
    service: Service,
    id: &'static str,
    kind: ValueKind,
    unit: &'static str,
    does: &'static str,
) -> Tunable {
    let (source, effect) = match service {
        Service::Nginx => ("nginx.org/en/docs/dirindex.html", EffectTime::Reloaded),
        Service::PhpFpm => ("www.php.net/manual/en/install.fpm.configuration.php", EffectTime::Reloaded),
        Service::Lighttpd => {
            ("redmine.lighttpd.net/projects/lighttpd/wiki/Docs_ConfigurationOptions", EffectTime::Reloaded)
        }
        Service::Apache => ("httpd.apache.org/docs/2.4/mod/directives.html", EffectTime::Reloaded),
        Service::MariaDb => ("mariadb.com/kb/en/server-system-variables", EffectTime::Restarted),
        Service::Memcached => ("memcached(1)", EffectTime::Restarted),
    };
    Tunable::new(id, kind, unit, does)
        .of(Scope::Service, source)
        .felt(effect)
        .risks(Risk::Medium)
        .at(&Directives)
}

use Service::{Apache, Lighttpd, MariaDb, Memcached, Nginx, PhpFpm};

/// Settings of services.
pub const TABLE: &[Tunable] = &[
    entry(Nginx, "nginx:*:worker_processes",
        ValueKind::IntegerOr { word: "auto", min: 1, max: 1024 }, "processes",
        "Processes that serve. One for each CPU (auto) is right for all but disks that block; a single one leaves the other CPUs idle."),
    entry(Nginx, "nginx:*:worker_rlimit_nofile", int(64, 1 << 30), "descriptors",
        "Descriptors that each process may have open. A proxied connection takes two; at the limit nginx logs 'Too many open files' and connections wait."),
    entry(Nginx, "nginx:*:events/worker_connections", int(16, 1 << 24), "connections",
        "Connections that each process may have, those to servers behind it included. Above it, nginx logs \
         that they 'are not enough' and drops new ones."),
    entry(Nginx, "nginx:*:events/multi_accept", SWITCH, "switch",
        "Whether a process takes all waiting connections at once. It empties the accept queue sooner in bursts, and can leave the processes unequally loaded."),
    entry(Nginx, "nginx:*:http/keepalive_timeout", int(0, 86_400), "seconds",
        "How long an idle connection is kept for a next request; 0 closes at once. Without keeping every request pays for a new connection."),
    entry(Nginx, "nginx:*:http/keepalive_requests", int(1, INT_MAX), "requests",
        "Requests after which a connection is closed. Few mean many new connections, and sockets in TIME-WAIT."),
    entry(Nginx, "nginx:*:http/sendfile", SWITCH, "switch",
        "Whether files are sent by the kernel without being copied through the process. Off costs CPU for every byte."),
    entry(Nginx, "nginx:*:http/tcp_nopush", SWITCH, "switch",
        "Whether the head of a response waits to be sent with the beginning of the file. It saves a packet for each response, with sendfile only."),
    entry(Nginx, "nginx:*:http/open_file_cache",
        ValueKind::OneOf(&["off", "max=1000 inactive=60s", "max=10000 inactive=60s", "max=100000 inactive=60s"]), "cache",
        "Whether files are kept open for the next request, and how many. It saves looking up and opening; a file that is replaced is noticed after a minute."),
    entry(Nginx, "nginx:*:http/gzip_comp_level", int(1, 9), "level",
        "How hard responses are compressed where gzip is on. Each level above the first costs more CPU for less and less gain."),
    entry(PhpFpm, "php-fpm:*:*/opcache.enable", ValueKind::OneOf(&["0", "1"]), "switch",
        "Whether compiled programs are kept, in php.ini beside php-fpm.conf. Without it, every request compiles every file again."),
    entry(PhpFpm, "php-fpm:*:*/pm", ValueKind::OneOf(&["static", "dynamic", "ondemand"]), "mode",
        "Whether a pool has a fixed number of processes, follows its load within bounds, or starts them when they are needed. static answers bursts without forking."),
    entry(PhpFpm, "php-fpm:*:*/pm.max_children", int(1, 65_536), "processes",
        "Processes of a pool at most, each serving one request at a time. Above it, requests wait in the \
         listen queue; each takes tens of megabytes."),
    entry(PhpFpm, "php-fpm:*:*/pm.start_servers", int(1, 65_536), "processes",
        "Processes of a dynamic pool at its start. It has to lie between the two bounds of spare ones."),
    entry(PhpFpm, "php-fpm:*:*/pm.min_spare_servers", int(1, 65_536), "processes",
        "Idle processes that a dynamic pool keeps at least. More answer a burst without forking first."),
    entry(PhpFpm, "php-fpm:*:*/pm.max_spare_servers", int(1, 65_536), "processes",
        "Idle processes that a dynamic pool keeps at most. Fewer free memory between bursts."),
    entry(PhpFpm, "php-fpm:*:*/pm.max_requests", int(0, INT_MAX), "requests",
        "Requests after which a process is replaced; 0 for never. It bounds what leaks, and costs a fork and cold caches."),
    entry(PhpFpm, "php-fpm:*:*/listen.backlog", int(-1, INT_MAX), "connections",
        "Connections that wait for a process of the pool; -1 for the most that the kernel gives. nginx answers 502 when it is full."),
    entry(MariaDb, "mariadb:*:*/max_connections", int(10, 100_000), "connections",
        "Clients at a time. Above it, they are refused with 'Too many connections'; each costs memory for \
         its buffers."),
    entry(MariaDb, "mariadb:*:*/innodb_buffer_pool_size",
        ValueKind::Size { min: 2 << 20, max: 65_536 * GIB }, "bytes",
        "Memory for pages of tables and indexes. A dedicated server gives it most of its memory; what does not fit is read from disk again."),
    entry(MariaDb, "mariadb:*:*/innodb_log_file_size",
        ValueKind::Size { min: 1 << 20, max: 512 * GIB }, "bytes",
        "Size of the redo log. Small ones force pages out early under writing; large ones make recovery after a crash longer."),
    entry(MariaDb, "mariadb:*:*/innodb_flush_log_at_trx_commit", int(0, 3), "mode",
        "Whether a commit waits until its log is on the disk: yes (1), written but not synced (2), once a second (0). Anything but 1 can lose commits of the last second in a power cut.")
        .risks(Risk::High),
    entry(MariaDb, "mariadb:*:*/table_open_cache", int(10, 1 << 20), "tables",
        "Tables that are kept open, for all connections. Too few show as Opened_tables that grows."),
    entry(MariaDb, "mariadb:*:*/thread_cache_size", int(0, 16_384), "threads",
        "Threads that are kept for next clients. Applications that connect for every request gain from it."),
    entry(Memcached, "memcached:*:-m", int(1, 1 << 24), "MiB",
        "Memory for items. Above it, the oldest are evicted, and what asks for them has to make them again."),
    entry(Memcached, "memcached:*:-c", int(16, 1 << 24), "connections",
        "Clients at a time. Above it, memcached stops accepting, and connections wait in the backlog."),
    entry(Memcached, "memcached:*:-t", int(1, 1024), "threads",
        "Threads that serve. More than there are CPUs gain nothing."),
    entry(Memcached, "memcached:*:-b", int(1, INT_MAX), "connections",
        "Accept queue of the listener. It cannot exceed net.core.somaxconn."),
    entry(Lighttpd, "lighttpd:*:server.max-connections", int(1, 1 << 24), "connections",
        "Connections at a time. Half of server.max-fds or less leaves descriptors for files and servers behind it."),
    entry(Lighttpd, "lighttpd:*:server.max-fds", int(16, 1 << 24), "descriptors",
        "Descriptors that lighttpd may have open. When they are used up it stops accepting, and older versions spin and fill their log."),
    entry(Lighttpd, "lighttpd:*:server.max-worker", int(0, 1024), "processes",
        "Processes that serve; 0 for the first one alone. More use more CPUs, and each counts its own connections."),
    entry(Lighttpd, "lighttpd:*:server.listen-backlog", int(1, INT_MAX), "connections",
        "Accept queue of the listeners. It cannot exceed net.core.somaxconn."),
    entry(Lighttpd, "lighttpd:*:server.max-keep-alive-requests", int(0, 65_535), "requests",
        "Requests after which a connection is closed. Few mean many new connections, and sockets in TIME-WAIT."),
    entry(Lighttpd, "lighttpd:*:server.max-keep-alive-idle", int(0, 65_535), "seconds",
        "How long an idle connection is kept for a next request. Idle ones hold descriptors."),
    entry(Apache, "apache:*:MaxRequestWorkers", int(1, 1 << 20), "workers",
        "Requests that are served at a time. Above it, connections wait in the accept queue; more than \
         ServerLimit × ThreadsPerChild are not given."),
    entry(Apache, "apache:*:ServerLimit", int(1, 20_000), "processes",
        "Processes at most. It bounds MaxRequestWorkers; Apache has to be restarted to go beyond the old one."),
    entry(Apache, "apache:*:ThreadsPerChild", int(1, 20_000), "threads",
        "Threads of each process. Fewer and larger processes share more memory."),
    entry(Apache, "apache:*:ListenBackLog", int(1, INT_MAX), "connections",
        "Accept queue of the listeners. It cannot exceed net.core.somaxconn."),
    entry(Apache, "apache:*:KeepAlive", APACHE_SWITCH, "switch",
        "Whether connections are kept for next requests. Without it every request pays for a new connection."),
    entry(Apache, "apache:*:KeepAliveTimeout", int(0, 86_400), "seconds",
        "How long an idle connection is kept. With the prefork and worker modules each idle one holds a worker."),
    entry(Apache, "apache:*:MaxKeepAliveRequests", int(0, INT_MAX), "requests",
        "Requests after which a connection is closed; 0 for never. Few mean many new connections, and sockets in TIME-WAIT."),
];
