//! `cat`: decrypted bytes to standard output.

use crate::failure::STANDARD_OUTPUT;
use crate::output::raw_stdout;
use crate::verbs::*;
use keyway::Caching;

/// Write a volume's decrypted bytes to standard output
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// First byte
    #[arg(long, value_name = "SIZE", value_parser = size::parse, default_value = "0")]
    offset: u64,
    /// How many bytes; all to the end when left out
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    length: Option<u64>,
    #[command(flatten)]
    confined: SandboxArgs,
    #[command(flatten)]
    target: VolumeArgs,
}

pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    if std::io::IsTerminal::is_terminal(&std::io::stdout()) {
        out.warn(&said("cat terminal", &Value::Null));
    }
    let volume = args.confined.around(args.target.locked()?);
    volume.must_reach(args.offset)?;
    let open = volume.open(Access::ReadOnly, Caching::Buffered)?;
    out.warnings(&open.warnings);
    Ok(open.copy_out(args.offset, args.length, raw_stdout()?, Path::new(STANDARD_OUTPUT))?)
}
