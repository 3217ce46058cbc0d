//! Opens an encrypted image, lists its files and copies them all to a new folder, with no mount and no root.
//!
//! `cargo run --example read_files -- stick.img password.txt copied`
use keyway::Volume;
use keyway::files::Taken;
use keyway::secrets::SecretFrom;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [image, password_file, folder] = arguments.as_slice() else {
        return Err("name an image, a file with its password, and a new folder".into());
    };
    let password = SecretFrom::File(password_file.into()).read()?;
    let mut files = Volume::open(image, &password)?.into_files()?;
    let root = files.find(&[])?;
    for entry in files.entries(&root)?.entries {
        println!("{:>12}  {}", entry.size, entry.name.display());
    }
    let new = std::path::absolute(folder)?;
    let (Some(into), Some(name)) = (new.parent(), new.file_name()) else {
        return Err("the new folder needs a name".into());
    };
    let (got, all) = files.get(&root, into, name, &mut |taken| {
        if let Taken::Failed(path, error) = taken {
            eprintln!("{}: {error}", path.display());
        }
    })?;
    println!("{} files copied{}", got.files, if all { "" } else { ", not all of them" });
    Ok(())
}
