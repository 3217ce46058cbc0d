//! Ioctls whose answer is the system call's own result.

use rustix::ffi::c_void;
use rustix::ioctl::{Ioctl, IoctlOutput, Opcode};

/// The ioctl with the number that the system call returns for its answer.
pub(crate) struct ReturnsNumber<I>(pub(crate) I);

// SAFETY: opcode and pointer are those of the ioctl inside, which vouches for them; only the answer is taken from the
// system call's result instead.
unsafe impl<I: Ioctl> Ioctl for ReturnsNumber<I> {
    type Output = i32;
    const IS_MUTATING: bool = I::IS_MUTATING;
    fn opcode(&self) -> Opcode {
        self.0.opcode()
    }
    fn as_ptr(&mut self) -> *mut c_void {
        self.0.as_ptr()
    }
    unsafe fn output_from_ptr(out: IoctlOutput, _: *mut c_void) -> rustix::io::Result<i32> {
        Ok(out)
    }
}
