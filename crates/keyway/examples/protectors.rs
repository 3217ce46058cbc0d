//! Makes a BitLocker volume that a password opens, gives it a recovery password, takes another password for the first one,
//! and opens it with the recovery password.
//!
//! `cargo run --example protectors -- stick.img 64 password.txt new-password.txt recovery.txt`
use keyway::bitlocker::{NewProtectors, Protection};
use keyway::create::{BitLockerOptions, NewPlace};
use keyway::protectors::{ProtectorRequest, SecretChange, change, list};
use keyway::secrets::{NewTpmSource, PasswordSource, SecretFrom};
use keyway::{Access, Caching, LockedVolume};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, mebibytes, password_file, new_file, recovery_file] = arguments.as_slice() else {
        return Err("name a new file, its size in MiB, two files with passwords, and a new one".into());
    };
    let password = SecretFrom::File(password_file.into());
    let opens = NewProtectors { password: Some(password.read()?), ..NewProtectors::default() };
    let mut options = BitLockerOptions::default();
    options.quick = true;
    let place = NewPlace::file(path, mebibytes.parse::<u64>()? << 20, false)?;
    options.create(&place, &opens, &())?;

    let mut volume = LockedVolume::new(path, &());
    volume.sources.password.password = Some(password);
    let add = ProtectorRequest::Add {
        kind: Protection::RecoveryPassword,
        to: Some(recovery_file.into()),
        secret: PasswordSource::new(),
        tpm: NewTpmSource::default(),
    };
    let plan = change(&volume, add)?;
    println!("{}", serde_json::to_string(&plan)?);
    plan.run()?;

    let mut secret = SecretChange::default();
    secret.secret.password = Some(SecretFrom::File(new_file.into()));
    change(&volume, ProtectorRequest::Change { id: None, to: None, tpm: Default::default(), secret })?
        .run()?;
    println!("{}", serde_json::to_string(&list(&volume)?)?);

    let mut found = LockedVolume::new(path, &());
    found.sources.recovery_password = Some(recovery_file.into());
    let opened = found.open(Access::ReadOnly, Caching::Buffered)?;
    println!("{} bytes, opened by its recovery password", opened.device.size());
    Ok(())
}
