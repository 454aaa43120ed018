//! Programs that end, hang, print too much, or ignore SIGTERM.

use super::*;

fn shell(script: &str, limit: Duration) -> Program {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script]);
    Program::new(command, limit)
}

const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(100);

#[test]
fn what_a_program_prints_and_how_it_ends_is_known() {
    let ended =
        shell("echo out; echo '  err  ' >&2; echo >&2; echo more >&2; exit 3", LONG).run().expect("runs");
    assert_eq!((ended.status.code(), ended.output.as_slice()), (Some(3), b"out\n".as_slice()));
    assert_eq!(ended.said(), "err; more");
    assert!(shell("exit 4", LONG).run().expect("runs").said().contains('4'));
    let missing = Program::new(Command::new("/no/such/program"), LONG).run().expect_err("is not there");
    assert!(missing.to_string().starts_with("cannot run program: "), "{missing}");
}

#[test]
fn more_output_than_is_kept_does_not_make_a_program_wait() {
    let ended = shell("head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2", LONG).run().expect("runs");
    assert_eq!((ended.output.len(), ended.errors.len()), (MAX_OUTPUT, MAX_OUTPUT));
    assert!(ended.status.success());
}

#[test]
fn a_program_that_hangs_is_ended_with_all_that_it_started_and_it_is_told() {
    // The pipe's end says when the last of them is gone; one of them is deaf to SIGTERM.
    for script in ["sleep 600 & sleep 600", "trap '' TERM; sleep 600 & sleep 600 & wait; wait; sleep 600"] {
        let (reader, writer) = io::pipe().expect("a pipe");
        let told = shell(script, SHORT).input(Stdio::from(writer)).run().expect_err("hangs");
        assert_eq!(told.kind(), io::ErrorKind::TimedOut, "{script}");
        let text = told.to_string();
        assert!(text.starts_with("sh did not finish within 100ms and was killed"), "{text}");
        assert_eq!(io::read_to_string(reader).expect("its end"), "", "{script}");
    }
}

#[test]
fn a_child_that_keeps_the_output_open_is_not_waited_for() {
    let ended = shell("setsid sleep 5 & echo done", LONG).run().expect("runs");
    assert!(ended.status.success());
    assert_eq!(ended.output, b"done\n");
}

#[test]
fn the_kernel_ends_a_program_whose_starter_is_dead() {
    let mut command = Command::new("sleep");
    command.arg("600");
    sys::program::prepare(&mut command, Duration::ZERO, false);
    let mut child = command.spawn().expect("starts");
    let ended = child.wait().expect("ends");
    assert_eq!(
        std::os::unix::process::ExitStatusExt::signal(&ended),
        Some(rustix::process::Signal::ALARM.as_raw())
    );
}

#[test]
fn a_program_dies_with_its_starter_unless_it_must_not() {
    for (bond, is_alive) in [(Bond::DiesWithUs, false), (Bond::LivesOn, true)] {
        let (reader, writer) = io::pipe().expect("a pipe");
        let mut input = Some(writer);
        // The thread that starts it is its starter; it goes on only once it has begun.
        let child = std::thread::scope(|scope| {
            let started = scope.spawn(|| {
                let mut command = Command::new("cat");
                sys::program::prepare(&mut command, LONG, bond == Bond::DiesWithUs);
                command.stdin(Stdio::piped()).stdout(Stdio::from(input.take().expect("once"))).spawn()
            });
            started.join().expect("starts").expect("starts")
        });
        let mut child = child;
        if is_alive {
            assert_eq!(child.try_wait().expect("can be asked"), None);
            drop(child.stdin.take());
        }
        let ended = child.wait().expect("ends");
        assert_eq!(ended.success(), is_alive, "{bond:?}");
        drop(reader);
    }
}
