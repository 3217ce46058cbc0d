//! Requests with their times.

use keyway_store::Action;

/// One request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceRecord {
    /// When it was made, in µs since the trace began.
    pub start_us: u64,
    /// How long it took, in µs; `None` where the source does not tell.
    pub took_us: Option<u32>,
    /// What it did.
    pub action: Action,
    /// First byte; 0 for a flush.
    pub offset: u64,
    /// Bytes; 0 for a flush.
    pub len: u32,
}

impl TraceRecord {
    /// When it was done, in µs since the trace began.
    pub fn end_us(&self) -> u64 {
        self.start_us.saturating_add(u64::from(self.took_us.unwrap_or(0)))
    }
}

/// Requests in the order of their start.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trace {
    /// Size of the volume it was made on, in bytes; no record reaches past it.
    pub volume_bytes: u64,
    /// The requests.
    pub records: Vec<TraceRecord>,
    /// Requests that came after the recorder was full.
    pub lost: u64,
}

impl Trace {
    /// Puts requests into the order of their start; the volume is as large as they need, or larger.
    pub fn new(volume_bytes: u64, mut records: Vec<TraceRecord>) -> Self {
        records.sort_by_key(|r| r.start_us);
        let needed = records.iter().map(|r| r.offset.saturating_add(u64::from(r.len))).max().unwrap_or(0);
        Self { volume_bytes: volume_bytes.max(needed), records, lost: 0 }
    }

    /// Bytes read and bytes written.
    pub fn bytes(&self) -> (u64, u64) {
        let sum = |action| {
            let of = self.records.iter().filter(|r| r.action == action);
            of.map(|r| u64::from(r.len)).sum()
        };
        (sum(Action::Read), sum(Action::Write))
    }
}
