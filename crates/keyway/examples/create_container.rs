//! Makes a VeraCrypt container, tells how far it is, and opens it.
//!
//! `cargo run --example create_container -- secret.hc 16 password.txt`
use keyway::create::{NewPlace, Stage, VeraCryptOptions};
use keyway::secrets::SecretFrom;
use keyway::{VeraCryptSecret, Volume};
use std::ops::ControlFlow;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, mebibytes, password_file] = arguments.as_slice() else {
        return Err("name a new file, its size in MiB, and a file with the password".into());
    };
    let from = SecretFrom::File(password_file.into());
    let secret = VeraCryptSecret::from(from.read()?);
    let place = NewPlace::file(path, mebibytes.parse::<u64>()? << 20, false)?;
    let made = VeraCryptOptions::default().create(&place, &secret, &|_: Stage, done, total| {
        eprint!("\r{done} of {total} bytes filled");
        ControlFlow::Continue(())
    })?;
    eprintln!();
    for note in made.notes {
        eprintln!("{note}");
    }
    let volume = Volume::open(path, &from.read()?)?;
    println!("{path}: {}, {} bytes", volume.info.cipher(), volume.device.size());
    Ok(())
}
