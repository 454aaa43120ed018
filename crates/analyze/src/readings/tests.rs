//! Windows of series that are known.

use super::*;
use crate::corpus::{SeriesBuilder, at};
use sysdyno_record::column::{self, HOST};
use sysdyno_record::event::{ProcessRole, WatchedProcess};

#[test]
fn a_counter_that_wraps_loses_one_step() {
    let series =
        SeriesBuilder::new(1.0).column("softnet.dropped_count", "cpu:0", &[5.0, 9.0, 1.0, 3.0]).build();
    let window = Window::new(&series, MonoNs(0), MonoNs(10_000_000_000));
    let growth = window.growth(column::SOFTNET_DROPPED, "cpu:0").expect("has readings");
    assert_eq!((growth.amount, growth.seconds), (6.0, 3.0));
}

#[test]
fn a_process_counts_for_the_time_in_which_it_was_there() {
    let half = [None, None, None, Some(0.0), Some(1e6)];
    let series = SeriesBuilder::new(1.0)
        .column("process.cpu_us", "process:1", &[0.0, 5e5, 1e6, 1.5e6, 2e6])
        .set("process.cpu_us", "process:2", half.to_vec())
        .build();
    let window = Window::new(&series, MonoNs(0), MonoNs(10_000_000_000));
    let process = |pid, start_ticks| WatchedProcess::new(pid, start_ticks, "x", ProcessRole::Target);
    let [one, two, three] = [(1, 1), (2, 1_000), (3, 1)].map(|(pid, start)| process(pid, start));
    assert_eq!(window.process_cpus(&[&one, &two, &three]), Some(0.75), "3 s of CPU time in 4 s");
    let known_late = process(2, 1);
    let cpus = window.process_cpus(&[&one, &known_late]).expect("was read");
    assert!((cpus - 1.5).abs() < 0.01, "it was there, and was not noticed: {cpus}");
    assert_eq!(window.process_cpus(&[&three]), None);
}

#[test]
fn programs_that_a_process_starts_again_and_again_count_for_it_and_one_that_lived_for_long_does_not() {
    let cpus = |reaped: &[f64]| {
        let series = SeriesBuilder::new(1.0)
            .column("process.cpu_us", "process:1", &[0.0; 9])
            .column("process.reaped_us", "process:1", reaped)
            .build();
        let window = Window::new(&series, MonoNs(0), MonoNs(10_000_000_000));
        window.cpus_with_started(&[&WatchedProcess::new(1, 1, "postgres", ProcessRole::Target)])
    };
    let steadily: Vec<f64> = (0..9).map(|second| f64::from(second) * 5e5).collect();
    assert!(cpus(&steadily).is_some_and(|cpus| (cpus - 0.5).abs() < 0.01));
    assert_eq!(cpus(&[0.0, 0.0, 0.0, 0.0, 9e7, 9e7, 9e7, 9e7, 9e7]), Some(0.0));
    assert_eq!(cpus(&[0.0; 9]), Some(0.0));
}

#[test]
fn what_is_not_there_is_none() {
    let series = SeriesBuilder::new(1.0).column("kernel.forks_count", HOST, &[1.0]).build();
    let window = Window::new(&series, MonoNs(0), MonoNs(10_000_000_000));
    assert_eq!(window.growth(column::KERNEL_FORKS, HOST), None);
    assert_eq!(window.growth(column::SELF_CPU, HOST), None);
    assert_eq!(window.level(column::KERNEL_RUNNING, HOST), None);
    assert_eq!(window.machine(), None);
    assert!(window.cpus().is_empty());
}

#[test]
fn an_event_at_the_edge_is_an_occurrence() {
    let series =
        SeriesBuilder::new(1.0).column("kernel.forks_count", HOST, &[0.0, 4.0, 4.0, 4.0, 6.0]).build();
    let window = Window::new(&series, MonoNs(1_500_000_000), MonoNs(3_500_000_000));
    assert_eq!(window.growth(column::KERNEL_FORKS, HOST).map(|growth| growth.amount), Some(0.0));
    assert_eq!(window.occurrences(column::KERNEL_FORKS, HOST), Some(2.0));
}

#[test]
fn the_busiest_thread_of_a_process_is_awake_as_often_as_any_of_its_threads_less_the_others() {
    let threads = |running: f64| {
        let series = SeriesBuilder::over_trial(10.0)
            .counter("thread.cpu_us", "thread:7/7", 0.6e6)
            .counter("thread.cpu_us", "thread:7/8", 0.1e6)
            .gauge("process.running_threads_count", "process:7", running)
            .build();
        let process = WatchedProcess::new(7, 1, "java", ProcessRole::Target);
        let window = Window::new(&series, at(0.0), at(1e6));
        window.threads(&[&process]).iter().map(ThreadShare::wanted_ratio).collect::<Vec<_>>()
    };
    let near = |found: &[f64], expected: [f64; 2]| {
        assert!(
            found.len() == 2 && found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6),
            "{found:?}"
        );
    };
    near(&threads(1.1), [1.0, 0.1]);
    near(&threads(0.3), [0.6, 0.1]);
}
