//! What a file means, and which errors are reported at which place.

use super::super::plan_links::Relay;
use super::*;
use sysdyno_record::units::SpanNs;

const HOSTS: &str = "name = 'a'\n[[host]]\nname = 'c'\n[[host]]\nname = 's'\n";

fn parse(text: &str) -> Result<LabPlan, String> {
    LabPlan::parse(text, Path::new("lab.toml")).map_err(|error| error.to_string())
}

#[test]
fn a_whole_lab_is_understood() {
    let text = format!(
        "{HOSTS}[[link]]\nbetween = ['c', 's']\naddresses = ['10.77.0.1/24', 'fd00::2/64']\nqueues = 4\nmtu = 9000\n\
         rate = '100Mbit'\n[[link]]\nbetween = ['s', 'c']\ndelay = '20ms'\nloss = '0.1%'\n[[service]]\nname = 'php'\nhost = 's'\nrecipe = 'php-fpm'\n\
         [[service]]\nname = 'web'\nhost = 's'\nrecipe = 'nginx'\nwith = {{ port = 8080, site = 'php', upstream = 'php' }}\n\
         cpus = '0,2-3'\nfiles = [{{ path = 'a/b', size = '1KiB' }}]\nhealth = {{ http = '/', status = 200 }}\n"
    );
    let plan = parse(&text).expect("is a lab");
    assert_eq!(plan.links[0].ends.each_ref().map(|end| end.interface.as_str()), ["eth0", "eth0"]);
    assert_eq!(plan.links[1].ends.each_ref().map(|end| end.interface.as_str()), ["eth1", "eth1"]);
    assert_eq!((plan.links[0].rate_bits_hz, plan.links[0].queues_count), (Some(100_000_000), 4));
    assert_eq!(plan.links[0].relay, None);
    let relay = Relay { delay_ns: SpanNs::from_millis(20), loss_ppm: 1000, seed: 2 };
    assert_eq!(plan.links[1].relay, Some(relay));
    assert_eq!(plan.address("c").to_string(), "10.77.0.1");
    assert_eq!(plan.address_from("c", "s").to_string(), "fd00::2");
    assert_eq!((plan.services[0].cpus.len(), &plan.services[1].cpus[..]), (0, &[0, 2, 3][..]));
    assert_eq!(plan.services[1].files[0].content, FileContent::Bytes(1024));
    let json = serde_json::to_string(&plan).expect("can be written");
    assert_eq!(serde_json::from_str::<LabPlan>(&json).expect("can be read"), plan);
}

#[test]
fn what_is_wrong_is_told_with_line_and_column() {
    let service = "[[service]]\nname = 'w'\nhost = 's'\nrecipe = 'nginx'\n";
    let cases = [
        ("name = 'A b'\n[[host]]\nname = 'c'\n".to_owned(), "line 1, column 8: a name has"),
        ("name = '../x'\n[[host]]\nname = 'c'\n".to_owned(), "line 1, column 8: a name has"),
        ("name = 'a'\n".to_owned(), "1 to 64 hosts"),
        ("name = 'a'\nport = 1\n".to_owned(), "unknown field `port`"),
        (format!("{HOSTS}[[host]]\nname = 'c'\n"), "line 7, column 8: this name is taken"),
        (format!("{HOSTS}[[link]]\nbetween = ['c', 'x']\n"), "line 7, column 17: there is no such host"),
        (format!("{HOSTS}[[link]]\nbetween = ['c', 'c']\n"), "two different hosts"),
        (
            format!("{HOSTS}[[link]]\nbetween = ['c', 's']\naddresses = ['10.0.0.1', '10.0.0.2/24']\n"),
            "prefix length",
        ),
        (format!("{HOSTS}{service}cpus = '3-1'\n"), "line 10, column 8: this is not a list of CPUs"),
        (format!("{HOSTS}{service}cpus = '65535'\n"), "this is not a list of CPUs"),
        (format!("{HOSTS}{service}limits = {{ pids = 0 }}\n"), "line 10, column 10: 'pids' takes 1 to"),
        (format!("{HOSTS}{service}limits = {{ memory = 1 }}\n"), "unknown field `memory`"),
        (
            format!("{HOSTS}[[link]]\nbetween = ['c', 's']\nrate = '1Tbit'\n"),
            "line 8, column 8: this is not a rate",
        ),
        (
            format!("{HOSTS}[[link]]\nbetween = ['c', 's']\nnames = ['a;b', 'x']\n"),
            "the name of an interface",
        ),
        (format!("{HOSTS}[[link]]\nbetween = ['c', 's']\nqueues = 0\n"), "must be from 1 to 64"),
        (
            format!("{HOSTS}[[link]]\nbetween = ['c', 's']\ndelay = '11s'\n"),
            "line 8, column 9: this is not a delay",
        ),
        (format!("{HOSTS}[[link]]\nbetween = ['c', 's']\nloss = '0.1'\n"), "this is not a loss from"),
        (format!("{HOSTS}[[link]]\nbetween = ['c', 's']\nloss = 'nan%'\n"), "this is not a loss from"),
        (format!("{HOSTS}[[link]]\nbetween = ['c', 's']\nloss = '101%'\n"), "this is not a loss from"),
        (format!("{HOSTS}[[link]]\nbetween = ['c', 's']\nseed = 1\n"), "only a link with loss"),
        (
            format!("{HOSTS}{service}with = {{ port = 70000 }}\n"),
            "line 10, column 17: it takes an integer from 1 to 65535",
        ),
        (format!("{HOSTS}{service}with = {{ color = 'red' }}\n"), "has no such parameter"),
        (format!("{HOSTS}{service}with = {{ site = 'php' }}\n"), "'upstream' is required"),
        (format!("{HOSTS}{service}with = {{ site = 'proxy', upstream = 'later' }}\n"), "nor a service above"),
        (format!("{HOSTS}{service}files = [{{ path = '../x', text = '' }}]\n"), "not a path below"),
        (
            format!("{HOSTS}{service}files = [{{ path = 'x', source = '/etc/shadow' }}]\n"),
            "below the folder of lab.toml",
        ),
        (format!("{HOSTS}{service}files = [{{ path = 'x' }}]\n"), "one of 'text', 'source', or 'size'"),
        (format!("{HOSTS}{service}health = {{ status = 200 }}\n"), "this takes 'http'"),
        (format!("{HOSTS}[[service]]\nname = 'logs'\nhost = 's'\nrecipe = 'nginx'\n"), "this name is taken"),
        (
            format!("{HOSTS}[[service]]\nname = 'w'\nhost = 's'\nrecipe = 'iis'\n"),
            "no such recipe, only apache",
        ),
    ];
    for (text, part) in cases {
        let error = parse(&text).expect_err(&text);
        assert!(error.starts_with("cannot read lab 'lab.toml'") && error.contains(part), "{text}\n{error}");
    }
}

const OUTSIDE: &str = "name = 'a'\n[[host]]\nname = 'me'\nhere = true\naddress = '192.0.2.1'\n\
    [[host]]\nname = 'far'\nssh = 'ann@web.example'\naddress = '192.0.2.7'\n\
    [[host]]\nname = 'other'\nssh = 'ssh://root@[2001:db8::7]:2222'\n[[host]]\nname = 'n'\n";

#[test]
fn hosts_may_be_this_machine_and_others_behind_ssh() {
    let services = "[[service]]\nname = 'php'\nhost = 'far'\nrecipe = 'php-fpm'\n\
         [[service]]\nname = 'web'\nhost = 'other'\nrecipe = 'nginx'\nwith = { site = 'php', upstream = 'php' }\n";
    let plan = parse(&format!("{OUTSIDE}{services}")).expect("is a lab");
    assert!(plan.is_here("me") && !plan.is_here("far") && !plan.is_here("n"));
    assert_eq!((plan.far("far"), plan.far("me"), plan.far("n")), (Some("ann@web.example"), None, None));
    assert_eq!(plan.address("other").to_string(), "2001:db8::7");
    assert_eq!(plan.address_from("other", "far").to_string(), "192.0.2.7");
    assert_eq!(plan.own_hosts().collect::<Vec<_>>(), ["me", "n"]);
    assert_eq!(plan.far_hosts().map(|(host, _)| host).collect::<Vec<_>>(), ["far", "other"]);
    assert_eq!(plan.generator(), "me");
    let share = plan.share("other", "x/1");
    assert_eq!((share.name.as_str(), share.own_hosts().count()), ("a-other", 1));
    assert!(share.is_here("other") && share.far_hosts().next().is_none());
    assert_eq!(share.own_services().map(|service| service.name.as_str()).collect::<Vec<_>>(), ["web"]);
    let agent = parse(&OUTSIDE.replace("ssh = 'ann@web.example'", "fleet = 'web1'")).expect("is a lab");
    assert_eq!((agent.far("far"), agent.far_hosts().count()), (Some("fleet:web1"), 2));
    let json = serde_json::to_string(&share).expect("can be written");
    assert_eq!(serde_json::from_str::<LabPlan>(&json).expect("can be read"), share);
}

#[test]
fn what_is_wrong_with_hosts_that_are_no_namespaces_is_told() {
    let host = |more: &str| format!("name = 'a'\n[[host]]\nname = 'h'\n{more}\n");
    let service =
        |more: &str| format!("{OUTSIDE}[[service]]\nname = 's'\nhost = 'far'\nrecipe = 'php-fpm'\n{more}");
    let user = |host: &str| {
        let web = "[[service]]\nname = 'web'\nhost = 'HOST'\nrecipe = 'nginx'\nwith = { site = 'php', upstream = 's', root = 's' }\n";
        service(&web.replace("HOST", host))
    };
    let cases = [
        (host("ssh = 'u@h'"), "line 3, column 8: it needs an 'address' where the other hosts can reach it"),
        (host("here = true"), "line 3, column 8: it needs an 'address'"),
        (host("ssh = 'netns:x'"), "line 4, column 7: this is not a host for ssh"),
        (host("ssh = '-oProxyCommand=id'"), "line 4, column 7: this is not a host for ssh"),
        (
            host("ssh = 'u@10.0.0.1'\nhere = true"),
            "line 4, column 7: a host is one of 'here', 'ssh', and 'fleet'",
        ),
        (
            host("ssh = 'u@10.0.0.1'\nfleet = 'web1'"),
            "line 5, column 9: a host is one of 'here', 'ssh', and 'fleet'",
        ),
        (host("fleet = 'site=east'"), "line 4, column 9: this is not the name of an agent"),
        (host("fleet = 'web1'"), "line 3, column 8: it needs an 'address'"),
        (
            host("address = '10.0.0.1'"),
            "line 4, column 11: a network namespace gets its addresses from its links",
        ),
        (host("here = true\naddress = '0.0.0.0'"), "line 5, column 11: this is not an address"),
        (host("here = true\naddress = '10.0.0.1/24'"), "this is not an address, such as 192.0.2.7"),
        (host("switch = true\nssh = 'u@10.0.0.1'"), "a switch is a network namespace"),
        (
            format!("{OUTSIDE}[[host]]\nname = 'z'\nhere = true\naddress = '192.0.2.2'\n"),
            "is already this machine",
        ),
        (
            format!("{OUTSIDE}[[link]]\nbetween = ['n', 'far']\n"),
            "line 16, column 17: links only connect network",
        ),
        (
            user("n").replace("root = 's'", "root = '/srv'"),
            "'n' cannot reach 'far': 'n' is a network namespace",
        ),
        (user("me"), "its files are on 'far', but 'me' is another machine"),
    ];
    for (text, part) in cases {
        let error = parse(&text).expect_err(&text);
        assert!(error.starts_with("cannot read lab 'lab.toml'") && error.contains(part), "{text}\n{error}");
    }
    assert!(parse(&user("far")).is_ok());
}

#[test]
fn more_copies_than_data_nodes_are_refused_before_anything_is_made() {
    let node = |name: &str| {
        format!(
            "[[service]]\nname = '{name}'\nhost = 's'\nrecipe = 'hdfs-datanode'\nwith = {{ namenode = 'names' }}\n"
        )
    };
    let names =
        "[[service]]\nname = 'names'\nhost = 'c'\nrecipe = 'hdfs-namenode'\nwith = { replication = 3 }\n";
    let two = format!("{HOSTS}{names}{}{}", node("one"), node("two"));
    let error = parse(&two).expect_err("is refused");
    let part =
        "'replication' is 3, but 2 services of recipe 'hdfs-datanode' refer to this one: blocks would stay";
    assert!(error.contains(part), "{error}");
    assert!(parse(&format!("{two}{}", node("three"))).is_ok());
}

#[test]
fn a_switch_joins_links_and_runs_nothing() {
    let hosts = format!("{HOSTS}[[host]]\nname = 'w'\nswitch = true\n");
    let links = "[[link]]\nbetween = ['c', 'w']\naddresses = ['10.77.0.1/24']\n\
                 [[link]]\nbetween = ['w', 's']\naddresses = ['10.77.0.2/24']\n";
    let plan = parse(&format!("{hosts}{links}")).expect("is a lab");
    assert_eq!(plan.address_from("c", "s").to_string(), "10.77.0.2");
    let error =
        parse(&format!("{hosts}{}", links.replace("'10.77.0.1/24'", "'10.77.0.1/24', '10.77.0.3/24'")));
    assert!(error.expect_err("is refused").contains("a link to a switch has at most one address"));
    let service = "[[service]]\nname = 'x'\nhost = 'w'\nrecipe = 'nginx'\n";
    assert!(
        parse(&format!("{hosts}{service}")).expect_err("is refused").contains("nothing runs on a switch")
    );
}
