//! Which platform configuration registers count, and what their values hash to.

use keyway_error::explain;
use std::fmt;
use std::str::FromStr;

/// A set of platform configuration registers (PCRs), 0 to 23, of the SHA-256 bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pcrs(u32);

/// Registers of a PC (*TCG PC Client Platform TPM Profile*, clause on PCR attributes).
const COUNT: u32 = 24;

/// A list of registers that can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is no list of PCRs")]
pub struct PcrFault(String);

explain!(PcrFault => [Usage Request, WritePcrs]);

impl Pcrs {
    /// What Windows seals to where Secure Boot is on: its policy (7) and BitLocker's own (11).
    pub const SECURE_BOOT: Self = Self(1 << 7 | 1 << 11);
    /// What Windows seals to where Secure Boot is off: firmware (0), its drivers (2), boot manager
    /// (4) and BitLocker's own (11).
    pub const NO_SECURE_BOOT: Self = Self(1 | 1 << 2 | 1 << 4 | 1 << 11);

    /// From a bitmap, register 0 in its lowest bit. `None` where a register does not exist.
    pub fn from_bitmap(bitmap: u32) -> Option<Self> {
        (bitmap >> COUNT == 0).then_some(Self(bitmap))
    }

    /// The bitmap, register 0 in its lowest bit.
    pub fn bitmap(self) -> u32 {
        self.0
    }

    /// The registers' numbers, ascending.
    pub fn iter(self) -> impl Iterator<Item = u32> {
        (0..COUNT).filter(move |n| self.0 >> n & 1 == 1)
    }

    /// `TPMS_PCR_SELECTION`'s bytes (Part 2, clause 10.6.2): three for 24 registers.
    pub(crate) fn select(self) -> [u8; 3] {
        let [a, b, c, _] = self.0.to_le_bytes();
        [a, b, c]
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Those of `self` that are not in `others`.
    pub(crate) fn without(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }

    pub(crate) fn contains_all(self, others: Self) -> bool {
        others.without(self).is_empty()
    }
}

impl FromStr for Pcrs {
    type Err = PcrFault;

    fn from_str(text: &str) -> Result<Self, PcrFault> {
        let fault = || PcrFault(text.to_owned());
        text.split(',')
            .map(|number| number.trim().parse::<u32>().ok().filter(|n| *n < COUNT).ok_or_else(fault))
            .try_fold(Self(0), |set, number| Ok(Self(set.0 | 1u32 << number?)))
    }
}

impl fmt::Display for Pcrs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<_> = self.iter().map(|n| n.to_string()).collect();
        f.write_str(&numbers.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_profiles_have_the_bytes_that_windows_writes() {
        assert_eq!(Pcrs::SECURE_BOOT.select(), [0x80, 0x08, 0x00]);
        assert_eq!(Pcrs::NO_SECURE_BOOT.select(), [0x15, 0x08, 0x00]);
    }

    #[test]
    fn lists_are_read_and_printed() {
        assert_eq!("7,11".parse(), Ok(Pcrs::SECURE_BOOT));
        assert_eq!("11, 4,2,0".parse(), Ok(Pcrs::NO_SECURE_BOOT));
        assert_eq!(Pcrs::NO_SECURE_BOOT.to_string(), "0, 2, 4, 11");
        for wrong in ["", "24", "-1", "7,,11", "x"] {
            assert!(wrong.parse::<Pcrs>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_bitmap_of_registers_that_do_not_exist_is_refused() {
        assert_eq!(Pcrs::from_bitmap(0x880), Some(Pcrs::SECURE_BOOT));
        assert_eq!(Pcrs::from_bitmap(1 << 24), None);
    }
}
