//! Serves a file as a volume under a fixed key: for tests and for measuring attachments alone.
//!
//! `serve FILE fuse|loop|nbd [MOUNTPOINT]` prints one JSON line when it is ready and serves until
//! it is closed or killed. `KEYWAY_SERVE=direct` bypasses the page cache below.

use keyway_attach::AttachError;
use keyway_attach::session::{AttachPlan, Attachment, MountPlan, NbdAddress, run};
use keyway_cipher::{LayerKey, Mode, SectorCipher, Spec};
use keyway_engine::{Access, Device, Layout, Mapping, Segment};
use keyway_store::{Caching, FileStore, OpenMode, Store};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, way, rest @ ..] = arguments.as_slice() else {
        eprintln!("serve FILE fuse|loop|nbd [MOUNTPOINT]");
        return ExitCode::from(2);
    };
    match serve(Path::new(file), way, rest.first().map(PathBuf::from)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("serve: {e}");
            ExitCode::from(e.downcast_ref::<AttachError>().map_or(1, AttachError::exit_code))
        }
    }
}

fn serve(file: &Path, way: &str, mount_point: Option<PathBuf>) -> Result<(), Box<dyn Error>> {
    let plan = AttachPlan {
        volume: file.to_owned(),
        attachment: match way {
            "fuse" => Attachment::Fuse { loop_device: false },
            "loop" => Attachment::Fuse { loop_device: true },
            "nbd" => Attachment::Nbd(NbdAddress::Session),
            other => return Err(format!("unknown way {other}").into()),
        },
        mount: mount_point.map(|at| MountPlan { at, filesystem: None }),
        details: serde_json::Value::Null,
    };
    run(Arc::new(device(file)?), plan, |state| {
        println!("{}", serde_json::to_string(state).unwrap_or_default());
    })?;
    Ok(())
}

/// The whole file under AES-256 in XTS mode with 512-byte units, as VeraCrypt encrypts.
fn device(file: &Path) -> Result<Device, Box<dyn Error>> {
    let direct = std::env::var_os("KEYWAY_SERVE").is_some_and(|v| v == "direct");
    let caching = if direct { Caching::Direct } else { Caching::Buffered };
    let store = FileStore::open(file, OpenMode::ReadWrite, caching)?;
    let spec = Spec { chain: "aes".parse()?, mode: Mode::Xts, unit_bytes: 512 };
    let cipher = SectorCipher::new(&spec, &[LayerKey { key: &[1; 32], tweak_key: &[2; 32] }])?;
    let mapping = Mapping::Encrypted { store_offset: 0, first_unit: 0, cipher: Arc::new(cipher) };
    let layout = Layout::new(512, vec![Segment { start: 0, len: store.size() / 512 * 512, mapping }])?;
    Ok(Device::new(Box::new(store), layout, Access::ReadWrite)?)
}
