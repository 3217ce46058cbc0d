//! The tables of both SPs as they leave the factory: rows, and who may call what on them.
//!
//! Opal SSC 2.02, 4.2 (Admin SP) and 4.3 (Locking SP); the columns' numbers are Core 2.01's, chapter 5.
//! What a host changes is kept beside them (`State::cells`), so that reverting an SP forgets its changes.

mod ace;
mod admin_sp;
mod builder;
mod enterprise;
mod factory;
mod locking_sp;
mod table;

pub(crate) use admin_sp::{PROGRAMMATIC_RESET_ENABLE, TPER_INFO};
pub(crate) use enterprise::masters;
pub(crate) use table::{RESET_POWER_CYCLE, RESET_PROGRAMMATIC, Sp, Tables, life_cycle};
