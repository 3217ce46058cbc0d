//! A modelled drive as data: what its file says, and the files that are shipped.

use serde::Deserialize;

/// The shipped models, one readable file each.
const SHIPPED: [&str; 6] = [
    include_str!("../../drives/samsung-990-pro.toml"),
    include_str!("../../drives/samsung-950-pro.toml"),
    include_str!("../../drives/samsung-840-pro.toml"),
    include_str!("../../drives/crucial-m500.toml"),
    include_str!("../../drives/toshiba-x300.toml"),
    include_str!("../../drives/seagate-ultra-slim.toml"),
];

/// A modelled drive: what it is, how long it takes, and the figures it was set by.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DriveModel {
    /// Short name, as in `model:samsung-990-pro`.
    pub name: String,
    /// Maker and product.
    pub title: String,
    /// Size in bytes.
    pub capacity_bytes: u64,
    /// Logical sector size in bytes: 512 or 4096.
    pub sector_bytes: u32,
    /// How it is attached, for people.
    pub interface: String,
    /// What the model leaves out, and what was assumed without a source.
    #[serde(default)]
    pub note: String,
    /// How it moves bytes.
    pub mechanism: Mechanism,
    /// Published figures to hold the model against.
    #[serde(default, rename = "figure")]
    pub figures: Vec<Figure>,
}

/// How a drive moves bytes.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Mechanism {
    /// Flash behind a controller.
    Flash(FlashParameters),
    /// Rotating discs.
    Disk(DiskParameters),
}

/// A flash drive. See the module's manual for what each stage does.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlashParameters {
    /// Reads.
    pub read: FlashRead,
    /// Writes.
    pub write: FlashWrite,
    /// A flush with something to flush, in µs; one with nothing takes a tenth.
    pub flush_us: f64,
    /// Standard deviation of a service time, as a share of it.
    pub spread: f64,
    /// Share of requests that meet something in their way (an erase, a refresh), 0 to 1.
    pub tail_share: f64,
    /// How much longer those take, in µs.
    pub tail_us: f64,
    /// Where it keeps what; where nothing is said of that, it never has to collect anything.
    pub translation: Option<TranslationParameters>,
}

/// What a flash drive's translation layer works with.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TranslationParameters {
    /// Bytes of flash that there are for the drive's own: what is more than its capacity is spare.
    pub flash_bytes: u64,
    /// Bytes that are found by themselves.
    pub page_bytes: u32,
    /// Bytes that are erased together, over all chips that are written side by side.
    pub block_bytes: u32,
}

/// How a flash drive reads.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlashRead {
    /// From a request's arrival to its first byte, alone on the drive, in µs.
    pub latency_us: f64,
    /// The same where a request goes on where an earlier one ended (read ahead), in µs.
    pub sequential_us: f64,
    /// Rate of one request's bytes after the first, in MB/s.
    pub stream_mb_s: f64,
    /// Reads that are served at once; more wait.
    pub channels: usize,
    /// The controller takes at most so many commands a second.
    pub iops: f64,
    /// The interface and all channels together carry at most this, in MB/s.
    pub mb_s: f64,
}

/// How a flash drive writes: into a cache that is written out behind it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlashWrite {
    /// From a request's arrival to its being in the cache, without the transfer, in µs.
    pub latency_us: f64,
    /// Rate of one request's transfer, in MB/s.
    pub stream_mb_s: f64,
    /// Writes that are taken in at once; more wait.
    pub channels: usize,
    /// The controller takes at most so many commands a second.
    pub iops: f64,
    /// The interface carries at most this, in MB/s.
    pub mb_s: f64,
    /// Size of the cache (fast flash cells, where the drive uses them so), in MiB.
    pub cache_mib: u64,
    /// The cache empties at this rate, in MB/s.
    pub drain_mb_s: f64,
}

/// A hard disk.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiskParameters {
    /// Revolutions a minute.
    pub rpm: f64,
    /// Seek from track to track, in ms.
    pub track_seek_ms: f64,
    /// Mean seek between two places chosen at random, for reads, in ms.
    pub average_seek_ms: f64,
    /// Transfer at the outermost track, where the addresses begin, in MB/s.
    pub outer_mb_s: f64,
    /// Transfer at the innermost, in MB/s.
    pub inner_mb_s: f64,
    /// The interface's rate, in MB/s.
    pub interface_mb_s: f64,
    /// Command processing, in µs.
    pub overhead_us: f64,
    /// How far the disc is read ahead of a sequential reader, in MiB.
    pub read_ahead_mib: u64,
    /// Write cache in MiB; 0 writes through.
    pub cache_mib: u64,
    /// Stretches of writes that it holds at most.
    pub cache_commands: usize,
    /// Requests the drive puts into order; 1 for none.
    pub queue: usize,
    /// How many times more random requests a second it serves with a full queue (or a full cache)
    /// than with one at a time.
    pub queue_gain: f64,
}

/// A published figure and the load it is for.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// The load.
    pub load: Load,
    /// What is counted.
    pub unit: Unit,
    /// What was published, in that unit.
    pub published: f64,
    /// Where.
    pub source: String,
    /// The public page on which the figure was read. Without one it is what the source is known to
    /// say, which nobody has compared: an estimate.
    pub read_in: Option<String>,
    /// Whether the model has to meet it. One that does not says in its source why.
    #[serde(default = "yes")]
    pub binding: bool,
}

fn yes() -> bool {
    true
}

/// A load that keeps a number of equal requests in flight, or a shipped trace.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Load {
    /// At random, aligned places.
    Random {
        /// What the requests do.
        action: Direction,
        /// Bytes of each.
        block_bytes: u32,
        /// Requests in flight.
        depth: u32,
        /// From the drive's start; all of it, if not given.
        span_bytes: Option<u64>,
    },
    /// One after the other, from the drive's start.
    Sequential {
        /// What the requests do.
        action: Direction,
        /// Bytes of each.
        block_bytes: u32,
        /// Requests in flight.
        depth: u32,
    },
    /// A trace of real work that is shipped with the laboratory.
    Trace {
        /// Its name.
        name: String,
    },
}

/// Reads or writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Reads.
    Read,
    /// Writes.
    Write,
}

/// What a figure counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Mean time from submission to completion, in µs.
    LatencyUs,
    /// Requests a second.
    Iops,
    /// 10^6 bytes a second.
    MbS,
}

impl Unit {
    /// As it is printed.
    pub fn name(self) -> &'static str {
        match self {
            Self::LatencyUs => "µs",
            Self::Iops => "IOPS",
            Self::MbS => "MB/s",
        }
    }
}

impl std::fmt::Display for Load {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (pattern, action, block, depth) = match self {
            Self::Random { action, block_bytes, depth, .. } => ("random", action, block_bytes, depth),
            Self::Sequential { action, block_bytes, depth } => ("sequential", action, block_bytes, depth),
            Self::Trace { name } => return write!(f, "trace {name}"),
        };
        let action = match action {
            Direction::Read => "read",
            Direction::Write => "write",
        };
        write!(f, "{pattern} {action} {} KiB QD{depth}", block / 1024)?;
        match self {
            Self::Random { span_bytes: Some(span), .. } => write!(f, " over {} GB", span / 1_000_000_000),
            _ => Ok(()),
        }
    }
}

/// A drive's file that can't be used.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// Not what a model's file looks like.
    #[error("the drive model can't be read: {0}")]
    Syntax(#[from] Box<toml::de::Error>),
    /// A value out of its range.
    #[error("the drive model {model:?} has {what} = {value}, which is out of range")]
    Range {
        /// The model's name.
        model: String,
        /// The parameter.
        what: &'static str,
        /// Its value.
        value: f64,
    },
}

impl DriveModel {
    /// Reads a model from a file's text.
    ///
    /// # Errors
    /// It is not such a file, or a value makes no sense.
    pub fn parse(text: &str) -> Result<Self, ModelError> {
        let model: Self = toml::from_str(text).map_err(Box::new)?;
        model.check()?;
        Ok(model)
    }

    /// The shipped models.
    ///
    /// # Errors
    /// None in a build that passed its tests.
    pub fn shipped() -> Result<Vec<Self>, ModelError> {
        SHIPPED.iter().map(|text| Self::parse(text)).collect()
    }

    /// The shipped model of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::shipped().ok()?.into_iter().find(|model| model.name == name)
    }

    /// Everything a timing is computed from is finite and inside what a drive can be, so that the
    /// arithmetic behind this wall needs no checks.
    fn check(&self) -> Result<(), ModelError> {
        let within = |what, value: f64, from: f64, to: f64| match (from..=to).contains(&value) {
            true => Ok(()),
            false => Err(ModelError::Range { model: self.name.clone(), what, value }),
        };
        within("capacity_bytes", self.capacity_bytes as f64, 1e6, 1e18)?;
        if !matches!(self.sector_bytes, 512 | 4096) {
            return within("sector_bytes", f64::from(self.sector_bytes), 512.0, 0.0);
        }
        for figure in &self.figures {
            within("published", figure.published, 1e-9, 1e12)?;
            if let Load::Random { block_bytes, depth, .. } | Load::Sequential { block_bytes, depth, .. } =
                figure.load
            {
                within("block_bytes", f64::from(block_bytes), 512.0, 64e6)?;
                within("depth", f64::from(depth), 1.0, 65_536.0)?;
            }
        }
        let (time_us, rate) = ((0.0, 1e7), (0.01, 1e6));
        match &self.mechanism {
            Mechanism::Flash(p) => {
                let (r, w) = (&p.read, &p.write);
                for (what, value) in [
                    ("read.latency_us", r.latency_us),
                    ("read.sequential_us", r.sequential_us),
                    ("write.latency_us", w.latency_us),
                    ("flush_us", p.flush_us),
                    ("tail_us", p.tail_us),
                ] {
                    within(what, value, time_us.0, time_us.1)?;
                }
                for (what, value) in [
                    ("read.stream_mb_s", r.stream_mb_s),
                    ("read.mb_s", r.mb_s),
                    ("write.stream_mb_s", w.stream_mb_s),
                    ("write.mb_s", w.mb_s),
                    ("write.drain_mb_s", w.drain_mb_s),
                ] {
                    within(what, value, rate.0, rate.1)?;
                }
                within("read.iops", r.iops, 1.0, 1e9)?;
                within("write.iops", w.iops, 1.0, 1e9)?;
                within("read.channels", r.channels as f64, 1.0, 65_536.0)?;
                within("write.channels", w.channels as f64, 1.0, 65_536.0)?;
                within("write.cache_mib", w.cache_mib as f64, 0.0, 1e9)?;
                within("spread", p.spread, 0.0, 0.3)?;
                if let Some(t) = &p.translation {
                    let (page, block) = (f64::from(t.page_bytes), f64::from(t.block_bytes));
                    within("translation.page_bytes", page, 512.0, 1e6)?;
                    within("translation.block_bytes", block, 16.0 * page, 1e9)?;
                    let (capacity, flash) = (self.capacity_bytes as f64, t.flash_bytes as f64);
                    within("translation.flash_bytes", flash, capacity + 4.0 * block, 2.0 * capacity)?;
                    within("translation.block_bytes", block, flash / 1e6, 1e9)?;
                    within("translation.page_bytes", page, capacity / 4e9, 1e6)?;
                }
                within("tail_share", p.tail_share, 0.0, 1.0)
            }
            Mechanism::Disk(p) => {
                within("rpm", p.rpm, 100.0, 100_000.0)?;
                within("track_seek_ms", p.track_seek_ms, 0.0, 100.0)?;
                within("average_seek_ms", p.average_seek_ms, p.track_seek_ms, 1000.0)?;
                within("outer_mb_s", p.outer_mb_s, rate.0, rate.1)?;
                within("inner_mb_s", p.inner_mb_s, rate.0, p.outer_mb_s)?;
                within("interface_mb_s", p.interface_mb_s, rate.0, rate.1)?;
                within("overhead_us", p.overhead_us, time_us.0, time_us.1)?;
                within("read_ahead_mib", p.read_ahead_mib as f64, 0.0, 1e6)?;
                within("cache_mib", p.cache_mib as f64, 0.0, 1e6)?;
                within("cache_commands", p.cache_commands as f64, 1.0, 1e6)?;
                within("queue", p.queue as f64, 1.0, 65_536.0)?;
                within("queue_gain", p.queue_gain, 1.0, 100.0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shipped_models_are_read_and_found_by_name() {
        let models = DriveModel::shipped().unwrap();
        assert_eq!(models.len(), 6);
        for model in &models {
            assert_eq!(DriveModel::named(&model.name).as_ref(), Some(model));
            assert!(model.figures.iter().any(|f| f.binding), "{} is held to nothing", model.name);
        }
        assert!(DriveModel::named("a drive nobody made").is_none());
    }

    #[test]
    fn values_out_of_range_are_refused() {
        let good = SHIPPED[0];
        assert!(DriveModel::parse(good).is_ok());
        let refused = |good: &str, from: &str, to: &str| {
            let bad = good.replacen(from, to, 1);
            assert_ne!(bad, good, "{from}");
            assert!(matches!(DriveModel::parse(&bad), Err(ModelError::Range { .. })), "{to}");
        };
        for (from, to) in [
            ("sector_bytes = 512", "sector_bytes = 513"),
            ("channels = ", "channels = 0 # "),
            ("spread = ", "spread = 2.0 # "),
            ("flush_us = ", "flush_us = nan # "),
            ("stream_mb_s = ", "stream_mb_s = -1.0 # "),
        ] {
            refused(good, from, to);
        }
        for (from, to) in [
            ("flash_bytes = ", "flash_bytes = 256060514304 # "),
            ("page_bytes = ", "page_bytes = 16 # "),
            ("block_bytes = 16", "block_bytes = 4096 # "),
        ] {
            refused(SHIPPED[2], from, to);
        }
        assert!(matches!(DriveModel::parse("name = 3"), Err(ModelError::Syntax(_))));
        let unknown = good.replacen("spread = ", "spreed = 1.0\nspread = ", 1);
        assert!(matches!(DriveModel::parse(&unknown), Err(ModelError::Syntax(_))));
    }
}
