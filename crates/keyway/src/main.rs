#![doc = "Keyway opens, makes and serves encrypted volumes."]
fn main() {}
