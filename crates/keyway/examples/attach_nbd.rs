//! Makes a VeraCrypt container and serves it to NBD clients on a socket, until Ctrl-C comes.
//!
//! `cargo run --example attach_nbd -- secret.hc 16 password.txt secret.sock`
use keyway::create::{NewPlace, VeraCryptOptions};
use keyway::secrets::SecretFrom;
use keyway::session::{Attachment, NbdAddress, SessionPlan};
use keyway::unlock::UnlockArguments;
use keyway::{Key, VeraCryptSecret};
use std::ops::ControlFlow;
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, mebibytes, password_file, socket] = arguments.as_slice() else {
        return Err("name a new file, its size in MiB, a file with the password, and a socket".into());
    };
    let password = SecretFrom::File(password_file.into()).read()?;
    let secret = VeraCryptSecret::from(password);
    let place = NewPlace::file(path, mebibytes.parse::<u64>()? << 20, false)?;
    VeraCryptOptions::default().create(&place, &secret, &|done: u64, total: u64| {
        eprint!("\r{done} of {total} bytes filled");
        ControlFlow::Continue(())
    })?;
    eprintln!();

    // What will be done, before it is: it can be shown, kept, or handed to another process.
    let over_nbd = Attachment::Nbd(NbdAddress::Unix(socket.into()));
    let plan = SessionPlan::new(Path::new(path), UnlockArguments::new(), over_nbd)?;
    eprintln!("{}", serde_json::to_string_pretty(&plan)?);
    plan.serve(Key::VeraCrypt(secret).into(), (), |session| {
        let state = &session.state;
        let at = state.socket.as_deref().unwrap_or(Path::new("nowhere"));
        println!("{} bytes at {}", state.size_bytes, at.display());
    })?;
    Ok(())
}
