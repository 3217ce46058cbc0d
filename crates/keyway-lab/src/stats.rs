//! Statistics on plain numbers: medians, bootstrap intervals, verdicts.
