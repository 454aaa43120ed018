//! The built-in session, and the errors that broken ones get.

use super::*;
use crate::testing::{IDLE, load_of};
use sysdyno_record::session::{Pace, SessionPlan};

fn plan_of(name: &str, pages_only: bool) -> anyhow::Result<LoadPlan> {
    let mut draft = load_of("http://127.0.0.1:8080/");
    draft.session = SessionOptions { session: Some(name.into()), users: None, pages_only: Some(pages_only) };
    Ok(draft.finish(&IDLE)?.plan)
}

fn session(plan: &LoadPlan) -> &SessionPlan {
    plan.workload.session.as_deref().expect("has users")
}

#[test]
fn web20_is_the_published_workload() {
    let plan = plan_of("web20", false).expect("is a plan");
    let session = session(&plan);
    let names: Vec<&str> = session.operations.iter().map(|operation| operation.name.as_str()).collect();
    assert_eq!(
        names,
        ["HomePage", "Login", "TagSearch", "EventDetail", "PersonDetail", "AddPerson", "AddEvent"]
    );
    let matrix: Vec<Vec<f64>> = session.operations.iter().map(|operation| operation.next.clone()).collect();
    let expected = [
        [0.0, 11.0, 52.0, 36.0, 0.0, 1.0, 0.0],
        [0.0, 0.0, 60.0, 20.0, 0.0, 0.0, 20.0],
        [21.0, 6.0, 41.0, 31.0, 0.0, 1.0, 0.0],
        [72.0, 21.0, 0.0, 0.0, 6.0, 1.0, 0.0],
        [52.0, 6.0, 0.0, 31.0, 11.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 100.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 100.0, 0.0, 0.0, 0.0],
    ];
    assert_eq!(matrix, expected);
    let limits = session.operations.iter().map(|operation| operation.limit.expect("has one"));
    assert_eq!(
        limits.map(|limit| limit.limit.seconds()).collect::<Vec<_>>(),
        [1.0, 1.0, 2.0, 2.0, 2.0, 3.0, 4.0]
    );
    let statics = |number: usize| {
        let objects = session.operations[number].objects.iter();
        objects.filter(|object| !session.objects[**object as usize].is_image).count()
    };
    assert_eq!([0, 2, 3, 4, 5, 6].map(statics), [18, 18, 21, 17, 18, 18]);
    assert!(session.operations.iter().all(|operation| matches!(operation.pace, Pace::Cycle(_))));
    let seconds: Vec<f64> = plan
        .phases
        .iter()
        .map(|phase| if let PhaseEnd::After(span) = phase.end { span.seconds() } else { 0.0 })
        .collect();
    assert_eq!(
        (seconds, session.users, session.stagger),
        (vec![30.0, 300.0, 10.0], 25, SpanNs::from_millis(100))
    );
    let body = |number: usize| &plan.workload.operations[number].request.body;
    assert_eq!([5, 6].map(|number| body(number).len() / 1000), [672, 800]);
    let has = |text: &str| body(6).windows(text.len()).any(|part| part == text.as_bytes());
    for part in ["name=\"title\"\r\n\r\nA new event\r\n", "name=\"picture\"; filename=\"event.jpg\"", "%PDF-"]
    {
        assert!(has(part), "{part}");
    }
    let light = plan_of("web20", true).expect("is a plan");
    assert!(light.workload.session.as_ref().is_some_and(|session| session.objects.is_empty()));
}

#[test]
fn what_is_wrong_with_a_session_is_told_with_its_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x.toml");
    let good = "[[operation]]\nname = 'A'\npath = '/a'\nthink = '1s'\nnext = { A = 1 }\n";
    let check = |text: String, told: &str| {
        std::fs::write(&path, &text).expect("writes");
        let error = plan_of(path.to_str().expect("is text"), false).expect_err(&text);
        let error = format!("{error:#}");
        assert!(error.contains(told), "{text}\n{error}");
    };
    check(String::new(), "1 to 100 operations");
    check(good.replace("A = 1", "B = 1"), "line 5: there is no operation 'B'");
    check(good.replace("A = 1", "A = 0"), "line 5: no weight is above 0");
    check(good.replace("A = 1", "A = -1"), "line 5: the weight of 'A'");
    check(good.replace("'/a'", "'a'"), "line 3: a path must start");
    check(good.replace("think = '1s'", ""), "line 2: an operation needs either");
    check(good.replace("'1s'", "'1'"), "line 4");
    check(
        good.replace("'1s'", "{ distribution = 'exponential', mean = '1s', min = '2s' }"),
        "line 4: 'min', 'mean'",
    );
    check(good.replace("'1s'", "{ distribution = 'uniform', min = '2s' }"), "line 4: a uniform time");
    check(format!("first = 'C'\n{good}"), "line 1: there is no operation 'C'");
    check(format!("cold-share = 1.5\n{good}"), "line 1: it must be a share");
    check(format!("colour = 1\n{good}"), "unknown field");
    check(format!("{good}limit = 'p77<1s'\n"), "line 6: cannot judge by p77");
    check(format!("{good}objects = ['/a{{1..}}']\n"), "line 6: cannot read the range");
    check(format!("{good}objects = ['/a{{1..100}}', '/b{{1..100}}']\n"), "more than 128 different objects");
    check(format!("{good}{good}"), "line 7: an operation needs a unique name");
    check(format!("{good}fields = {{ a = 'b' }}\n"), "line 2: 'fields' belong to a form with files");
    let form = "uploads = [{ name = 'a.txt', bytes = 9 }]\n";
    check(format!("{good}{form}body = 'b'\n"), "line 2: an upload has at most 64 MiB");
    check(
        format!("{good}{form}fields = {{ a = '{{{{user}}}}' }}\n"),
        "line 2: 'fields' are sent as they are",
    );
}

#[test]
fn a_damaged_file_is_read_or_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x.toml");
    let mut refused_count = 0;
    for text in crate::file::damaged(super::WEB20_FILE) {
        std::fs::write(&path, &text).expect("writes");
        let Err(error) = plan_of(path.to_str().expect("UTF-8"), false) else { continue };
        // What can be read may still be no load, as one of no users.
        let told = ["cannot read session", "cannot run this load"];
        let is_told = told.iter().any(|told| error.to_string().starts_with(told));
        assert!(is_told, "{text}\n{error:#}");
        refused_count += 1;
    }
    assert!(refused_count > 100, "{refused_count}");
}
