//! Timing: several pieces of work take turns on the same buffers, and the median turn counts.

use crate::order;
use keyway_store::AlignedBuf;
use std::hint::black_box;
use std::sync::Barrier;
use std::time::{Duration, Instant};

/// Turns of each piece of work. Odd, so that the median is one of them.
const TURNS: usize = 5;

/// So long does work run between two looks at the clock, which takes time itself.
const BETWEEN_LOOKS: Duration = Duration::from_micros(20);

/// Something done to every byte of a buffer.
pub(super) type Work<'a> = &'a (dyn Fn(&mut [u8]) + Sync);

/// How the work is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Bytes that are worked on at a time.
    pub buffer: usize,
    /// Threads that work at once, each on a buffer of its own.
    pub threads: u16,
    /// All turns of one piece of work together.
    pub time: Duration,
}

/// How fast work is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Speed {
    /// 10^6 bytes a second: the median of the turns.
    pub(super) mb_s: f64,
    /// How far the turns lie from that, in percent of it.
    pub(super) spread_percent: f64,
}

impl Speed {
    fn of(turns: Vec<f64>) -> Self {
        Self { spread_percent: spread_percent(&turns), mb_s: median(turns) }
    }
}

/// How far values lie from their median, in percent of it: as a normal distribution's deviation.
pub(super) fn spread_percent(values: &[f64]) -> f64 {
    100.0 * crate::stats::spread(values)
}

/// Speed of each piece of work, the threads' together.
///
/// They take turns, in one order and then in the other (A B B A), so that whatever slows the
/// machine down for a while hits all of them, and each time in other company: wide instructions slow a processor's
/// clock for whoever comes next. The median of the turns is told.
pub(super) fn race(setting: Setting, works: &[Work<'_>]) -> Vec<Speed> {
    let began = Instant::now();
    race_by(&|| began.elapsed(), setting, works)
}

/// [`race`] by a clock of the caller's: the time since some moment, as the calling thread sees it.
fn race_by(clock: &(impl Fn() -> Duration + Sync), setting: Setting, works: &[Work<'_>]) -> Vec<Speed> {
    let start = Barrier::new(usize::from(setting.threads));
    let thread = || turns(clock, setting, works, &start);
    let all = std::thread::scope(|scope| {
        let others: Vec<_> = (1..setting.threads).map(|_| scope.spawn(thread)).collect();
        let mut all = vec![thread()];
        all.extend(others.into_iter().filter_map(|other| other.join().ok()));
        all
    });
    (0..works.len())
        .map(|work| {
            let sum = |turn: usize| {
                all.iter().filter_map(|thread: &Vec<_>| thread.get(turn)?.get(work)).sum::<f64>()
            };
            Speed::of((0..TURNS).map(sum).collect())
        })
        .collect()
}

/// The value in the middle, the higher one of two; 0 of none.
pub(super) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// To a tenth.
pub(super) fn rounded(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

/// One thread's speed in each turn of each piece of work.
fn turns(
    clock: &impl Fn() -> Duration,
    setting: Setting,
    works: &[Work<'_>],
    start: &Barrier,
) -> Vec<Vec<f64>> {
    let mut buffer = AlignedBuf::zeroed(setting.buffer);
    let calls: Vec<u32> = works.iter().map(|work| calls_between_looks(clock, work, &mut buffer)).collect();
    let time = setting.time / TURNS as u32;
    let turn = |turn: usize| {
        let mut speeds = vec![0.0; works.len()];
        let mut order: Vec<usize> = order::row(works.len(), turn / 2).collect();
        if turn % 2 == 1 {
            order.reverse();
        }
        for at in order {
            let (Some(work), Some(&calls), Some(speed)) = (works.get(at), calls.get(at), speeds.get_mut(at))
            else {
                continue;
            };
            start.wait();
            let began = clock();
            let mut rounds = 0.0;
            let took = loop {
                for _ in 0..calls {
                    work(black_box(&mut buffer));
                }
                rounds += f64::from(calls);
                let took = clock().saturating_sub(began);
                if took >= time {
                    break took;
                }
            };
            *speed = rounds * setting.buffer as f64 / took.as_secs_f64() / 1e6;
        }
        speeds
    };
    (0..TURNS).map(turn).collect()
}

/// How many calls take about [`BETWEEN_LOOKS`]; warms the work up.
fn calls_between_looks(clock: &impl Fn() -> Duration, work: &Work<'_>, buffer: &mut [u8]) -> u32 {
    let mut calls = 1;
    loop {
        let began = clock();
        for _ in 0..calls {
            work(black_box(&mut *buffer));
        }
        if clock().saturating_sub(began) >= BETWEEN_LOOKS || calls >= 1 << 16 {
            return calls;
        }
        calls *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    thread_local! {
        /// A clock of each thread's own that only work moves: a busy machine can't spoil these races.
        static NOW: Cell<Duration> = const { Cell::new(Duration::ZERO) };
    }

    fn clock() -> Duration {
        NOW.get()
    }

    /// Work that takes so many microseconds.
    fn taking(micros: u64) -> impl Fn(&mut [u8]) + Sync {
        move |_| NOW.set(NOW.get() + Duration::from_micros(micros))
    }

    fn setting(threads: u16) -> Setting {
        Setting { buffer: 1 << 16, threads, time: Duration::from_millis(50) }
    }

    #[test]
    fn the_median_is_the_one_in_the_middle() {
        assert_eq!(median(vec![5.0, 1.0, 3.0]), 3.0);
        assert_eq!(median(vec![]), 0.0);
    }

    #[test]
    fn eight_times_the_work_has_an_eighth_of_the_speed() {
        let (once, eight_times) = (taking(10), taking(80));
        let speeds = race_by(&clock, setting(1), &[&once, &eight_times]);
        // 65,536 bytes in 10 µs and in 80.
        assert_eq!(speeds.iter().map(|s| (s.mb_s * 10.0).round()).collect::<Vec<_>>(), [65_536.0, 8_192.0]);
    }

    #[test]
    fn threads_are_added_up() {
        let work = taking(10);
        let speed =
            |threads| race_by(&clock, setting(threads), &[&work]).first().copied().unwrap_or_default().mb_s;
        assert_eq!((speed(4) / speed(1)).round(), 4.0);
    }

    #[test]
    fn a_turn_that_a_neighbour_slows_down_does_not_count() {
        // The first ten milliseconds take four times as long.
        let work = |_: &mut [u8]| {
            let micros = if NOW.get() < Duration::from_millis(10) { 40 } else { 10 };
            NOW.set(NOW.get() + Duration::from_micros(micros));
        };
        let speeds = race_by(&clock, setting(1), &[&work]);
        assert_eq!(speeds.iter().map(|s| (s.mb_s * 10.0).round()).collect::<Vec<_>>(), [65_536.0]);
    }

    /// Turns that are all alike have none; where every second one takes longer, there is some.
    #[test]
    fn the_spread_is_of_the_turns() {
        let even = race_by(&clock, setting(1), &[&taking(10)]);
        assert!(even.iter().all(|speed| speed.spread_percent < 0.1), "{even:?}");
        assert_eq!(Speed::of(vec![100.0, 90.0, 110.0, 100.0, 95.0]).mb_s, 100.0);
        let spread = Speed::of(vec![100.0, 90.0, 110.0, 100.0, 95.0]).spread_percent;
        assert!((spread - 7.413).abs() < 0.001, "{spread}");
    }

    #[test]
    fn the_real_clock_moves() {
        let work = |buffer: &mut [u8]| buffer.iter_mut().for_each(|b| *b = b.wrapping_mul(3) ^ 5);
        let quick = Setting { time: Duration::from_millis(5), ..setting(2) };
        assert!(race(quick, &[&work]).iter().all(|speed| speed.mb_s > 0.0));
    }
}
