//! Makes a VeraCrypt container with a cipher, a hash and a file system of one's choice, tells how far it is, and opens it.
//!
//! `cargo run --example create_container -- secret.hc 16 password.txt aes-twofish whirlpool fat`
use keyway::create::{NewPlace, VeraCryptOptions};
use keyway::secrets::SecretFrom;
use keyway::{VeraCryptSecret, Volume};
use std::ops::ControlFlow;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, mebibytes, password_file, cipher, hash, filesystem] = arguments.as_slice() else {
        return Err(
            "name a new file, its size in MiB, a file with the password, a cipher, a hash, a file system"
                .into(),
        );
    };
    let from = SecretFrom::File(password_file.into());
    let secret = VeraCryptSecret::from(from.read()?);
    let place = NewPlace::file(path, mebibytes.parse::<u64>()? << 20, false)?;
    let mut options = VeraCryptOptions::default();
    (options.cipher, options.hash) = (cipher.parse()?, hash.parse()?);
    options.filesystem = Some(filesystem.parse()?);
    let made = options.create(&place, &secret, &|done: u64, total: u64| {
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
