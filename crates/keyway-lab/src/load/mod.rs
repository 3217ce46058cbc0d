//! The load generator: keeps up a fixed number of requests and times each.
