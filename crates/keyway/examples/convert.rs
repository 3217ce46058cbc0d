//! Encrypts the file system in a file in place, then decrypts it again, and shows how far it is in its own way.
//!
//! `cargo run --example convert -- disk.img password.txt`
use keyway::conversion::{ConversionRequest, Goal, NewVolume, plan};
use keyway::secrets::SecretFrom;
use keyway::{Note, Progress, Stage};
use std::error::Error;
use std::ops::ControlFlow;

/// A line that is written over and over.
struct Display;

impl Progress for Display {
    fn stage(&self, stage: Stage) {
        eprintln!("{stage:?}");
    }

    fn at(&self, done: u64, total: u64) -> ControlFlow<()> {
        eprint!("\r{done} of {total} bytes");
        ControlFlow::Continue(())
    }

    fn note(&self, note: &Note<'_>) {
        eprintln!("\n{note:?}");
    }
}

fn convert(path: &str, password_file: &str, goal: Goal) -> Result<(), Box<dyn Error>> {
    let mut request = ConversionRequest::new(path, goal);
    request.sources.password.password = Some(SecretFrom::File(password_file.into()));

    // What will be done, before it is: it can be shown, kept, or asked about.
    let conversion = plan(&request, &(), &Display)?;
    println!("{}", serde_json::to_string(&conversion.plan)?);

    let outcome = conversion.run(&(), &Display)?;
    eprintln!();
    println!("{}", serde_json::to_string(&outcome)?);
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, password_file] = arguments.as_slice() else {
        return Err("name a file with a file system in it, and a file with the password".into());
    };
    // Room for the volume's headers: the file gets larger, and its file system stays as it is.
    let mut new = NewVolume::default();
    new.grow = true;
    convert(path, password_file, Goal::Encrypt(new))?;
    convert(path, password_file, Goal::Decrypt)
}
