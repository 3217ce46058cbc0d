//! The next steps that help.

use std::path::PathBuf;

/// A step that helps, or what to know before taking one. A front has the sentence for it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Advice {
    /// Check the path.
    CheckPath,
    /// Do it as a user who may.
    BecomeRoot,
    /// It can only be read here: open it for reading, or make it writable.
    OpenReadOnly,
    /// Close what uses it.
    CloseUsers,
    /// Choose another name, or move the old thing away.
    ChooseAnotherName,
    /// Free some space, or ask for less.
    FreeSpace,
    /// The file ends too early: check that it was copied completely.
    CheckCopiedFile,
    /// Free some memory, or add swap space.
    FreeMemory,
    /// It is a folder: name a file.
    NameFileNotFolder,
    /// Name a regular file or a block device.
    NameFileOrDevice,
    /// The system's log holds the drive's own report.
    ReadSystemLog,
    /// Somebody changes its size: wait, and try it again.
    WaitForItsSize,
    /// Ask for less than the volume has.
    AskForLess,
    /// Open it for writing.
    OpenWritable,
    /// Close it; what was written before is safe.
    CloseIt,
    /// Open it again, and check the file system inside.
    OpenAgainAndCheck,
    /// The rest was written; the file system inside should leave these bytes alone.
    LeaveMetadataAlone,
    /// Check that the file was copied completely.
    CheckCopy,
    /// The file system on it is mounted here: unmount it.
    UnmountIt(PathBuf),
    /// Have the system not swap to it.
    SwapOff(PathBuf),
    /// Take the block device down that is made of it.
    TakeDown(String),
    /// Detach the loop device.
    DetachLoop(String),
    /// A process of Keyway's has it: close the volume, or wait until it ends.
    CloseVolume(PathBuf, u32),
    /// Wait until the process ends, or end it.
    WaitForProcess(u32),
    /// Close what uses it, whoever that is.
    CloseUsersOf(PathBuf),
    /// It may be damaged.
    MayBeDamaged,
    /// Switch the TPM on in the firmware, or name another.
    EnableTpm,
    /// Do it as a user who may use the TPM.
    JoinTss,
    /// Use the device that can be shared.
    UseResourceManager,
    /// It may be a TPM 1.2.
    NeedTpm2,
    /// Somebody may listen on the way.
    SomebodyBetween,
    /// Start the system that it was sealed under.
    StartSealedSystem,
    /// So often may it be wrong before the TPM locks itself.
    TriesLeft(u32),
    /// The TPM forgets a wrong try in this time (seconds).
    ForgetsOneEvery(u64),
    /// Use a recovery password.
    UseRecoveryPassword,
    /// The same, and add the TPM anew.
    UseRecoveryAndAddTpm,
    /// Switch the SHA-256 bank on.
    EnableSha256Bank,
    /// Open it another way than by TPM.
    LeaveOutTpm,
    /// Give the PIN.
    GivePin,
    /// Give the startup key.
    GiveStartupKey,
    /// It needs the startup key with this name or one of these identifiers.
    NeedsStartupKey(String),
    /// Choose another name, or move the thing away.
    MoveAway,
    /// Install this package.
    InstallPackage(String),
    /// Attach it as a device.
    OpenAsDevice,
    /// Mount it.
    Mount,
    /// Mount it instead.
    MountInstead,
    /// Mount the volume instead.
    MountVolume,
    /// Check it.
    CheckFat,
    /// Check it with its own tools.
    CheckFileSystem,
    /// Check it with its own tools.
    CheckWithTools,
    /// See what there is.
    ListFolder,
    /// Name a folder.
    NameFolder,
    /// Name a file, or a folder to be made here.
    NameFileOrNewFolder,
    /// Name what the link points to.
    NameTarget,
    /// Only files and folders can be copied.
    OnlyFilesAndFolders,
    /// How a path inside a volume is written.
    WriteAsPath,
    /// Put it under another name.
    PutUnderOtherName,
    /// Choose another name, or have it overwritten.
    OtherNameOrForce,
    /// Remove something first.
    RemoveSomething,
    /// Repair it before it is converted.
    RepairBeforeConversion,
    /// The system's log has the drive's report; nothing was changed.
    ReadSystemLogUnchanged,
    /// Make room in it.
    MakeRoom,
    /// Close the volume.
    CloseNamed(String),
    /// Close what uses it.
    CloseAndRetry,
    /// Try it as root.
    TryAsRoot,
    /// Load the kernel's FUSE, or attach it another way.
    LoadFuse,
    /// Let users open FUSE's device, or attach it another way.
    AllowFuse,
    /// Install FUSE's helper, or attach it another way.
    InstallFuse,
    /// Load the kernel's loop devices, or do without.
    LoadLoop,
    /// Name a folder of this user's alone.
    SetRuntimeFolder,
    /// Not built in: attach it another way.
    AttachOtherwiseBuilt,
    /// Something must make device nodes.
    RunUdev,
    /// Open it without mounting and look.
    LookInside,
    /// See what is open.
    ListOpen,
    /// Remove the folder, or name another.
    RemoveOrRuntimeFolder,
    /// The process is stopped: let it go on; then it does what it was asked for.
    LetGoOn(u32),
    /// It waits for the medium.
    WaitForMedium,
    /// It is busy: wait, or look.
    WaitOrLook,
    /// Copy what is needed while it is open.
    CopyNow,
    /// Try again.
    TryStatus,
    /// Check what was written last.
    CheckLastWrites,
    /// The other ways to attach work without it.
    AskDoctor,
    /// Attach it another way.
    AttachOtherwise,
    /// The kernel's log may tell why.
    ReadKernelLog,
    /// A udev rule must hand the device over.
    AddUdevRule,
    /// Serve it again, or give it up.
    ServeAgain(String),
    /// Protect the hidden volume again, or give it up.
    ProtectOrClose,
    /// A loopback address, or TLS.
    LoopbackOrTls,
    /// A loopback address, or secrets.
    LoopbackOrSecret,
    /// What a folder of certificates holds.
    NameCertificates,
    /// Close the other server, or choose another path.
    CloseOrOtherPath,
    /// Choose another path.
    OtherPath,
    /// How such a name is written.
    WriteNqn,
}
