//! A kernel's task: one pass over whole blocks, in place.

use crate::Kernel;

/// Which way a run goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Encrypt,
    Decrypt,
}

/// A kernel that this machine was found to have.
#[derive(Clone, Copy)]
pub(crate) struct Ready(Kernel);

impl Ready {
    /// None when this machine can't run it.
    pub(crate) fn new(kernel: Kernel) -> Option<Self> {
        Kernel::available().contains(&kernel).then_some(Self(kernel))
    }

    pub(crate) fn kernel(self) -> Kernel {
        self.0
    }
}

/// What is asked of a kernel: one pass over whole blocks, in place.
pub(crate) struct Pass<'a> {
    pub(crate) direction: Direction,
    pub(crate) blocks: &'a mut [[u8; 16]],
    pub(crate) work: Work<'a>,
}

/// What is done with the blocks of a pass.
#[derive(Clone, Copy)]
pub(crate) enum Work<'a> {
    /// Each block stands alone.
    Blocks,
    /// The blocks become numbers from this one on before they pass, as IEEE 1619 makes first tweaks
    /// of units' numbers: after [`u64::MAX`] comes 0.
    Numbers(u64),
    Xts(Xts<'a>),
}

/// The tweaks of a run of units.
#[derive(Clone, Copy)]
pub(crate) struct Xts<'a> {
    /// Each unit's first tweak.
    pub(crate) first_tweaks: &'a [[u8; 16]],
    /// Blocks in a unit.
    pub(crate) unit_blocks: usize,
}

/// The IVs of a run of units in CBC.
#[derive(Clone, Copy)]
pub(crate) struct Cbc<'a> {
    /// Each unit's.
    pub(crate) ivs: &'a [[u8; 16]],
    /// Blocks in a unit.
    pub(crate) unit_blocks: usize,
}
