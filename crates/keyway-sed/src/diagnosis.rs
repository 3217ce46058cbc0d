//! What a drive's refusal means, and what to do next.
//!
//! A drive says NOT_AUTHORIZED to a mistyped password, to one that another program hashed in another
//! way, to an owner whom firmware has blocked, and to a user who lacks a right. What it says of itself
//! beside that ([`Situation`]) narrows it down; what remains is told as what it may be, the likeliest
//! first.

use crate::authority::name_of;
use crate::discovery::{Discovery, Feature};
use crate::host::error::{HostError, Misbehaved, Operation, Refused, Unfit};
use crate::password::{PasswordError, PasswordHash};
use crate::transport::{NoSecurity, TransportError};
use crate::uid::authority;
use crate::{Status, Uid};
use keyway_error::{Advice, Fault, Kind, Meaning};
use std::fmt;

/// What a failure comes from and what helps.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnosis {
    /// What happened.
    pub what: String,
    /// What it may come from, the likeliest first.
    pub causes: Vec<Cause>,
    /// Its kind, whose fault it is, and what to do next.
    pub meaning: Meaning,
}

macro_rules! causes {
    ($(#[doc = $meaning:literal] $name:ident $({ $field:ident: $type:ty })? = $word:literal,)*) => {
        /// What a failure may come from. A front has the sentence for it, by [`Cause::word`].
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Cause {
            $(#[doc = $meaning] $name $({ #[doc = concat!("The ", stringify!($field), ".")] $field: $type })?,)*
        }

        impl Cause {
            /// The word of each.
            pub const ALL: &[&str] = &[$($word),*];

            /// Its word.
            pub const fn word(&self) -> &'static str {
                match self {
                    $(Self::$name $({ $field: _ })? => $word,)*
                }
            }
        }
    };
}

causes! {
    /// The drive is asleep or being reset.
    AsleepOrReset = "asleep-or-reset",
    /// The firmware does not take this command in its present state.
    StateOfFirmware = "state-of-firmware",
    /// The machine's firmware blocks the owner at every start (Block SID).
    BlockSid = "block-sid",
    /// The drive counts wrong secrets, and takes none after the limit.
    TriesCounted = "tries-counted",
    /// Some characters of a PSID look alike.
    LookAlikes = "look-alikes",
    /// The label is another drive's.
    OtherLabel = "other-label",
    /// Somebody has set the drive up before, or a set-up was cut short.
    SetUpBefore = "set-up-before",
    /// The drive's first secret is not the one that it tells.
    UntoldSecret = "untold-secret",
    /// Windows has taken the drive over (eDrive).
    EDrive = "edrive",
    /// The password is mistyped.
    Mistyped = "mistyped",
    /// Another program has set the password, and hashed it in another way than this one.
    HashedOtherwise { hash: PasswordHash } = "hashed-otherwise",
    /// That user, by the drive's words, is not enabled, or the password is another's.
    NotEnabled { user: String } = "not-enabled",
    /// Only the owner may, or for locking its first administrator.
    OwnersRight = "owners-right",
    /// The right belongs to an administrator or to another user.
    OthersRight = "others-right",
    /// Another program talks to the drive now.
    OtherProgram = "other-program",
    /// A program ended without saying so.
    AbandonedSession = "abandoned-session",
    /// The range overlaps another, or reaches past the drive's end.
    Overlap = "overlap",
    /// Its start or length is no multiple of the drive's alignment.
    Misaligned = "misaligned",
    /// The drive has no range of that number.
    NoSuchRange = "no-such-range",
    /// The drive is in its factory state.
    FactoryState = "factory-state",
    /// The user does not exist, or is not enabled.
    NoSuchUser = "no-such-user",
    /// The global range is locked for reading and writing.
    GlobalRangeLocked = "global-range-locked",
    /// It belongs to a user alone (Single User Mode).
    UsersAlone = "users-alone",
    /// A range that belongs to a user alone is locked.
    UsersRangeLocked = "users-range-locked",
    /// The drive's namespaces are not as its standard asks.
    Namespaces = "namespaces",
    /// Another program has frozen or disabled the security provider.
    Frozen = "frozen",
    /// The security provider has failed.
    ProviderFailed = "provider-failed",
    /// A fault of the firmware.
    FirmwareFault = "firmware-fault",
    /// The drive is not in a state for it.
    WrongState = "wrong-state",
    /// The firmware does not know it.
    UnknownToFirmware = "unknown-to-firmware",
}

/// What is known around a failure.
#[derive(Debug, Clone, Copy)]
pub struct Situation<'a> {
    /// What the drive says of itself, where it has said it.
    pub discovery: Option<&'a Discovery>,
    /// How the password was hashed.
    pub hash: PasswordHash,
    /// Whether the proof was the factory's PIN, not a password.
    pub factory_pin: bool,
    /// All whose secret it was tried as, where it was not only the one that the error names.
    pub tried: &'a [Uid],
}

/// What an error means in this situation.
pub fn diagnose(error: &HostError, situation: &Situation<'_>) -> Diagnosis {
    use Advice as A;
    use Kind as K;
    let told =
        |error: &dyn fmt::Display, causes: &[Cause], (kind, fault, steps): (Kind, Fault, &[Advice])| {
            Diagnosis { what: error.to_string(), causes: causes.to_vec(), meaning: meant(kind, fault, steps) }
        };
    match error {
        HostError::Refused(refused) => refusal(*refused, situation),
        HostError::Transport(e) => match e {
            TransportError::NotADrive => {
                told(e, &[], (K::NotADrive, Fault::Contents, &[A::NameEncryptingDrive]))
            }
            TransportError::NoSecurityCommands(why) => {
                let step = match why {
                    NoSecurity::Drive => A::EncryptBySoftware,
                    NoSecurity::Libata => A::AllowSecurityCommands,
                    NoSecurity::Bridge => A::ConnectDirectly,
                };
                told(e, &[], (K::Unsupported, Fault::Machine, &[step]))
            }
            TransportError::NotPermitted(_) => {
                told(e, &[], (K::NotPermitted, Fault::Machine, &[A::BecomeRoot]))
            }
            TransportError::TimedOut => told(e, &[], (K::Faulty, Fault::Medium, &[A::RetryOrPowerCycle])),
            TransportError::Refused(_) => {
                let causes = [Cause::AsleepOrReset, Cause::StateOfFirmware];
                told(e, &causes, (K::Faulty, Fault::Medium, &[A::Retry, A::ElseRestartMachine]))
            }
            TransportError::Io(_) => told(e, &[], (K::Faulty, Fault::Medium, &[A::ReadSystemLog])),
        },
        HostError::Misbehaved(Misbehaved::NoComId) => told(
            &"the drive offers none of the standards that Keyway manages (Opal, Ruby, Opalite, Pyrite)",
            &[],
            (K::Unsupported, Fault::Machine, &[A::SeeWhatItHas, A::EncryptBySoftware]),
        ),
        HostError::Misbehaved(_) => told(error, &[], (K::Faulty, Fault::Medium, &[A::RetryOrPowerCycle])),
        HostError::ResetNotAllowed => told(error, &[], (K::NotAllowed, Fault::Machine, &[A::ResetOtherwise])),
        HostError::Unsupported(_) => told(error, &[], (K::Unsupported, Fault::Machine, &[A::SeeWhatItHas])),
        HostError::Password(e) => told(e, &[], (K::NotNow, Fault::State, &[e.step()])),
        HostError::Unfit(e) => told(e, &[], (K::NotNow, Fault::State, &[e.step()])),
        HostError::Stopped => told(error, &[], (K::Interrupted, Fault::Stopped, &[])),
    }
}

fn meant(kind: Kind, fault: Fault, steps: &[Advice]) -> Meaning {
    steps.iter().cloned().fold(Meaning::new(kind, fault), Meaning::advise)
}

impl PasswordError {
    /// What to do next.
    pub const fn step(self) -> Advice {
        match self {
            Self::Empty => Advice::GivePassword,
            Self::TooLong => Advice::ShortenOrHash,
            Self::MuchTooLong => Advice::Shorten,
        }
    }
}

impl Unfit {
    const fn step(self) -> Advice {
        match self {
            Self::PartBlocks | Self::Unaligned => Advice::SeeRangeLimits,
            Self::NeverLocks => Advice::EnableRange,
            Self::NoPlace(_) => Advice::PlaceRange,
            Self::PastDataStore => Advice::ReadOrWriteLess,
            Self::LargerThanShadow => Advice::SeeShadowSize,
            Self::LargeRequest => Advice::SmallerParts,
        }
    }
}

/// Whether it is one of the administrators of the part that locks.
fn is_administrator(who: Uid) -> bool {
    who != authority::PSID && who.row_number() >> 16 == authority::admin(1).row_number() >> 16
}

fn refusal(refused: Refused, situation: &Situation<'_>) -> Diagnosis {
    use Advice as A;
    use Cause as C;
    use Kind as K;
    let Refused { operation, authority: who, status } = refused;
    let whom = match situation.tried {
        [] => who.map_or_else(|| "anybody".to_owned(), name_of),
        tried => tried.iter().copied().map(name_of).collect::<Vec<_>>().join(" or "),
    };
    let say = |kind, what: String, causes: &[Cause], steps: &[Advice]| {
        let fault = match kind {
            K::WrongSecret => Fault::Secret,
            K::LockedOut | K::SidBlocked | K::NotAllowed => Fault::Machine,
            K::Busy => Fault::InUse,
            K::Faulty => Fault::Medium,
            _ => Fault::State,
        };
        let what = format!("{what} (the drive says {status})");
        Diagnosis { what, causes: causes.to_vec(), meaning: meant(kind, fault, steps) }
    };
    let text = str::to_owned;
    let is_blocked = || situation.discovery.and_then(Discovery::block_sid).is_some_and(|b| b.blocked);
    let is_off = || situation.discovery.and_then(Discovery::locking).is_some_and(|l| !l.enabled);
    // Ranges that belong to a user alone, whom no administrator stands in for (Single User Mode).
    let has_users_ranges = || {
        let features = situation.discovery.map(|discovery| &*discovery.features).unwrap_or_default();
        features.iter().any(|feature| matches!(feature, Feature::SingleUser(mode) if mode.any))
    };
    match (status, operation) {
        (Status::NotAuthorized | Status::AuthorityLockedOut, Operation::Authenticate)
            if who == Some(authority::SID) && is_blocked() =>
        {
            let what = text("the owner's authority is blocked until the next power cycle");
            say(K::SidBlocked, what, &[C::BlockSid], &[A::SwitchBlockSidOff, A::UsePsidMeanwhile])
        }
        (Status::AuthorityLockedOut, _) => {
            let what = format!("too many wrong secrets were given for {whom}");
            say(K::LockedOut, what, &[C::TriesCounted], &[A::PowerCycleAndRetry])
        }
        (Status::NotAuthorized, Operation::Authenticate) if who == Some(authority::PSID) => {
            let what = text("that is not the PSID on the drive's label");
            say(K::WrongSecret, what, &[C::LookAlikes, C::OtherLabel], &[A::ReadLabelAgain])
        }
        (Status::NotAuthorized, Operation::Authenticate) if situation.factory_pin => say(
            K::NotAllowed,
            text("the drive has an owner already: the factory's secret does not open it"),
            &[C::SetUpBefore, C::UntoldSecret, C::EDrive],
            &[A::RevertKeepingData, A::OrRevertByPsid],
        ),
        (Status::NotAuthorized, Operation::Authenticate) => {
            let mut causes = vec![C::Mistyped, C::HashedOtherwise { hash: situation.hash }];
            if let Some(who) = who.filter(|who| *who != authority::SID) {
                causes.push(C::NotEnabled { user: name_of(who) });
            }
            let [one, other] = situation.hash.others().map(|hash| hash.name().to_owned());
            let what = format!("the drive does not accept the secret for {whom}");
            let mut steps = vec![A::CheckDrivePassword, A::TryHashes { one, other }];
            // What the sheet has is the owner's, whose the first administrator's is as well.
            if situation.tried.len() < 2
                && who.is_some_and(|who| who == authority::SID || is_administrator(who))
            {
                steps.push(A::ElsePsidAlone);
            }
            say(K::WrongSecret, what, &causes, &steps)
        }
        (
            Status::NotAuthorized,
            Operation::Activate | Operation::Reactivate | Operation::Revert | Operation::RevertSp,
        ) => say(K::NotAllowed, format!("{whom} may not do that"), &[C::OwnersRight], &[A::GiveOwnersSecret]),
        (Status::NotAuthorized, _) if who.is_none() => {
            say(K::NotAllowed, format!("{} needs a secret", operation.words()), &[], &[A::GivePasswordFile])
        }
        (Status::NotAuthorized, _) if who.is_some_and(is_administrator) && has_users_ranges() => {
            let what = format!("{whom} may not do that");
            say(K::NotAllowed, what, &[C::UsersAlone], &[A::AuthenticateAsRangesUser])
        }
        (Status::NotAuthorized, _) => {
            let what = format!("{whom} may not do that");
            say(K::NotAllowed, what, &[C::OthersRight], &[A::AuthenticateAsAdministrator])
        }
        (Status::SpBusy | Status::NoSessionsAvailable, _) => {
            let what = text("the drive is busy with another session");
            say(
                K::Busy,
                what,
                &[C::OtherProgram, C::AbandonedSession],
                &[A::WaitAMinute, A::EndOtherSessions],
            )
        }
        (
            Status::InvalidParameter | Status::InsufficientSpace | Status::InsufficientRows,
            Operation::SetRange,
        ) => {
            let causes = [C::Overlap, C::Misaligned, C::NoSuchRange];
            say(K::NotNow, text("the range can't lie there"), &causes, &[A::ListRanges, A::SeeRangeLimits])
        }
        (Status::InvalidParameter, Operation::Authenticate | Operation::Other) if is_off() => {
            let what = text("locking is not in use on this drive");
            say(K::NotNow, what, &[C::FactoryState], &[A::SetDriveUp])
        }
        (Status::InvalidParameter | Status::Fail, Operation::Authenticate)
            if situation.tried.contains(&authority::SID) =>
        {
            let what = text(
                "the owner (SID) is the whole drive's; the part that locks knows administrators and users",
            );
            say(K::WrongSecret, what, &[], &[A::NameAnotherAuthority])
        }
        (Status::InvalidParameter | Status::Fail, Operation::Authenticate) => {
            let what = format!("the drive knows no {whom} whom it could let in");
            say(K::WrongSecret, what, &[C::NoSuchUser], &[A::NameAnotherAuthority])
        }
        (Status::Fail, Operation::RevertSp) => {
            let what = text("the drive can't keep the data");
            say(K::NotNow, what, &[C::GlobalRangeLocked, C::UsersAlone], &[A::UnlockOrLoseData])
        }
        (Status::Fail, Operation::Reactivate) => {
            let what = text("the drive can't keep what is in its ranges");
            say(K::NotNow, what, &[C::UsersRangeLocked], &[A::HaveUserUnlockOrErase])
        }
        (Status::Fail, Operation::Activate) => {
            let what = text("locking could not be put to use");
            say(K::NotNow, what, &[C::Namespaces], &[A::KeepOneNamespace])
        }
        (Status::SpFrozen | Status::SpDisabled | Status::SpFailed, _) => {
            let what = text("the drive's security provider does not take requests");
            say(K::NotNow, what, &[C::Frozen, C::ProviderFailed], &[A::PowerCycle, A::ElseRevertByPsid])
        }
        (Status::TPerMalfunction, _) => {
            let what = text("the drive says that it is broken");
            say(K::Faulty, what, &[C::FirmwareFault], &[A::PowerCycleForFirmware, A::CopyWhatCanBeRead])
        }
        (Status::ResponseOverflow, _) => {
            say(K::Faulty, text("the drive's answer does not fit its own packets"), &[], &[A::NewerFirmware])
        }
        _ => {
            let what = format!("the drive refused {}", operation.words());
            say(K::NotNow, what, &[C::WrongState, C::UnknownToFirmware], &[A::SeeState])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::{BlockSid, LockingFeature, SingleUser};
    use crate::transport::Refusal;

    fn discovery(features: Vec<Feature>) -> Discovery {
        Discovery { revision: (0, 1), vendor: [0; 32], features }
    }

    fn refused(operation: Operation, authority: Option<Uid>, status: Status) -> HostError {
        HostError::Refused(Refused { operation, authority, status })
    }

    fn diagnosed(error: &HostError, discovery: &Discovery, factory_pin: bool) -> Diagnosis {
        let hash = PasswordHash::Sedutil;
        diagnose(error, &Situation { discovery: Some(discovery), hash, factory_pin, tried: &[] })
    }

    #[test]
    fn one_status_has_many_meanings() {
        let plain = discovery(Vec::new());
        let sid = refused(Operation::Authenticate, Some(authority::SID), Status::NotAuthorized);
        let blocked = discovery(vec![Feature::BlockSid(BlockSid { blocked: true, ..BlockSid::default() })]);
        assert_eq!(diagnosed(&sid, &blocked, false).meaning.kind, Kind::SidBlocked);
        assert_eq!(diagnosed(&sid, &plain, true).meaning.kind, Kind::NotAllowed);
        let wrong = diagnosed(&sid, &plain, false);
        assert_eq!(wrong.meaning.kind, Kind::WrongSecret);
        assert!(wrong.causes.contains(&Cause::HashedOtherwise { hash: PasswordHash::Sedutil }), "{wrong:?}");
        let others = Advice::TryHashes { one: "plain".to_owned(), other: "sedutil-sha512".to_owned() };
        assert_eq!(wrong.meaning.advice, [Advice::CheckDrivePassword, others, Advice::ElsePsidAlone]);
        let user = refused(Operation::Authenticate, Some(authority::user(2)), Status::NotAuthorized);
        let user = diagnosed(&user, &blocked, false);
        assert!(user.meaning.kind == Kind::WrongSecret && user.what.contains("user 2"), "{user:?}");
        let set = refused(Operation::Set, Some(authority::user(1)), Status::NotAuthorized);
        assert_eq!(diagnosed(&set, &plain, false).meaning.kind, Kind::NotAllowed);
        // Of a range that is a user's alone an administrator is not told to come as one.
        let alone = SingleUser { any: true, ..SingleUser::default() };
        let admin = refused(Operation::Set, Some(authority::admin(1)), Status::NotAuthorized);
        let told = |features| diagnosed(&admin, &discovery(features), false).meaning.advice;
        assert_eq!(told(vec![Feature::SingleUser(alone)]), [Advice::AuthenticateAsRangesUser]);
        let none = vec![Feature::SingleUser(SingleUser::default())];
        assert_eq!(told(none), [Advice::AuthenticateAsAdministrator]);
        let psid = refused(Operation::Authenticate, Some(authority::PSID), Status::NotAuthorized);
        assert_eq!(diagnosed(&psid, &plain, false).meaning.advice, [Advice::ReadLabelAgain]);
        let locked = refused(Operation::Authenticate, Some(authority::admin(1)), Status::AuthorityLockedOut);
        let locked = diagnosed(&locked, &plain, false).meaning;
        assert_eq!((locked.kind, locked.advice), (Kind::LockedOut, vec![Advice::PowerCycleAndRetry]));
    }

    #[test]
    fn all_whose_secret_it_was_tried_as_are_named() {
        let error = refused(Operation::Authenticate, Some(authority::admin(1)), Status::NotAuthorized);
        let tried = [authority::user(1), authority::admin(1)];
        let hash = PasswordHash::Plain;
        let told = diagnose(&error, &Situation { discovery: None, hash, factory_pin: false, tried: &tried });
        assert!(told.what.contains("for user 1 or administrator 1 ("), "{told:?}");
        assert_eq!(told.causes.last(), Some(&Cause::NotEnabled { user: "administrator 1".to_owned() }));
    }

    #[test]
    fn every_status_to_everything_says_what_to_do() {
        let off = discovery(vec![Feature::Locking(LockingFeature::default())]);
        let operations = [
            Operation::Properties,
            Operation::Authenticate,
            Operation::Get,
            Operation::Set,
            Operation::SetRange,
            Operation::GenKey,
            Operation::Activate,
            Operation::Reactivate,
            Operation::Revert,
            Operation::RevertSp,
            Operation::Erase,
            Operation::Other,
        ];
        for code in 1..=0x3f {
            for operation in operations {
                for who in [None, Some(authority::SID), Some(authority::PSID), Some(authority::user(3))] {
                    for factory in [false, true] {
                        let told =
                            diagnosed(&refused(operation, who, Status::from_code(code)), &off, factory);
                        assert!(!told.meaning.advice.is_empty(), "{code:#x} {operation:?} {who:?}");
                        assert!(told.what.contains(Status::from_code(code).name()), "{told:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn whose_sheet_is_lost_is_told_of_the_label() {
        let has = |who| {
            let error = refused(Operation::Authenticate, Some(who), Status::NotAuthorized);
            diagnosed(&error, &discovery(Vec::new()), false).meaning.advice.contains(&Advice::ElsePsidAlone)
        };
        assert!(has(authority::SID) && has(authority::admin(1)) && !has(authority::user(1)));
    }

    #[test]
    fn transports_and_protocols_say_what_to_do_too() {
        let plain = discovery(Vec::new());
        let errors: Vec<(HostError, Kind)> = vec![
            (TransportError::NotADrive.into(), Kind::NotADrive),
            (TransportError::NoSecurityCommands(NoSecurity::Libata).into(), Kind::Unsupported),
            (TransportError::Refused(Refusal::Nvme(2)).into(), Kind::Faulty),
            (TransportError::TimedOut.into(), Kind::Faulty),
            (HostError::Misbehaved(Misbehaved::NoComId), Kind::Unsupported),
            (HostError::Misbehaved(Misbehaved::Closed), Kind::Faulty),
            (HostError::Unsupported("MBR shadow"), Kind::Unsupported),
            (HostError::ResetNotAllowed, Kind::NotAllowed),
            (Unfit::Unaligned.into(), Kind::NotNow),
        ];
        for (error, kind) in errors {
            let told = diagnosed(&error, &plain, false);
            assert_eq!(told.meaning.kind, kind, "{error}");
            assert!(!told.meaning.advice.is_empty() && !told.what.contains("; "), "{told:?}");
        }
    }
}
