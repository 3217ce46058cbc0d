//! What the rounds ask of vectors, with 128, 256 and 512 bits.

mod apart;
mod arithmetic;
mod bytes;
mod lanes;
mod nibbles;
