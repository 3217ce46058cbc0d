//! What opens a VeraCrypt or TrueCrypt volume: one password with keyfiles and a PIM.

use super::ChangeArgs;
use crate::failure::Failure;
use crate::given::VolumeArgs;
use crate::output::{Output, pairs, table};
use crate::searching::SearchBar;
use crate::shown::shown;
use crate::verbs::name_of;
use crate::volume;
use keyway::protectors::{SecretChange, SecretProtector, change_secret};
use keyway_engine::Access;
use keyway_store::Caching;
use keyway_volume::veracrypt::HashName;
use keyway_volume::{Info, VolumeError};
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
    let listed = SecretProtector::from(&secrets);
    let mut protector = json!(listed);
    if let (Some(fields), Ok(Value::Object(cost))) =
        (protector.as_object_mut(), serde_json::to_value(info.derivation))
    {
        fields.insert("hash".to_owned(), json!(info.hash));
        fields.extend(cost);
    }
    volume::warn(out, &open.warnings);
    out.result(&json!({"key_protectors": [protector]}), || {
        let pim = secrets.pim.map_or_else(|| "default".to_owned(), |pim| pim.to_string());
        let row = ["0", listed.kind, &secrets.keyfiles.len().to_string(), &pim, info.hash.name()];
        table(&["id", "kind", "keyfiles", "PIM", "hash"], 5, [row.map(str::to_owned).to_vec()])
    })
}

pub(super) fn change(args: &ChangeArgs, out: Output) -> Result<(), Failure> {
    let bar = SearchBar::new();
    let volume = args.target.locked(&bar)?;
    let mut change = SecretChange::default();
    change.secret = args.new.source().named();
    change.hash = args.new_hash;
    change.no_keyfiles = args.new_no_keyfiles;
    let changed = change_secret(&volume, &change)?;
    let document = Changed {
        volume: &args.target.volume,
        hidden: changed.hidden,
        hash: changed.hash,
        pim: changed.pim,
        header_copies: changed.copies,
    };
    out.result(&document, || {
        let rows = [
            ("  key derivation", changed.hash.to_string()),
            ("  keyfiles", changed.keyfiles.to_string()),
            ("  PIM", changed.pim.map_or_else(|| "default".to_owned(), |pim| pim.to_string())),
        ];
        format!(
            "{} opens like this from now on.\n{}Header backups made before still open with the \
             old one: make a new one with `keyway header backup` and destroy them.",
            shown(&args.target.volume),
            pairs(&rows)
        )
    })
}
