//! PHP and the applications written in it.

use super::super::remedy::{Remedy, ValueStep};
use super::{NONE, POOL, change};
use sysdyno_record::allowance::Allowance;

/// Memory of a PHP process that serves one request. Unit: bytes. House value.
const PHP_BYTES: u64 = 48 << 20;

pub(super) const REMEDIES: &[Remedy] = &[
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
        when: &["T01", "A14", "L01: The accept queue of a back end"],
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
];
