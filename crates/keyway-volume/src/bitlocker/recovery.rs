//! The recovery password: eight groups of six digits, each a 16-bit number times eleven.
//!
//! Source: libbde's format description ("Recovery key"). The last digit of a group is what makes the
//! group divisible by 11, so every single mistyped digit and every swap of two neighbours is seen.

use keyway_secret::SecretBytes;
use zeroize::Zeroize;

/// Groups in a recovery password.
const GROUPS: usize = 8;

/// Digits in a group.
const GROUP_DIGITS: usize = 6;

/// What every group is divisible by.
const FACTOR: u32 = 11;

/// Longest text that is looked at: digits and some separators.
const LONGEST_TEXT: usize = 256;

/// The 16 bytes that a recovery password stands for.
pub struct RecoveryPassword {
    bytes: SecretBytes,
}

/// What is wrong with a recovery password as it was typed. Nothing is tried with such a one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RecoveryFault {
    /// Too few or too many digits.
    #[error("a recovery password has 48 digits in 8 groups of 6, and this one has {0}")]
    Length(usize),
    /// Something that is neither a digit nor a separator.
    #[error(
        "a recovery password has only digits, with dashes or spaces between its groups, and this one has {0:?}"
    )]
    Letter(char),
    /// A group whose check digit does not fit.
    #[error("group {0} of the recovery password is mistyped: its check digit does not fit")]
    CheckDigit(usize),
    /// A group that is too large.
    #[error("group {0} of the recovery password is mistyped: no group is above 720885")]
    TooLarge(usize),
    /// A separator within a group.
    #[error("group {group} of the recovery password has {digits} digits instead of 6")]
    GroupLength {
        /// Which, from 1 on.
        group: usize,
        /// How many digits it has.
        digits: usize,
    },
}

impl RecoveryPassword {
    /// Reads what a person typed: 48 digits, with dashes, spaces or nothing between the groups.
    ///
    /// # Errors
    /// It can't be a recovery password; the first group that is wrong is named.
    pub fn parse(text: &str) -> Result<Self, RecoveryFault> {
        let text = text.get(..LONGEST_TEXT).unwrap_or(text).trim();
        let separates = |c: char| c.is_whitespace() || matches!(c, '-' | '\u{2010}'..='\u{2015}' | '_' | '.');
        if let Some(c) = text.chars().find(|c| !c.is_ascii_digit() && !separates(*c)) {
            return Err(RecoveryFault::Letter(c));
        }
        let digits = text.chars().filter(char::is_ascii_digit).count();
        let groups: Vec<&str> = text.split(separates).filter(|group| !group.is_empty()).collect();
        // Eight groups by separators of their own: then it is known which one is wrong.
        if groups.len() == GROUPS
            && let Some((i, group)) = groups.iter().enumerate().find(|(_, g)| g.len() != GROUP_DIGITS)
        {
            return Err(RecoveryFault::GroupLength { group: i + 1, digits: group.len() });
        }
        if digits != GROUPS * GROUP_DIGITS {
            return Err(RecoveryFault::Length(digits));
        }
        let mut bytes = SecretBytes::zeroed(2 * GROUPS);
        let mut digits = text.chars().filter_map(|c| c.to_digit(10));
        for (i, slot) in bytes.chunks_exact_mut(2).enumerate() {
            let value = digits.by_ref().take(GROUP_DIGITS).fold(0, |value, digit| value * 10 + digit);
            if value % FACTOR != 0 {
                return Err(RecoveryFault::CheckDigit(i + 1));
            }
            let number = u16::try_from(value / FACTOR).map_err(|_| RecoveryFault::TooLarge(i + 1))?;
            slot.copy_from_slice(&number.to_le_bytes());
        }
        Ok(Self { bytes })
    }

    /// The one that 16 bytes stand for: as kept in the metadata for those who have the key.
    pub fn from_bytes(bytes: SecretBytes) -> Option<Self> {
        (bytes.len() == 2 * GROUPS).then_some(Self { bytes })
    }

    /// A new random one.
    pub fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = SecretBytes::zeroed(2 * GROUPS);
        getrandom::fill(&mut bytes)?;
        Ok(Self { bytes })
    }

    /// The 16 bytes.
    pub fn bytes(&self) -> &SecretBytes {
        &self.bytes
    }

    /// The text, with dashes, as ASCII bytes: `235818-357951-…`.
    pub fn to_text(&self) -> SecretBytes {
        let mut text = SecretBytes::zeroed(GROUPS * (GROUP_DIGITS + 1) - 1);
        for (slot, pair) in text.chunks_mut(GROUP_DIGITS + 1).zip(self.bytes.chunks_exact(2)) {
            let mut value = pair.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte)) * FACTOR;
            if let Some(dash) = slot.get_mut(GROUP_DIGITS) {
                *dash = b'-';
            }
            for digit in slot.iter_mut().take(GROUP_DIGITS).rev() {
                *digit = b'0' + (value % 10) as u8;
                value /= 10;
            }
            value.zeroize();
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "471207-278498-422125-177177-561902-537405-468006-693451";

    fn fault(text: &str) -> RecoveryFault {
        RecoveryPassword::parse(text).err().expect("refused")
    }

    #[test]
    fn the_example_of_the_description_reads_and_writes() {
        let password = RecoveryPassword::parse(TEXT).expect("right");
        assert_eq!(&password.to_text()[..], TEXT.as_bytes());
        // 471207 / 11 = 42837 = 0xa755.
        assert_eq!(password.bytes()[..2], [0x55, 0xa7]);
    }

    #[test]
    fn separators_do_not_matter() {
        let plain = TEXT.replace('-', "");
        for text in [plain.clone(), TEXT.replace('-', " "), format!("  {}\n", TEXT.replace('-', " - "))] {
            assert!(
                RecoveryPassword::parse(&text).expect("right").to_text().same_as(TEXT.as_bytes()),
                "{text}"
            );
        }
        assert!(RecoveryPassword::parse(&TEXT.replace('-', "\u{2013}")).is_ok());
    }

    #[test]
    fn a_typo_is_named() {
        assert_eq!(fault(&TEXT.replace("422125", "422126")), RecoveryFault::CheckDigit(3));
        assert_eq!(fault(&TEXT.replace("422125", "242125")), RecoveryFault::CheckDigit(3));
        assert_eq!(fault(&TEXT.replace("693451", "720896")), RecoveryFault::TooLarge(8));
        assert_eq!(
            fault(&TEXT.replace("693451", "69345")),
            RecoveryFault::GroupLength { group: 8, digits: 5 }
        );
        assert_eq!(fault(&TEXT.replace("693451", "69345l")), RecoveryFault::Letter('l'));
        assert_eq!(fault(&TEXT[..20]), RecoveryFault::Length(18));
        assert_eq!(fault(""), RecoveryFault::Length(0));
        assert_eq!(fault(&"1".repeat(10_000)), RecoveryFault::Length(LONGEST_TEXT));
        assert!(fault(&TEXT.replace("422125", "422126")).to_string().contains("group 3"));
    }

    #[test]
    fn every_wrong_digit_and_every_swap_is_seen() {
        let digits = TEXT.as_bytes();
        for at in (0..digits.len()).filter(|at| digits[*at] != b'-') {
            for other in (b'0'..=b'9').filter(|other| *other != digits[at]) {
                let mut typed = digits.to_vec();
                typed[at] = other;
                let group = at / 7 + 1;
                let fault = fault(std::str::from_utf8(&typed).expect("digits"));
                assert!(
                    fault == RecoveryFault::CheckDigit(group) || fault == RecoveryFault::TooLarge(group),
                    "{at} {fault}"
                );
            }
        }
    }

    #[test]
    fn random_ones_read_back() {
        for _ in 0..50 {
            let password = RecoveryPassword::random().expect("random");
            let text = password.to_text();
            let again = RecoveryPassword::parse(std::str::from_utf8(&text).expect("digits")).expect("right");
            assert!(again.bytes().same_as(password.bytes()));
        }
    }
}
