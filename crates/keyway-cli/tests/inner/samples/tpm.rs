//! Of TPMs, and of protectors that need one.

use super::super::Failure;
use super::{id, io, random};
use keyway_tpm::{BadResponse, Lockout, Pcrs, ResponseCode, TpmError};
use keyway_volume::bitlocker::Protection;
use keyway_volume::bitlocker::tpm::{BlobFault, PinFault, TpmProtectorError};
use std::time::Duration;

pub(super) fn tpm() -> Vec<Failure> {
    use TpmError as T;
    use TpmProtectorError as E;
    let lockout = |failures, seconds| Lockout {
        failures,
        limit: 32,
        forgets_one_after: Duration::from_secs(seconds),
        recovers_after: Duration::ZERO,
    };
    let address = || "/dev/tpmrm0".to_owned();
    let pcrs = Pcrs::SECURE_BOOT;
    let bad = |fault| T::BadResponse { command: "TPM2_Unseal", fault };
    let of_tpm = vec![
        T::NoTpm { address: address(), source: io(2) },
        T::NotPermitted { address: address(), source: io(13) },
        T::Busy { address: address() },
        T::Transport(io(5)),
        bad(BadResponse::TooShort),
        bad(BadResponse::UnknownTag(0xc4)),
        T::NotAuthentic { command: "TPM2_Unseal" },
        T::Refused { command: "TPM2_Unseal", code: ResponseCode(0x101) },
        T::MeasurementsChanged { pcrs },
        T::WrongAuthorization { lockout: None },
        T::WrongAuthorization { lockout: Some(lockout(32, 0)) },
        T::WrongAuthorization { lockout: Some(lockout(31, 0)) },
        T::WrongAuthorization { lockout: Some(lockout(1, 0)) },
        T::LockedOut { lockout: None },
        T::LockedOut { lockout: Some(lockout(32, 90)) },
        T::LockedOut { lockout: Some(lockout(32, 600)) },
        T::LockedOut { lockout: Some(lockout(32, 7200)) },
        T::NotThisTpm,
        T::OwnerPassword,
        T::Unfit(keyway_tpm::Unfit::DamagedObject),
        T::Unfit(keyway_tpm::Unfit::UnknownAlgorithms),
        T::Unfit(keyway_tpm::Unfit::UnknownPolicy),
        T::Unfit(keyway_tpm::Unfit::SecretTooLong { length: 200, limit: 128 }),
        T::Unfit(keyway_tpm::Unfit::NoSha256Bank(pcrs)),
        T::Random(random()),
    ];
    let mut all: Vec<Failure> = of_tpm.into_iter().map(|error| E::Tpm(error).into()).collect();
    all.extend(failures![
        E::NoProtector,
        E::OtherKind(id(1), Protection::Password),
        E::NeedsPin,
        E::NeedsStartupKey(id(1)),
        E::OtherStartupKey(id(1)),
        E::WrongStartupKey(id(1)),
        E::Pin(PinFault::Length(2)),
        E::Pin(PinFault::Characters),
        E::Pin(PinFault::NotUtf8),
        E::Blob(BlobFault::Length),
        E::Blob(BlobFault::Tpm12),
        E::Damaged("key"),
        E::OldPin,
        E::Stopped,
        E::Random(random()),
    ]);
    all
}
