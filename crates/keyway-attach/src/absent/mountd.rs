//! The helper on the system bus of a build without it: nobody asks for it.

/// That it is not asked.
///
/// # Errors
/// Always.
pub fn available() -> Result<(), String> {
    Err("this program was built without it".to_owned())
}
