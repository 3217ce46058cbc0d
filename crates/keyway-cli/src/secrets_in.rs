//! The options that say where secrets come from.

use keyway::secrets::{PasswordSource, SecretFrom};
use std::path::{Path, PathBuf};

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

impl ProtectArgs {
    /// Where the hidden volume's secret comes from, where that is to be protected: because it was asked for, or named.
    pub(crate) fn wanted(&self, asked: bool) -> Option<PasswordSource> {
        let source = self.source();
        (asked || source.is_given()).then(|| source.named())
    }
}

impl SecretSource {
    /// Whether anything but a prompt was named.
    pub(crate) fn is_given(&self) -> bool {
        self.has_password() || !self.keyfiles.is_empty() || self.pim.is_some()
    }

    /// Whether a password was named.
    pub(crate) fn has_password(&self) -> bool {
        self.password_file.is_some() || self.password_fd.is_some()
    }

    /// Whether the password comes from standard input.
    pub(crate) fn uses_stdin(&self) -> bool {
        self.named().uses_stdin()
    }

    /// What the options name, for the library.
    pub(crate) fn named(&self) -> PasswordSource {
        let mut named = PasswordSource::new();
        named.password = match (&self.password_file, self.password_fd) {
            (Some(path), _) if path == Path::new("-") => Some(SecretFrom::StandardInput),
            (Some(path), _) => Some(SecretFrom::File(path.clone())),
            (None, descriptor) => descriptor.map(SecretFrom::Descriptor),
        };
        named.keyfiles.clone_from(&self.keyfiles);
        named.pim = self.pim;
        named
    }
}
