//! Volume formats: detect, unlock, create and change.
