//! What a drive's refusal means, and what to do next.
//!
//! A drive says NOT_AUTHORIZED to a mistyped password, to one that another program hashed in another
//! way, to an owner whom firmware has blocked, and to a user who lacks a right. What it says of itself
//! beside that ([`Situation`]) narrows it down; what remains is told as what it may be, the likeliest
//! first.

use crate::discovery::Discovery;
use crate::host::error::{Did, HostError, Misbehaved, Refused};
use crate::password::PasswordHash;
use crate::transport::TransportError;
use crate::uid::authority;
use crate::{Status, Uid};
use keyway_error::Kind;

/// A failure in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// What kind.
    pub kind: Kind,
    /// What happened.
    pub what: String,
    /// What it may come from, the likeliest first.
    pub causes: Vec<String>,
    /// What to do next.
    pub next: String,
}

/// What is known around a failure.
#[derive(Debug, Clone, Copy)]
pub struct Situation<'a> {
    /// What the drive says of itself.
    pub discovery: &'a Discovery,
    /// How the password was hashed.
    pub hash: PasswordHash,
    /// Whether the proof was the factory's PIN, not a password.
    pub factory_pin: bool,
}

/// An authority's name in words.
pub fn name_of(who: Uid) -> String {
    let row = who.row_number();
    match row >> 16 {
        _ if who == authority::SID => "the owner (SID)".to_owned(),
        _ if who == authority::PSID => "the label's PSID".to_owned(),
        _ if who == authority::ADMINS => "the administrators".to_owned(),
        _ if who == authority::USERS => "all users".to_owned(),
        _ if who == authority::ANYBODY => "anybody".to_owned(),
        1 => format!("administrator {}", row & 0xFFFF),
        3 => format!("user {}", row & 0xFFFF),
        _ if (0x201..0x300).contains(&row) => format!("administrator {} of the Admin SP", row & 0xFF),
        _ => format!("authority {who}"),
    }
}

/// What an error means in this situation.
pub fn explain(error: &HostError, situation: &Situation<'_>) -> Explanation {
    let told = |kind, error: &dyn std::fmt::Display| {
        let text = error.to_string();
        let (what, next) = text.split_once("; ").unwrap_or((&text, ""));
        Explanation { kind, what: what.to_owned(), causes: Vec::new(), next: next.to_owned() }
    };
    match error {
        HostError::Refused(refused) => explain_refusal(*refused, situation),
        HostError::Transport(e) => {
            let kind = match e {
                TransportError::NotADrive | TransportError::NoSecurityCommands(_) => Kind::Unsupported,
                TransportError::NotPermitted(_) => Kind::NotPermitted,
                TransportError::TimedOut | TransportError::Refused(_) | TransportError::Io(_) => Kind::Faulty,
            };
            let mut told = told(kind, e);
            if matches!(e, TransportError::Refused(_)) {
                told.causes = vec![
                    "the drive is asleep or being reset".to_owned(),
                    "the drive's firmware does not take this command in its present state".to_owned(),
                ];
                "try again; if it goes on, switch the machine off and on".clone_into(&mut told.next);
            }
            told
        }
        HostError::Misbehaved(Misbehaved::NoComId) => Explanation {
            kind: Kind::Unsupported,
            what: "the drive offers none of the standards that Keyway manages (Opal, Ruby, Opalite, Pyrite)"
                .to_owned(),
            causes: Vec::new(),
            next: "`keyway drive info` shows what it offers; encrypt it with `keyway create` instead"
                .to_owned(),
        },
        HostError::Misbehaved(_) => told(Kind::Faulty, error),
        HostError::Unsupported(_) => Explanation {
            next: "`keyway drive info` shows what the drive has".to_owned(),
            ..told(Kind::Unsupported, error)
        },
        HostError::Password(e) => Explanation { next: e.next().to_owned(), ..told(Kind::NotNow, e) },
        HostError::Asked(_) => told(Kind::NotNow, error),
    }
}

fn explain_refusal(refused: Refused, situation: &Situation<'_>) -> Explanation {
    let Refused { did, authority: who, status } = refused;
    let whom = who.map_or_else(|| "anybody".to_owned(), name_of);
    let say = |kind, what: String, causes: &[&str], next: &str| Explanation {
        kind,
        what: format!("{what} (the drive says {status})"),
        causes: causes.iter().map(|&c| c.to_owned()).collect(),
        next: next.to_owned(),
    };
    let blocked = situation.discovery.block_sid().is_some_and(|b| b.blocked);
    match (status, did) {
        (Status::NotAuthorized | Status::AuthorityLockedOut, Did::Authenticate)
            if who == Some(authority::SID) && blocked =>
        {
            say(
                Kind::SidBlocked,
                "the owner's authority is blocked until the next power cycle".to_owned(),
                &[
                    "the machine's firmware blocks it at every start, so that malware can't take the drive over (Block SID)",
                ],
                "switch Block SID off in the firmware's set-up for the next start (it may be called TCG Security or SID authentication), or connect the drive after the start; the PSID still works",
            )
        }
        (Status::AuthorityLockedOut, _) => say(
            Kind::LockedOut,
            format!("too many wrong secrets were given for {whom}"),
            &["the drive counts wrong ones and takes none after the limit, not even the right one"],
            "switch the drive off and on (a restart is not enough), then try again with the right one",
        ),
        (Status::NotAuthorized, Did::Authenticate) if who == Some(authority::PSID) => say(
            Kind::WrongSecret,
            "that is not the PSID on the drive's label".to_owned(),
            &["it has 32 characters; 0 and O, 1 and I, 8 and B look alike", "the label of another drive"],
            "read it from the label again, without spaces",
        ),
        (Status::NotAuthorized, Did::Authenticate) if situation.factory_pin => say(
            Kind::NotAllowed,
            "the drive has an owner already: the factory's secret does not open it".to_owned(),
            &[
                "somebody, or a program, has set it up before, or a set-up was cut short",
                "the drive's first secret is not the one it tells (some need the PSID first)",
                "Windows has taken it over as an encrypted drive (eDrive), with a secret that it tells nobody",
            ],
            "take it back with the owner's secret, which loses nothing: keyway drive revert DEVICE --keep-data; or with the PSID on its label, which destroys its data: keyway drive revert DEVICE --psid PSID",
        ),
        (Status::NotAuthorized, Did::Authenticate) => {
            let mut told = say(
                Kind::WrongSecret,
                format!("the drive does not accept the secret for {whom}"),
                &["the password is mistyped"],
                "",
            );
            let others: Vec<_> = PasswordHash::ALL.into_iter().filter(|h| *h != situation.hash).collect();
            let names: Vec<_> = others.iter().map(|h| h.name()).collect();
            told.causes.push(format!(
                "another program has set it and hashed it differently (now: {}; it may be {})",
                situation.hash.words(),
                names.join(" or "),
            ));
            if who.is_some_and(|who| who != authority::SID) {
                told.causes.push(format!("{whom} is not enabled, or the password is another user's"));
            }
            told.next = format!(
                "check the password; then try --hash {}; every wrong one counts, and after the limit the drive must be switched off and on",
                names.join(" or --hash "),
            );
            told
        }
        (Status::NotAuthorized, Did::Activate | Did::Reactivate | Did::Revert | Did::RevertSp) => say(
            Kind::NotAllowed,
            format!("{whom} may not do that"),
            &["only the owner, or for locking its first administrator, may"],
            "give the owner's secret",
        ),
        (Status::NotAuthorized, _) if who.is_none() => say(
            Kind::NotAllowed,
            format!("{} needs a secret", did.words()),
            &[],
            "give one: --password-file FILE",
        ),
        (Status::NotAuthorized, _) => say(
            Kind::NotAllowed,
            format!("{whom} may not do that"),
            &["the right belongs to an administrator, or to another user"],
            "authenticate as an administrator (--as admin1), or have one give you the right: keyway drive user allow",
        ),
        (Status::SpBusy | Status::NoSessionsAvailable, _) => say(
            Kind::Busy,
            "the drive is busy with another session".to_owned(),
            &["another program talks to it now", "one that ended without saying so: the drive waits for it"],
            "wait a minute and try again; `keyway drive reset` ends other programs' sessions",
        ),
        (Status::InvalidParameter | Status::InsufficientSpace | Status::InsufficientRows, Did::SetRange) => {
            say(
                Kind::NotNow,
                "the range can't lie there".to_owned(),
                &[
                    "it overlaps another range, or reaches past the end of the drive",
                    "its start or length is no multiple of the drive's alignment",
                    "the drive has no range of that number",
                ],
                "see `keyway drive range list`; alignment and the number of ranges are in `keyway drive info`",
            )
        }
        (Status::InvalidParameter, Did::Authenticate | Did::Other)
            if situation.discovery.locking().is_some_and(|l| !l.enabled) =>
        {
            say(
                Kind::NotNow,
                "locking is not in use on this drive".to_owned(),
                &["it is in its factory state"],
                "set it up first: keyway drive setup DEVICE",
            )
        }
        (Status::InvalidParameter | Status::Fail, Did::Authenticate) => say(
            Kind::WrongSecret,
            format!("the drive knows no {whom} whom it could let in"),
            &["the user does not exist or is not enabled"],
            "name another: --as admin1 or --as user1",
        ),
        (Status::Fail, Did::RevertSp) => say(
            Kind::NotNow,
            "the drive can't keep the data".to_owned(),
            &[
                "the global range is locked for both reading and writing",
                "it belongs to a user alone (Single User Mode)",
            ],
            "have it unlocked first, or leave out --keep-data",
        ),
        (Status::Fail, Did::Reactivate) => say(
            Kind::NotNow,
            "the drive can't keep what is in its ranges".to_owned(),
            &["a range that belongs to a user alone is locked"],
            "have its user unlock it first, or erase it: keyway drive erase DEVICE --range N",
        ),
        (Status::Fail, Did::Activate) => say(
            Kind::NotNow,
            "locking could not be put to use".to_owned(),
            &["the drive's namespaces are not as its standard asks"],
            "delete all namespaces but one (nvme delete-ns), and try again",
        ),
        (Status::SpFrozen | Status::SpDisabled | Status::SpFailed, _) => say(
            Kind::NotNow,
            "the drive's security provider does not take requests".to_owned(),
            &["it was frozen or disabled by another program", "it has failed"],
            "switch the drive off and on; if that does not help, only the PSID does: keyway drive revert DEVICE --psid PSID",
        ),
        (Status::TPerMalfunction, _) => say(
            Kind::Faulty,
            "the drive says that it is broken".to_owned(),
            &["a fault of its firmware"],
            "switch it off and on, and look for a newer firmware; copy what can still be read",
        ),
        (Status::ResponseOverflow, _) => say(
            Kind::Faulty,
            "the drive's answer does not fit its own packets".to_owned(),
            &[],
            "look for a newer firmware",
        ),
        _ => say(
            Kind::NotNow,
            format!("the drive refused {}", did.words()),
            &["it is not in a state for it", "its firmware does not know it"],
            "see `keyway drive info` for its state",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::{BlockSid, Feature, LockingFeature};
    use crate::transport::{NoSecurity, Refusal};

    fn discovery(features: Vec<Feature>) -> Discovery {
        Discovery { revision: (0, 1), vendor: [0; 32], features }
    }

    fn refused(did: Did, authority: Option<Uid>, status: Status) -> HostError {
        HostError::Refused(Refused { did, authority, status })
    }

    fn explained(error: &HostError, discovery: &Discovery, factory_pin: bool) -> Explanation {
        explain(error, &Situation { discovery, hash: PasswordHash::Sedutil, factory_pin })
    }

    #[test]
    fn one_status_has_many_meanings() {
        let plain = discovery(Vec::new());
        let sid = refused(Did::Authenticate, Some(authority::SID), Status::NotAuthorized);
        let blocked = discovery(vec![Feature::BlockSid(BlockSid { blocked: true, ..BlockSid::default() })]);
        assert_eq!(explained(&sid, &blocked, false).kind, Kind::SidBlocked);
        assert_eq!(explained(&sid, &plain, true).kind, Kind::NotAllowed);
        let wrong = explained(&sid, &plain, false);
        assert_eq!(wrong.kind, Kind::WrongSecret);
        assert!(wrong.causes.iter().any(|c| c.contains("hashed it differently")), "{wrong:?}");
        assert!(wrong.next.contains("--hash plain"), "{wrong:?}");
        let user = refused(Did::Authenticate, Some(authority::user(2)), Status::NotAuthorized);
        let user = explained(&user, &blocked, false);
        assert!(user.kind == Kind::WrongSecret && user.what.contains("user 2"), "{user:?}");
        let set = refused(Did::Set, Some(authority::user(1)), Status::NotAuthorized);
        assert_eq!(explained(&set, &plain, false).kind, Kind::NotAllowed);
        let psid = refused(Did::Authenticate, Some(authority::PSID), Status::NotAuthorized);
        assert!(explained(&psid, &plain, false).next.contains("label"));
        let locked = refused(Did::Authenticate, Some(authority::admin(1)), Status::AuthorityLockedOut);
        let locked = explained(&locked, &plain, false);
        assert!(locked.kind == Kind::LockedOut && locked.next.contains("off and on"), "{locked:?}");
    }

    #[test]
    fn every_status_to_everything_says_what_to_do() {
        let off = discovery(vec![Feature::Locking(LockingFeature::default())]);
        let dids = [
            Did::Properties,
            Did::Authenticate,
            Did::Get,
            Did::Set,
            Did::SetRange,
            Did::GenKey,
            Did::Activate,
            Did::Reactivate,
            Did::Revert,
            Did::RevertSp,
            Did::Erase,
            Did::Other,
        ];
        for code in 1..=0x3f {
            for did in dids {
                for who in [None, Some(authority::SID), Some(authority::PSID), Some(authority::user(3))] {
                    for factory in [false, true] {
                        let told = explained(&refused(did, who, Status::from_code(code)), &off, factory);
                        assert!(!told.what.is_empty() && !told.next.is_empty(), "{code:#x} {did:?} {who:?}");
                        assert!(told.what.contains(Status::from_code(code).name()), "{told:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn transports_and_protocols_say_what_to_do_too() {
        let plain = discovery(Vec::new());
        let errors: Vec<(HostError, Kind)> = vec![
            (TransportError::NotADrive.into(), Kind::Unsupported),
            (TransportError::NoSecurityCommands(NoSecurity::Libata).into(), Kind::Unsupported),
            (TransportError::Refused(Refusal::Nvme(2)).into(), Kind::Faulty),
            (TransportError::TimedOut.into(), Kind::Faulty),
            (HostError::Misbehaved(Misbehaved::NoComId), Kind::Unsupported),
            (HostError::Misbehaved(Misbehaved::Closed), Kind::Faulty),
            (HostError::Unsupported("MBR shadow"), Kind::Unsupported),
        ];
        for (error, kind) in errors {
            let told = explained(&error, &plain, false);
            assert_eq!(told.kind, kind, "{error}");
            assert!(!told.next.is_empty() && !told.what.contains("; "), "{told:?}");
        }
    }

    #[test]
    fn authorities_have_names() {
        assert_eq!(name_of(authority::admin(1)), "administrator 1");
        assert_eq!(name_of(authority::user(9)), "user 9");
        assert_eq!(name_of(authority::USERS), "all users");
        assert_eq!(name_of(authority::admin_sp_admin(1)), "administrator 1 of the Admin SP");
    }
}
