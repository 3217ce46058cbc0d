//! The slips in typing or saving a password that are known, by name.

use keyway_error::enum_table;

enum_table! {
    /// Another spelling of a password.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum Variant {
        /// UTF-16 as UTF-8.
        Utf16("utf-16"),
        /// Without the byte-order mark in front.
        NoMark("no-mark"),
        /// Without the line end at its end.
        NoLineEnd("no-line-end"),
        /// Without blanks around it.
        NoBlanks("no-blanks"),
        /// Latin-1 as UTF-8.
        Latin1("latin-1"),
        /// Accents as parts of their letters (NFC).
        Composed("composed"),
        /// Accents apart from their letters (NFD).
        Decomposed("decomposed"),
        /// Small letters for capitals and the other way round.
        CapsLock("caps-lock"),
        /// The first letter alone is changed so: telephones begin with a capital.
        FirstLetter("first-letter"),
        /// The same keys on a QWERTZ keyboard, typed on a QWERTY one.
        QwertyToQwertz("qwerty-to-qwertz"),
        /// The other way round.
        QwertzToQwerty("qwertz-to-qwerty"),
        /// The same keys on an AZERTY keyboard, typed on a QWERTY one.
        QwertyToAzerty("qwerty-to-azerty"),
        /// The other way round.
        AzertyToQwerty("azerty-to-qwerty"),
        /// The same keys on an AZERTY keyboard, typed on a QWERTZ one.
        QwertzToAzerty("qwertz-to-azerty"),
        /// The other way round.
        AzertyToQwertz("azerty-to-qwertz"),
    }
    /// The word for it.
    pub word: &'static str,
}
