//! The laboratory's numbers as people write them, each with its bounds.

/// A number within bounds, and what it counts.
fn within(text: &str, low: f64, high: f64, what: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|n| (low..=high).contains(n));
    number.ok_or_else(|| format!("{text:?} is not a {what} from {low} to {high}"))
}

/// A change in percent.
///
/// # Errors
/// It is no number, or outside of its bounds: in words, as all here.
pub fn percent(text: &str) -> Result<f64, String> {
    within(text.trim_end_matches('%'), 0.1, 50.0, "change in percent")
}

/// How many minutes a measurement may take.
///
/// # Errors
/// As [`percent`].
pub fn minutes(text: &str) -> Result<f64, String> {
    within(text, 0.01, 10_080.0, "number of minutes")
}

/// How many seconds a run takes.
///
/// # Errors
/// As [`percent`].
pub fn seconds(text: &str) -> Result<f64, String> {
    within(text, 0.001, 86_400.0, "number of seconds")
}

/// A part of a workload's files, or a multiple.
///
/// # Errors
/// As [`percent`].
pub fn scale(text: &str) -> Result<f64, String> {
    within(text, 0.000_001, 100.0, "part")
}
