//! Timing: several pieces of work take turns on the same buffers, and the median turn counts.

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
pub(super) struct Setting {
    /// Bytes that are worked on at a time.
    pub(super) buffer: usize,
    /// Threads that work at once, each on a buffer of its own.
    pub(super) threads: u16,
    /// All turns of one piece of work together.
    pub(super) time: Duration,
}

/// MB/s (10^6 bytes) of each piece of work, the threads' together.
///
/// They take turns, in one order and then in the other (A B B A), so that whatever slows the
/// machine down for a while hits all of them; the median of the turns is told.
pub(super) fn race(setting: Setting, works: &[Work<'_>]) -> Vec<f64> {
    let start = Barrier::new(usize::from(setting.threads));
    let thread = || turns(setting, works, &start);
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
            median((0..TURNS).map(sum).collect())
        })
        .collect()
}

/// The value in the middle, the higher one of two; 0 of none.
pub(super) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// One thread's speed in each turn of each piece of work.
fn turns(setting: Setting, works: &[Work<'_>], start: &Barrier) -> Vec<Vec<f64>> {
    let mut buffer = AlignedBuf::zeroed(setting.buffer);
    let calls: Vec<u32> = works.iter().map(|work| calls_between_looks(work, &mut buffer)).collect();
    let time = setting.time / TURNS as u32;
    let turn = |turn: usize| {
        let mut speeds = vec![0.0; works.len()];
        for place in 0..works.len() {
            let at = if turn.is_multiple_of(2) { place } else { works.len() - 1 - place };
            let (Some(work), Some(&calls), Some(speed)) = (works.get(at), calls.get(at), speeds.get_mut(at))
            else {
                continue;
            };
            start.wait();
            let began = Instant::now();
            let mut rounds = 0.0;
            let took = loop {
                for _ in 0..calls {
                    work(black_box(&mut buffer));
                }
                rounds += f64::from(calls);
                let took = began.elapsed();
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
fn calls_between_looks(work: &Work<'_>, buffer: &mut [u8]) -> u32 {
    let mut calls = 1;
    loop {
        let began = Instant::now();
        for _ in 0..calls {
            work(black_box(&mut *buffer));
        }
        if began.elapsed() >= BETWEEN_LOOKS || calls >= 1 << 16 {
            return calls;
        }
        calls *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use keyway_testkit::wait_until;

    #[test]
    fn the_median_is_the_one_in_the_middle() {
        assert_eq!(median(vec![5.0, 1.0, 3.0]), 3.0);
        assert_eq!(median(vec![]), 0.0);
    }

    #[test]
    fn twice_the_work_has_half_the_speed() {
        let once = |buffer: &mut [u8]| buffer.iter_mut().for_each(|b| *b = b.wrapping_mul(3) ^ 5);
        let twice = |buffer: &mut [u8]| (0..8).for_each(|_| once(black_box(&mut *buffer)));
        let setting = Setting { buffer: 1 << 16, threads: 1, time: Duration::from_millis(50) };
        // A busy machine may spoil a race.
        wait_until("one of them is that much faster", || {
            let speeds = race(setting, &[&once, &twice]);
            assert!(speeds.iter().all(|speed| *speed > 0.0), "{speeds:?}");
            speeds[0] > 3.0 * speeds[1]
        });
    }

    #[test]
    fn threads_are_added_up() {
        let nap = |_: &mut [u8]| std::thread::sleep(Duration::from_millis(2));
        let speed = |threads| {
            let setting = Setting { buffer: 1 << 20, threads, time: Duration::from_millis(20) };
            race(setting, &[&nap]).first().copied().unwrap_or_default()
        };
        wait_until("four do more than twice as much as one", || speed(4) > 2.0 * speed(1));
    }
}
