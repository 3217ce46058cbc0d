//! What opens a VeraCrypt or TrueCrypt volume: one password with keyfiles and a PIM.

use super::ChangeArgs;
use crate::failure::Failure;
use crate::given::VolumeArgs;
use crate::output::{Output, pairs, table};
use crate::secrets_in::one_stdin;
use crate::system_drive::SystemDrive;
use crate::verbs::name_of;
use crate::volume;
use keyway_engine::Access;
use keyway_secret::SecretBytes;
use keyway_store::Caching;
use keyway_volume::veracrypt::{self, HashName};
use keyway_volume::{Info, Secrets, VolumeError};
use serde::Serialize;
use serde_json::{Value, json};
use std::path::Path;

#[derive(Serialize)]
struct Changed<'a> {
    volume: &'a Path,
    hidden: bool,
    hash: HashName,
    pim: Option<u32>,
    header_copies: usize,
}

pub(super) fn list(args: &VolumeArgs, out: Output) -> Result<(), Failure> {
    volume::must_exist(&args.volume)?;
    let source = args.source();
    if !source.is_given() {
        let store = volume::store(&args.volume, Access::ReadOnly, Caching::Buffered)?;
        let seen = keyway_volume::inspect(&store).map_err(|e| volume::about(&args.volume, e))?;
        if let Some(reason) = seen.not_a_volume {
            return Err(volume::about(&args.volume, VolumeError::NotAVolume(reason)));
        }
        let document = json!({"key_protectors": [{"id": "0", "kind": "password"}]});
        return out.result(&document, || {
            "A VeraCrypt or TrueCrypt volume has one: a password, keyfiles, or both, with an optional PIM.\n\
             Which of these it is can't be seen from outside."
                .to_owned()
        });
    }
    let secrets = source.read(&name_of(&args.volume))?;
    let which = args.which();
    let open = volume::open(&which, Access::ReadOnly, Caching::Buffered, &secrets, None)?;
    let Info::VeraCrypt(info) = &open.info else {
        return Err(Failure::usage("only a VeraCrypt or TrueCrypt volume opens so", "leave out the secret"));
    };
    let mut protector = volume::protector_of(&secrets);
    if let (Some(fields), Ok(Value::Object(cost))) =
        (protector.as_object_mut(), serde_json::to_value(info.derivation))
    {
        fields.insert("hash".to_owned(), json!(info.hash));
        fields.extend(cost);
    }
    volume::warn(out, &open.warnings);
    out.result(&json!({"key_protectors": [protector]}), || {
        let kind = if secrets.password.is_empty() { "keyfiles" } else { "password" };
        let pim = secrets.pim.map_or_else(|| "default".to_owned(), |pim| pim.to_string());
        let row = ["0", kind, &secrets.keyfiles.len().to_string(), &pim, info.hash.name()];
        table(&["id", "kind", "keyfiles", "PIM", "hash"], 5, [row.map(str::to_owned).to_vec()])
    })
}

pub(super) fn change(args: &ChangeArgs, out: Output) -> Result<(), Failure> {
    volume::must_exist(&args.target.volume)?;
    volume::must_be_writable(&args.target.volume)?;
    let (own, new) = (args.target.source(), args.new.source());
    one_stdin([&own, &new])?;
    let name = name_of(&args.target.volume);
    let old = own.read(&name)?;
    let named = args.new_hash.is_some() || args.new_no_keyfiles || new.is_given();
    let read = if new.has_password() || !named {
        new.read_new(&name)?
    } else {
        let keyfiles = new.keyfiles()?;
        Secrets { password: SecretBytes::copy_of(&old.password), keyfiles, pim: new.pim }
    };
    let keeps_keyfiles = read.keyfiles.is_empty() && !args.new_no_keyfiles;
    let wanted = Secrets {
        password: read.password,
        keyfiles: if keeps_keyfiles { old.keyfiles.clone() } else { read.keyfiles },
        pim: read.pim.or(old.pim),
    };
    let which = args.target.which();
    let store = volume::store(&args.target.volume, Access::ReadWrite, Caching::Direct)?;
    let drive = SystemDrive::of(&which)?;
    let request = which.request(&old, None, drive.as_ref());
    let changed = veracrypt::change(&store, &request, &wanted, args.new_hash)
        .map_err(|e| volume::about(&args.target.volume, e))?;
    let document = Changed {
        volume: &args.target.volume,
        hidden: changed.hidden,
        hash: changed.hash,
        pim: wanted.pim,
        header_copies: changed.copies,
    };
    out.result(&document, || {
        let rows = [
            ("  key derivation", changed.hash.to_string()),
            ("  keyfiles", wanted.keyfiles.len().to_string()),
            ("  PIM", wanted.pim.map_or_else(|| "default".to_owned(), |pim| pim.to_string())),
        ];
        format!(
            "{} opens like this from now on.\n{}Header backups made before still open with the \
             old one: make a new one with `keyway header backup` and destroy them.",
            args.target.volume.display(),
            pairs(&rows)
        )
    })
}
