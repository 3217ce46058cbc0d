//! In-band authentication, DH-HMAC-CHAP: who connects proves to know a secret, without sending it.
//!
//! NVM Express Base Specification 2.0, 8.13. The exchange goes over Authentication Send and Receive, on each queue,
//! before anything else is answered there: the host says what it can ([`message::Negotiate`]), gets a challenge, replies
//! with an HMAC over it under a key made of the secret, and may challenge the controller in turn.
//!
//! Of what the specification offers, this speaks SHA-256, which every host must, and no Diffie-Hellman group: the
//! secret is of 32 random bytes or more, which no listener guesses. It proves who connects; **it neither encrypts nor
//! protects** what follows on the connection.

mod credentials;
mod exchange;
mod message;
mod secret;

pub use credentials::Credentials;
pub(super) use exchange::Exchange;
pub use secret::{AuthSecret, SecretFault};
