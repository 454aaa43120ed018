//! Web servers.

use super::super::remedy::{Remedy, ValueStep};
use super::{CONNECTIONS, NONE, ONE_CPU, POOL, change};
use sysdyno_record::allowance::Allowance;

pub(super) const REMEDIES: &[Remedy] = &[
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
        when: &["F01", "L01: A process ran out of file descriptors"],
        why: "a worker without descriptors can take no connection",
        source: "nginx.org/en/docs/ngx_core_module.html#worker_rlimit_nofile",
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
        when: &["F01", "F11", "L01: A process ran out of file descriptors"],
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
];
