//! How a sector device reaches the user: FUSE, loop, NBD.
