//! FUSE, loop devices and sessions against the real kernel.

mod child;
mod durable;
mod file;
mod random;
mod rig;
mod session;
