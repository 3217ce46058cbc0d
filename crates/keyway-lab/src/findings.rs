//! What came of a workload on all its entrants.

use crate::error::LabError;
use crate::result::{Comparison, Series};

/// What came of a workload.
pub struct Findings {
    /// The rows.
    pub comparisons: Vec<Comparison>,
    /// The samples behind them.
    pub series: Vec<Series>,
    /// What was not done.
    pub missing: Vec<String>,
    /// Remarks for the reader.
    pub notes: Vec<String>,
    /// Why it ended early.
    pub error: Option<LabError>,
}
