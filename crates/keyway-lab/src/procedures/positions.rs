//! GNOME Disks' benchmark (`gdubenchmarkdialog.c` of gnome-disk-utility): stretches at equal distances
//! over the whole device, and single blocks at random.

use crate::error::LabError;
use crate::histogram::Recorder;
use crate::load::{Lane, Meter};
use crate::result::{Metric, Sample};
use crate::workload::Positions;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// The original reads one page before each stretch, so that the heads are there.
const PRE_READ: usize = 4096;

/// Cell 0 reads the stretches, cell 1 reads them and writes the same bytes back, cell 2 takes access times.
pub(super) fn turn(
    p: &Positions,
    cell: usize,
    lane: &mut Lane,
    stop: &AtomicBool,
) -> Result<Sample, LabError> {
    let mut recorder = Recorder::default();
    let mut sample = Sample::default();
    let meter = Meter::start();
    let (count, bytes) =
        if cell == 2 { (p.access_samples, p.access_bytes) } else { (p.samples, p.sample_bytes) };
    let bytes = bytes.min(lane.size() / 4096 * 4096).max(4096);
    let room = lane.size().saturating_sub(bytes);
    let mut speeds = Vec::new();
    for n in 0..u64::from(count) {
        if stop.load(Ordering::Relaxed) {
            return Err(LabError::Stopped);
        }
        let at = match cell {
            2 => lane.random(room / 4096 + 1) * 4096,
            _ => (u128::from(room) * u128::from(n) / u128::from(count) / 4096 * 4096) as u64,
        };
        if cell != 2 {
            lane.read(PRE_READ, at)?;
        }
        let mut began = Instant::now();
        lane.read(bytes as usize, at)?;
        if cell == 1 {
            began = Instant::now();
            lane.write_back(bytes as usize, at)?;
            lane.flush()?;
        }
        let took = began.elapsed();
        sample.seconds += took.as_secs_f64();
        speeds.push(bytes as f64 / 1e6 / took.as_secs_f64().max(1e-9));
        recorder.record(took.as_nanos() as u64);
        sample.operations += 1;
        if cell == 1 { sample.bytes_written += bytes } else { sample.bytes_read += bytes }
    }
    (sample.cpu_seconds, sample.joules) = meter.spent();
    sample.latency = recorder.finish();
    sample.values.insert(Metric::LatencyUs, sample.latency.mean_us());
    if cell != 2 {
        // As the original: the mean of the samples' rates, in which slow places count no more than fast ones.
        sample.values.insert(Metric::MbS, speeds.iter().sum::<f64>() / speeds.len().max(1) as f64);
    }
    Ok(sample)
}
