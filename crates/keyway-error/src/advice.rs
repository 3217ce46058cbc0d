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
    /// See which kernels this machine has.
    ListKernels,
    /// See which ciphers there are.
    ListCiphers,
    /// Check password, keyfiles and PIM, and the path.
    CheckSecrets,
    /// Argon2id was not tried for want of memory.
    NoMemoryForArgon2id,
    /// Argon2id was not tried because of its cost; it can be asked for.
    TryArgon2id,
    /// Check the hidden volume's secret, or read only.
    CheckHiddenSecret,
    /// Give a password or a keyfile.
    GivePasswordOrKeyfile,
    /// The file should hold the password and nothing else.
    CheckPasswordFile,
    /// The largest PIM there is.
    LargestPim(u32),
    /// Name the file or device that holds the volume.
    NameVolume,
    /// The same, or look for what is left of a BitLocker volume.
    NameVolumeOrSearch,
    /// Copy it again in full; what is left can be read from a copy made as long as the volume was (bytes).
    CopyAgain(u64),
    /// From a backup file; the header in front makes one.
    RestoreFromFileOrMakeOne,
    /// From the volume's own backup, or a file.
    RestoreFromBackup,
    /// From a backup file.
    RestoreFromFile,
    /// Restore the header.
    RestoreHeader,
    /// A newer release may know it.
    VersionsToFive,
    /// Open the drive or its whole image.
    OpenWholeDrive,
    /// The partition that begins there (bytes) is not part of it.
    OtherPartition(u64),
    /// Check the keyfile's path.
    CheckKeyfilePath,
    /// The first sector is written anew from the metadata.
    RepairFirstSector,
    /// Nothing was written: copy all, and restore the first page.
    CopyAllThenRestoreFirstPage,
    /// Restore the copies of the metadata from a backup.
    RestoreCopies,
    /// Restore it from a backup of the headers.
    RestoreIt,
    /// Restore the metadata from a backup.
    RestoreMetadata,
    /// Windows can convert it; what is damaged is written anew.
    ConvertInWindowsOrRepair,
    /// A newer release may know it.
    NewerRelease,
    /// Let Windows finish the conversion.
    LetWindowsFinish,
    /// Let Windows finish the conversion before anything else.
    LetWindowsFinishFirst,
    /// Let Windows finish; then it can be written.
    LetWindowsFinishThenWrite,
    /// Let Windows finish the interrupted conversion; then it can be written.
    LetWindowsFinishItThenWrite,
    /// See what is inside, then write a new first sector.
    SeeThenRepair,
    /// Give one of a BitLocker volume's secrets.
    GiveAnySecret,
    /// Check the password, and the path.
    CheckPassword,
    /// Look for the paper that names the identifier.
    FindPaper,
    /// Compare it with the paper.
    CompareWithPaper,
    /// Name the startup key of that identifier.
    NameStartupKeyOfThat,
    /// Name a startup key's file or folder.
    NameStartupKey,
    /// Passwords are Unicode text.
    UseUnicode,
    /// For a file: a new name and a size.
    NewNameAndSize,
    /// Unmount or detach it.
    DetachIt,
    /// Free some space, or choose a smaller size.
    FreeSomeOrSmaller,
    /// A smaller size, or another disk.
    SmallerOrOtherDisk,
    /// The smallest volume in bytes.
    LeastVolume(u64),
    /// The largest volume in bytes.
    LargestVolume(u64),
    /// The largest hidden volume here, in bytes.
    RoomForHidden(u64),
    /// The largest hidden volume that overwrites nothing, in bytes.
    RoomWithoutLoss(u64),
    /// The nearest size that is possible, in bytes.
    TakeSize(u64),
    /// Take a key derivation for new volumes.
    TakeOfferedHash,
    /// See which ciphers are offered.
    ListOfferedCiphers,
    /// Give the outer volume's password.
    GiveOuterPassword,
    /// Take another password.
    TakeAnotherPassword,
    /// The medium can't be trusted.
    DistrustMedium,
    /// No volume was made.
    NoVolumeMade,
    /// There is no complete file system in it.
    NoFileSystemMade,
    /// Take a file system that can be made.
    TakeFileSystem,
    /// Take one that can be made with such sectors.
    TakeFileSystemOfSectors,
    /// Take one that Windows reads.
    TakeWindowsFileSystem,
    /// Another file system, or a larger volume.
    OtherFileSystemOrLarger,
    /// The smallest BitLocker volume in bytes.
    LeastBitLocker(u64),
    /// Take a method for new volumes.
    TakeOfferedMethod,
    /// Give it something that opens it.
    GiveProtector,
    /// So many characters a password has.
    PasswordLengths(usize, usize),
    /// Memory: close programs, lift the limit, or take another machine.
    CloseProgramsLiftLimit,
    /// Remove a protector that is no longer needed.
    RemoveProtector,
    /// Write the copies anew; move the data if that fails.
    RepairCopies,
    /// Restore a backup from after the encryption.
    RestoreLater,
    /// Check that it is the right backup.
    CheckBackup,
    /// Name a backup of such headers.
    NameHeaderBackup,
    /// Name a backup of such metadata.
    NameMetadataBackup,
    /// Give the outer volume's secret and the hidden one's.
    GiveBothSecrets,
    /// Give the hidden volume's secret.
    GiveHiddenSecret,
    /// Name the drive.
    NameDrive,
    /// Only the password can be changed from outside.
    OnlyPassword,
    /// Take a password alone.
    PasswordAlone,
    /// Take one that can be typed at start-up.
    TypeablePassword,
    /// Nothing has changed.
    OpensAsBefore,
    /// It opens by the other header; the medium fails.
    CopyOffMedium,
    /// The only header may be lost; the medium fails.
    CopyOffOrRestore,
    /// There is no copy: restore from a file.
    RestoreFromBackupFile,
    /// See which protectors there are.
    ListProtectors,
    /// Change that one, or remove it first.
    ChangeThatOne,
    /// Add another protector first, or destroy the volume.
    AddAnotherOrErase,
    /// Add another protector first.
    AddAnother,
    /// Add a password or a recovery password.
    AddProtector,
    /// Have it done all the same.
    Force,
    /// Copy what is in it.
    CopyReadOnly,
    /// Try again, or on another drive.
    TryOnAnotherDrive,
    /// Name another size.
    NameSize,
    /// Have the file system's own checker repair it.
    RunChecker,
    /// Make room, or take a larger size.
    MakeRoomOrLarger,
    /// Bring back the journal's file.
    BringBackJournal,
    /// The medium can't be trusted: copy it.
    DistrustAndCopy,
    /// Bring the journal back as it was left, or copy all.
    BringJournalOrCopy,
    /// Bring back the journal as it was left.
    BringBackNewerJournal,
    /// Bring back the medium as it was left.
    BringBackMedium,
    /// Nothing was changed: copy the medium.
    CopyMediumFirst,
    /// Copy it before anything else.
    CopyWhole,
    /// Bring its size back.
    BringBackSize,
    /// Make the file system smaller by so many bytes, or the device larger.
    ShrinkFileSystem(u64),
    /// Finish its conversion.
    FinishConversion,
    /// Finish its conversion, here or in Windows.
    FinishConversionAnywhere,
    /// Make the file larger.
    GrowFile,
    /// Go on while nobody uses it.
    GoOnOffline,
    /// Convert the free space, too.
    ConvertAllSpace,
    /// Make a new volume.
    MakeNewVolume,
    /// Mend its headers first.
    RepairHeaders,
    /// Restore the header first.
    RestoreHeaderFirst,
    /// Only the outer volume can be converted.
    OnlyOuter,
    /// Not while it is in use; another cipher of the same format can be had so.
    OfflineOrSameFormat,
    /// What a workload may say.
    ReadWorkloads,
    /// See which workloads there are.
    ListWorkloads,
    /// What a trace may be.
    ReadTraces,
    /// How a target is written.
    WriteTarget,
    /// A larger one, or a smaller test.
    LargerOrSmallerTest,
    /// Say that the data may go, or name a folder.
    DestroyData,
    /// Free it, or name a folder.
    FreeItOrFolder,
    /// One that can be written to, or a workload that reads.
    NameWritable,
    /// Free some space, or a smaller test.
    FreeSomeOrSmallerTest,
    /// Keep no data on it.
    KeepNoData,
    /// Cut the trace, or record less.
    CutTrace,
    /// Record a shorter time.
    RecordLess,
    /// Record or copy the trace again.
    RecordAgain,
    /// Copy the trace again.
    CopyTraceAgain,
    /// What traces are known.
    GiveTrace,
    /// Which versions of fio's logs are known.
    FioVersions,
    /// It is damaged.
    TraceDamaged,
    /// A larger volume, or fold the trace.
    LargerOrFold,
    /// Mounted folders, or the recorded copy.
    NameMountedFolders,
    /// The drive models that there are.
    TakeModel(String),
    /// Compare formats.
    CompareFormats,
    /// How an NVMe secret looks, and what makes one.
    MakeNvmeSecret,
    /// Copy it again.
    CopyItAgain,
    /// Serve the volume another way.
    ServeOtherwise,
    /// Make a virtual drive.
    MakeVirtualDrive,
    /// Use a newer program.
    UseNewer,
    /// This program has not written it.
    NotWrittenHere,
}
