//! Paths in JSON: text where they are UTF-8, as nearly all are, and their bytes where not. For `#[serde(with)]`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A path as it is written.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Text(String),
    Bytes(Vec<u8>),
}

impl From<&Path> for Written {
    fn from(path: &Path) -> Self {
        match path.to_str() {
            Some(text) => Self::Text(text.to_owned()),
            None => Self::Bytes(path.as_os_str().as_encoded_bytes().to_vec()),
        }
    }
}

impl From<Written> for PathBuf {
    fn from(written: Written) -> Self {
        match written {
            Written::Text(text) => text.into(),
            Written::Bytes(bytes) => of_bytes(bytes).into(),
        }
    }
}

#[cfg(unix)]
fn of_bytes(bytes: Vec<u8>) -> OsString {
    std::os::unix::ffi::OsStringExt::from_vec(bytes)
}

/// Elsewhere a path is no bytes.
#[cfg(not(unix))]
fn of_bytes(bytes: Vec<u8>) -> OsString {
    String::from_utf8_lossy(&bytes).into_owned().into()
}

/// Writes a path, or several.
pub fn serialize<S: Serializer>(paths: &impl Paths, to: S) -> Result<S::Ok, S::Error> {
    paths.write(to)
}

/// Reads what [`serialize`] wrote.
///
/// # Errors
/// It is no path.
pub fn deserialize<'de, T: Paths, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    T::read(from)
}

/// A path, one that may be missing, or several.
pub trait Paths: Sized {
    /// Writes it.
    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error>;

    /// Reads it.
    ///
    /// # Errors
    /// It is no path.
    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error>;
}

impl Paths for PathBuf {
    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        Written::from(self.as_path()).serialize(to)
    }

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Written::deserialize(from).map(Self::from)
    }
}

impl Paths for Option<PathBuf> {
    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.as_deref().map(Written::from).serialize(to)
    }

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Option::<Written>::deserialize(from).map(|path| path.map(PathBuf::from))
    }
}

impl Paths for Vec<PathBuf> {
    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.iter().map(|path| Written::from(path.as_path())))
    }

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Vec::<Written>::deserialize(from).map(|paths| paths.into_iter().map(PathBuf::from).collect())
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStringExt;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Some3 {
        #[serde(with = "super")]
        one: PathBuf,
        #[serde(with = "super")]
        perhaps: Option<PathBuf>,
        #[serde(with = "super")]
        several: Vec<PathBuf>,
    }

    #[test]
    fn paths_arrive_whatever_their_bytes() {
        let odd = PathBuf::from(OsString::from_vec(b"/a\xff".to_vec()));
        let sent = Some3 { one: "/ü".into(), perhaps: Some(odd.clone()), several: vec![odd, "/b".into()] };
        let text = serde_json::to_string(&sent).expect("JSON");
        assert!(text.starts_with(r#"{"one":"/ü","perhaps":[47,97,255]"#), "{text}");
        assert_eq!(serde_json::from_str::<Some3>(&text).expect("whole"), sent);
        let none = Some3 { one: "/".into(), perhaps: None, several: Vec::new() };
        assert_eq!(serde_json::from_value::<Some3>(serde_json::json!(none)).expect("whole"), none);
    }
}
