//! `cat`: decrypted bytes to standard output.

use crate::failure::Failure;
use crate::given::VolumeArgs;
use crate::output::{Output, STANDARD_OUTPUT, raw_stdout};
use crate::searching::SearchBar;
use crate::size;
use keyway::medium::must_exist;
use keyway::{Access, Caching};
use std::path::Path;

/// Write a volume's decrypted bytes to standard output
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ keyway cat secret.hc | sha256sum
  $ keyway cat /dev/sdb1 --offset 1M --length 64K --password-file pw.txt > piece.bin
  $ keyway cat bitlocker.img --recovery-password 'BitLocker Recovery Key.TXT' > plain.img")]
pub(crate) struct Args {
    /// First byte
    #[arg(long, value_name = "SIZE", value_parser = size::parse, default_value = "0")]
    offset: u64,
    /// How many bytes; all to the end when left out
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    length: Option<u64>,
    #[command(flatten)]
    target: VolumeArgs,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    must_exist(&args.target.volume)?;
    let bar = SearchBar::new();
    let open = args.target.locked(&bar)?.open(Access::ReadOnly, Caching::Buffered)?;
    out.warnings(&open.warnings);
    Ok(open.copy_out(args.offset, args.length, raw_stdout()?, Path::new(STANDARD_OUTPUT))?)
}
