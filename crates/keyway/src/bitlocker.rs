//! What only BitLocker volumes have: secrets and protectors of several kinds, methods, metadata in three copies, and what
//! may be wrong with all of that.

pub use keyway_volume::bitlocker::{
    BackupError, BitLockerError, BitLockerInfo, Block, BootFault, ChangeError, Conversion, CopyInfo,
    CopyState, CreateError, Guid, LastProtector, Locked, MetadataLocations, Method, NewProtectors, Note,
    Protection, ProtectorInfo, RecoveryPassword, ResizeError, RewriteError, Secret, StartupKey,
};
