//! The recovery sheet: what someone needs who has forgotten the password, on one page.

use crate::failure::{Exit, Failure};
use crate::shown::shown;
use keyway::key_file::NewFile;
use keyway_secret::SecretBytes;
use keyway_sed::password::PasswordHash;
use keyway_sed::transport::Identity;
use std::path::Path;

/// Letters and digits that nobody mistakes for one another on paper (Crockford's base 32).
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/// Groups of the secret, and characters of each: 125 bits, and with its dashes no longer than a drive's
/// table holds if it is not hashed.
const GROUPS: (usize, usize) = (5, 5);

/// A new secret for the drive's owner, in groups: `X4T0M-…`.
pub(super) fn admin_secret() -> Result<SecretBytes, Failure> {
    let (groups, each) = GROUPS;
    let mut random = SecretBytes::zeroed(groups * each);
    getrandom::fill(&mut random)
        .map_err(|e| Failure::new(Exit::Failed, format!("the system has no random numbers: {e}"), ""))?;
    let mut text = SecretBytes::zeroed(groups * each + groups - 1);
    let mut letters = random.iter().filter_map(|byte| ALPHABET.get(usize::from(byte % 32)));
    for (i, place) in text.iter_mut().enumerate() {
        *place = if i % (each + 1) == each { b'-' } else { letters.next().copied().unwrap_or(b'0') };
    }
    Ok(text)
}

/// Writes the sheet to a new file, for its owner alone; it is on the medium then, and removed again
/// unless it is kept.
pub(super) fn write(
    path: &Path,
    device: &Path,
    id: &Identity,
    (hash, single_user): (PasswordHash, bool),
    secret: &[u8],
) -> Result<NewFile, Failure> {
    let before = format!(
        "Recovery sheet of a drive that encrypts by itself\n\n\
         \tDrive:          {}\n\tSerial number:  {}\n\tFirmware:       {}\n\n\
         Keep this sheet away from the drive: whoever has both can read the drive.\n\n\
         The owner's secret (administrator of everything: sid and admin1):\n\n\t",
        shown(&id.model),
        shown(&id.serial),
        shown(&id.firmware),
    );
    let hashed = match hash {
        PasswordHash::Sedutil => String::new(),
        other => format!(" --hash {other}"),
    };
    let device = shown(device);
    let forgotten = if single_user {
        format!(
            "The drive belongs to its user alone (Single User Mode): this secret does not unlock it. If the password is \
             forgotten, what is on the drive is lost, and this erases it for another to use:\n\n\
             \tkeyway drive erase {device}{hashed}\n\n"
        )
    } else {
        format!(
            "If the password is forgotten, with this secret nothing is lost:\n\n\
             \tkeyway drive unlock {device} --as admin1{hashed}\n\
             \tkeyway drive user password {device} user1 --as admin1{hashed}\n\n"
        )
    };
    let unlocked = if single_user { ", once its user has unlocked it" } else { "" };
    let after = format!(
        "\n\nPassword hashing: {hash} ({})\n\n{forgotten}\
         If setting the drive up was cut short, or it is to lock no more, with this secret nothing is lost, \
         either{unlocked}:\n\n\
         \tkeyway drive revert {device} --keep-data{hashed}\n\n\
         If this secret is lost, too, only the PSID helps, and everything on the drive is lost with it:\n\n\
         \tkeyway drive revert {device} --psid PSID\n\n\
         The PSID is printed on the drive's label and nowhere else. Write it here, before the drive is \
         built in:\n\n\tPSID: ________________________________\n",
        hash.words(),
    );
    let mut sheet = NewFile::claim(path.to_owned())?;
    sheet.write(&[before.as_bytes(), secret, after.as_bytes()])?;
    Ok(sheet)
}

#[cfg(test)]
mod tests {
    use super::*;
    use keyway_sed::transport::Interface;

    #[test]
    fn secrets_are_long_and_differ() {
        let (one, other) = (admin_secret().expect("random"), admin_secret().expect("random"));
        assert_eq!(one.len(), 29);
        assert!(!one.same_as(&other));
        let text = std::str::from_utf8(&one).expect("ASCII").to_owned();
        assert!(text.split('-').all(|group| group.len() == 5), "{text}");
        assert!(text.bytes().all(|b| b == b'-' || ALPHABET.contains(&b)), "{text}");
        assert!(one.len() <= keyway_sed::password::PIN_MAX);
    }

    #[test]
    fn a_sheet_says_what_to_do() {
        let dir = tempfile::tempdir().expect("temp");
        let path = dir.path().join("sheet.txt");
        let id = Identity::new(Interface::Virtual, "Model", "SERIAL", "1.0");
        let sheet = || write(&path, Path::new("/dev/x"), &id, (PasswordHash::Plain, false), b"SECRET");
        sheet().expect("written").keep();
        let text = std::fs::read_to_string(&path).expect("kept");
        for part in ["SECRET", "SERIAL", "PSID", "--hash plain", "--keep-data"] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert!(sheet().is_err(), "an existing file is nobody's to overwrite");
    }
}
