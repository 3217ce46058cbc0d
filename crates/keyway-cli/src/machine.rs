//! The command that runs.

/// The command as it was given; no secret is ever an argument.
pub(crate) fn command() -> String {
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    std::iter::once("keyway".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}
