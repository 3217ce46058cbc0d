//! The registers that are sealed to by default: those that Windows takes.

use keyway_tpm::Pcrs;
use std::path::Path;

/// The firmware's variable that says whether Secure Boot is on: four bytes of attributes, then 1 or
/// 0 (UEFI specification, section 3.3; efivarfs in the kernel's documentation).
const SECURE_BOOT: &str = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";

/// Windows' profile for this machine: PCRs 7 and 11 with Secure Boot, 0, 2, 4 and 11 without
/// (Microsoft, *BitLocker policy settings*, "Configure TPM platform validation profile").
pub fn usual_pcrs() -> Pcrs {
    usual_pcrs_by(Path::new(SECURE_BOOT))
}

fn usual_pcrs_by(variable: &Path) -> Pcrs {
    match std::fs::read(variable).as_deref() {
        Ok([_, _, _, _, 1]) => Pcrs::SECURE_BOOT,
        _ => Pcrs::NO_SECURE_BOOT,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_firmware_says_which() {
        let folder = tempfile::tempdir().expect("a folder");
        let variable = folder.path().join("SecureBoot");
        assert_eq!(usual_pcrs_by(&variable), Pcrs::NO_SECURE_BOOT);
        std::fs::write(&variable, [6, 0, 0, 0, 1]).expect("writes");
        assert_eq!(usual_pcrs_by(&variable), Pcrs::SECURE_BOOT);
        std::fs::write(&variable, [6, 0, 0, 0, 0]).expect("writes");
        assert_eq!(usual_pcrs_by(&variable), Pcrs::NO_SECURE_BOOT);
    }
}
