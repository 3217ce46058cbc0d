//! How secrets come in: from a file, a descriptor or the terminal, straight into locked memory.

use crate::failure::{Exit, Failure};
use crate::prompt;
use keyway_secret::SecretBytes;
use keyway_volume::Secrets;
use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// Longest password we read, in bytes. Formats have limits of their own (VeraCrypt: 128).
const PASSWORD_LIMIT: usize = 4096;

/// Where one volume's secret comes from.
#[derive(Debug, Clone, Default)]
pub(crate) struct SecretSource {
    /// A file whose content is the password; `-` is standard input.
    pub(crate) password_file: Option<PathBuf>,
    /// An open descriptor to read the password from.
    pub(crate) password_fd: Option<u32>,
    /// Keyfiles and folders of keyfiles.
    pub(crate) keyfiles: Vec<PathBuf>,
    /// VeraCrypt's personal iterations multiplier.
    pub(crate) pim: Option<u32>,
}

/// Declares the four options of one secret, each with a prefix: `--new-password-file` and so on.
macro_rules! secret_args {
    ($(#[$doc:meta])* $name:ident, $prefix:literal, $heading:literal, $whose:literal) => {
        $(#[$doc])*
        #[derive(clap::Args, Debug, Clone, Default)]
        #[group(id = concat!($prefix, "secret"))]
        #[command(next_help_heading = $heading)]
        pub(crate) struct $name {
            #[arg(help = concat!("Read the password ", $whose, " from FILE; `-` is standard input. One trailing newline is dropped"),
                id = concat!($prefix, "password-file"), long = concat!($prefix, "password-file"), value_name = "FILE")]
            password_file: Option<PathBuf>,
            #[arg(help = concat!("Read the password ", $whose, " from the open descriptor N"),
                id = concat!($prefix, "password-fd"), long = concat!($prefix, "password-fd"), value_name = "N",
                conflicts_with = concat!($prefix, "password-file"))]
            password_fd: Option<u32>,
            #[arg(help = concat!("A keyfile ", $whose, "; a folder means its files. Repeatable"),
                id = concat!($prefix, "keyfile"), long = concat!($prefix, "keyfile"), value_name = "PATH")]
            keyfiles: Vec<PathBuf>,
            #[arg(help = concat!("The PIM ", $whose),
                id = concat!($prefix, "pim"), long = concat!($prefix, "pim"), value_name = "N")]
            pim: Option<u32>,
        }

        impl $name {
            /// Where the secret comes from.
            pub(crate) fn source(&self) -> SecretSource {
                SecretSource {
                    password_file: self.password_file.clone(),
                    password_fd: self.password_fd,
                    keyfiles: self.keyfiles.clone(),
                    pim: self.pim,
                }
            }
        }
    };
}

secret_args!(
    /// The volume's own secret.
    SecretArgs, "", "Secret", "of the volume"
);
secret_args!(
    /// The secret of the hidden volume that an outer one must not damage.
    ProtectArgs, "protect-", "Protected hidden volume", "of the hidden volume"
);
secret_args!(
    /// The secret of the hidden volume, beside the outer one's.
    HiddenArgs, "hidden-", "Hidden volume", "of the hidden volume"
);
secret_args!(
    /// The secret that replaces the present one.
    NewArgs, "new-", "New secret", "to be set"
);

impl SecretSource {
    /// Whether anything but a prompt was named.
    pub(crate) fn is_given(&self) -> bool {
        self.has_password() || !self.keyfiles.is_empty() || self.pim.is_some()
    }

    /// Whether a password was named.
    pub(crate) fn has_password(&self) -> bool {
        self.password_file.is_some() || self.password_fd.is_some()
    }

    /// The keyfiles, as a process with another working directory finds them.
    pub(crate) fn keyfiles(&self) -> Result<Vec<PathBuf>, Failure> {
        absolute(&self.keyfiles)
    }

    /// Whether the password comes from standard input.
    pub(crate) fn uses_stdin(&self) -> bool {
        self.password_file.as_deref() == Some(Path::new("-")) || self.password_fd == Some(0)
    }

    /// Reads the secret of something that exists; asks on the terminal where nothing was named.
    pub(crate) fn read(&self, what: &str) -> Result<Secrets, Failure> {
        self.read_with(|| prompt::password(&format!("Password of {what}: ")))
    }

    /// Reads a secret to be set: a prompt asks twice.
    pub(crate) fn read_new(&self, what: &str) -> Result<Secrets, Failure> {
        self.read_with(|| {
            let first = prompt::password(&format!("New password of {what}: "))?;
            let second = prompt::password("The same again: ")?;
            if first.same_as(&second) {
                Ok(first)
            } else {
                Err(Failure::usage("the two passwords differ", "try again and type them slowly"))
            }
        })
    }

    fn read_with(&self, ask: impl FnOnce() -> Result<SecretBytes, Failure>) -> Result<Secrets, Failure> {
        let password = if let Some(path) = &self.password_file {
            if path == Path::new("-") {
                // Not `std::io::stdin`: its buffer would keep a copy.
                let input = io::stdin().as_fd().try_clone_to_owned().map(File::from);
                let name = Path::new("standard input");
                read_password(input.map_err(|e| Failure::io("read", name, &e))?, name)?
            } else {
                let file = File::open(path).map_err(|e| Failure::io("open", path, &e))?;
                read_password(file, path)?
            }
        } else if let Some(fd) = self.password_fd {
            // Opened again by name: a bare number can't be turned into a descriptor safely.
            let path = PathBuf::from(format!("/proc/self/fd/{fd}"));
            let file = File::open(&path).map_err(|e| {
                Failure::usage(
                    format!("descriptor {fd} can't be read: {e}"),
                    "open it before: keyway … --password-fd 3 3<FILE",
                )
            })?;
            read_password(file, &path)?
        } else if io::stdin().is_terminal() {
            ask()?
        } else if !self.keyfiles.is_empty() {
            SecretBytes::zeroed(0)
        } else {
            return Err(Failure::usage(
                "no password was given and there is no terminal to ask on",
                "use --password-file FILE (`-` is standard input), --password-fd N or --keyfile PATH",
            ));
        };
        Ok(Secrets { password, keyfiles: self.keyfiles()?, pim: self.pim })
    }
}

/// Refuses two secrets from one standard input.
pub(crate) fn one_stdin<'a>(sources: impl IntoIterator<Item = &'a SecretSource>) -> Result<(), Failure> {
    if sources.into_iter().filter(|s| s.uses_stdin()).count() > 1 {
        return Err(Failure::usage(
            "two passwords can't both come from standard input",
            "give one of them with --…password-fd N or in a file",
        ));
    }
    Ok(())
}

/// Paths as a process with another working directory finds them.
fn absolute(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    paths.iter().map(|p| std::path::absolute(p).map_err(|e| Failure::io("find", p, &e))).collect()
}

fn read_password(reader: impl Read, from: &Path) -> Result<SecretBytes, Failure> {
    let mut password = SecretBytes::read_from(reader, PASSWORD_LIMIT).map_err(|e| match e.kind() {
        io::ErrorKind::InvalidData => Failure::new(
            Exit::Usage,
            format!("the password in {} is longer than {PASSWORD_LIMIT} bytes", from.display()),
            "use a shorter password, or give the file as --keyfile",
        ),
        _ => Failure::io("read", from, &e),
    })?;
    if password.last() == Some(&b'\n') {
        let len = password.len() - 1;
        password.truncate(len);
    }
    Ok(password)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_newline_goes() {
        let read = |text: &[u8]| read_password(text, Path::new("test")).expect("short").to_vec();
        assert_eq!(read(b"secret\n"), b"secret");
        assert_eq!(read(b"secret\n\n"), b"secret\n");
        assert_eq!(read(b"secret"), b"secret");
        assert_eq!(read(b""), b"");
    }

    #[test]
    fn an_endless_password_is_wrong_usage() {
        let error = read_password(io::repeat(7), Path::new("test")).err().expect("too long");
        assert_eq!(error.exit, Exit::Usage);
    }
}
