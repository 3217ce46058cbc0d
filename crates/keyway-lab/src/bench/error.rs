//! Why nothing could be measured.

use keyway_cipher::CipherError;
use keyway_error::explain;

/// Why nothing could be measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BenchError {
    /// None of the kernels serves any of the ciphers.
    #[error("no kernel that was named serves these ciphers")]
    NoKernel,
    /// This machine has no kernel of that name.
    #[error("this machine has no kernel called {name:?}")]
    NoSuchKernel {
        /// The name.
        name: String,
        /// Those that it has.
        present: String,
    },
    /// More than the memory that is free.
    #[error(
        "{threads} threads with {} each, and as much again to copy to, are more than the memory \
         that is free",
        keyway_store::size::words(*.buffer as u64)
    )]
    Memory {
        /// Bytes of each thread's buffer.
        buffer: usize,
        /// Threads.
        threads: u16,
    },
    /// A cipher could not be made.
    #[error(transparent)]
    Cipher(#[from] CipherError),
}

explain! { BenchError, through Cipher {
    Self::NoKernel => [Usage Request, LeaveKernelOut],
    Self::NoSuchKernel { present, .. } => [Usage Request, TakeKernel { kernels: present.clone() }],
    Self::Memory { .. } => [Usage Request, SmallerBuffers],
} }
