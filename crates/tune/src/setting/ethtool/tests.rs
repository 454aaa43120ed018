//! Settings of devices: parses answers of real drivers, builds requests.

use super::*;

fn known(group: DeviceGroup) -> &'static [(u16, Width, &'static str)] {
    match group.content {
        Content::Numbers(known) => known,
        Content::Offloads => panic!("these are no numbers"),
    }
}

fn of_device(rest: &str) -> GroupOfDevice {
    GroupOfDevice::parse(rest).expect("is a group of a device")
}

#[test]
fn pairs_are_laid_over_what_is_there() {
    assert_eq!(typed("tx 512", "rx 256 tx 256").as_deref(), Ok("rx 256 tx 512"));
    let old = "rx-gro on tx-gso off active rx-gro rx-vlan";
    assert_eq!(typed("rx-gro off tx-gso on", old).as_deref(), Ok("rx-gro off tx-gso on active"));
    for (text, old, cause) in [
        ("rx", "rx 256", "in turn"),
        ("", "rx 256", "in turn"),
        ("rx many", "rx 256", "'many' is not a number"),
        ("rx-gro 1", old, "'1' is not on or off"),
        ("combined 4", "rx 1 tx 1", "'combined' cannot be changed here, only: rx, tx"),
        ("rx-vlan on", old, "only: rx-gro, tx-gso"),
    ] {
        let refused = typed(text, old).expect_err("is refused");
        assert!(refused.contains(cause), "{text}: {refused}");
    }
}

#[test]
fn numbers_are_sent_in_the_width_of_their_attribute() {
    let known = known(COALESCING);
    let mut message = Vec::new();
    put_number(&mut message, known, ("rx-usecs", "8")).expect("is known");
    put_number(&mut message, known, ("adaptive-rx", "1")).expect("is known");
    assert_eq!(numbers(known, &message), "rx-usecs 8 adaptive-rx 1");
    assert_eq!(find(&message, 11), Some(&[1u8][..]));
    assert!(put_number(&mut message, known, ("adaptive-rx", "256")).is_err());
    assert!(put_number(&mut message, known, ("combined", "1")).is_err());
}

#[test]
fn shells_are_told_what_undoes_it() {
    let shell_line = |rest: &str, text: &str| of_device(rest).shell_line(&TuneRoots::host(), text);
    assert_eq!(shell_line("rings:3:eth0", "rx 256 tx 256"), "ethtool -G eth0 rx 256 tx 256");
    assert_eq!(shell_line("offloads:3:eth0", "rx-gro on active rx-gro"), "ethtool -K eth0 rx-gro on");
}

/// The loopback device is in every network namespace, has offloads and has no rings.
#[test]
fn the_loopback_device_is_read() {
    let roots = TuneRoots::host();
    let device = NetworkDevice::find("lo", &roots).expect("is there");
    let read = |rest: String| of_device(&rest).read(&roots);
    let found = read(format!("offloads:{device}")).expect("reads");
    assert!(found.contains(" active ") && pairs(&found).iter().any(|(name, _)| *name == "rx-gro"), "{found}");
    assert!(read(format!("rings:{device}")).is_err());
    assert_eq!(read("offloads:2147483647:no".into()).expect_err("is gone").kind(), io::ErrorKind::NotFound);
}

fn recorded(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    let pairs = digits.chunks(2).map(|pair| std::str::from_utf8(pair).expect("are digits"));
    pairs.map(|pair| u8::from_str_radix(pair, 16).expect("are digits")).collect()
}

/// Answers of `virtio_net` under Linux 6.18, as they came from the kernel.
#[test]
fn answers_of_a_driver_are_understood() {
    let check = |group: DeviceGroup, hex: &str, expected: &str| {
        assert_eq!(numbers(known(group), &recorded(hex)), expected);
    };
    check(CHANNELS, include_str!("recorded/channels.hex"), "combined 1");
    check(RINGS, include_str!("recorded/rings.hex"), "rx 256 tx 256");
    check(
        COALESCING,
        include_str!("recorded/coalescing.hex"),
        "rx-usecs 0 rx-frames 1 tx-usecs 0 tx-frames 1 adaptive-rx 0",
    );
    let found = offloads(&recorded(include_str!("recorded/offloads.hex")));
    assert!(found.contains("rx-gro on ") && found.contains(" active "), "{found}");
    let new = typed("rx-gro off", &found).expect("is one of them");
    assert_eq!(differing(&new, &found), "rx-gro off");
}
