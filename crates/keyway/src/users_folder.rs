//! Where a user's own files are (XDG Base Directory Specification).

use std::path::PathBuf;

/// The folder that a variable names, or that one in the user's home; nothing where there is no home.
pub(crate) fn users_folder(variable: &str, in_home: &str) -> Option<PathBuf> {
    let named = |variable| std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    named(variable).or_else(|| Some(named("HOME")?.join(in_home)))
}
