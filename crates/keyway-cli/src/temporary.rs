//! A folder for a while, that only this user may enter, by a name that nobody could have taken before.

use crate::failure::{Exit, Failure};
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;

/// Makes one where temporary files go; whoever has it takes it away.
pub(crate) fn private_folder(what: &str) -> Result<PathBuf, Failure> {
    let mut random = [0u8; 8];
    rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())
        .map_err(|e| Failure::new(Exit::Failed, format!("could not get a random number: {e}"), ""))?;
    let path = std::env::temp_dir().join(format!("keyway-{what}-{:016x}", u64::from_ne_bytes(random)));
    DirBuilder::new().mode(0o700).create(&path).map_err(|e| Failure::io("make", &path, &e))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn each_is_another_and_ones_own() {
        let made = [(); 2].map(|()| private_folder("test").expect("room"));
        assert_ne!(made[0], made[1]);
        for path in made {
            assert_eq!(path.metadata().expect("it is there").permissions().mode() & 0o777, 0o700);
            std::fs::remove_dir(path).expect("ours");
        }
    }
}
