//! The speed of ciphers, kernel by kernel.

use super::clock;
use super::race::{Setting, Speed, Work, race, rounded};
use super::subject::BenchSubject;
use keyway_cipher::{CipherError, Kernel, SectorCipher};
use serde::Serialize;

/// What one kernel does with one cipher.
#[derive(Serialize, Debug, Clone)]
pub struct CipherRow {
    /// The cipher's or cascade's name.
    pub cipher: String,
    /// The kernel's name.
    pub kernel: &'static str,
    /// Threads that cipher at once, each a buffer of its own.
    pub threads: u16,
    /// Bytes ciphered at a time.
    pub buffer_bytes: u64,
    /// Bytes of a sector.
    pub sector_bytes: u32,
    /// 10^6 bytes a second, the threads' together.
    pub encrypt_mb_s: f64,
    /// The same of the other direction.
    pub decrypt_mb_s: f64,
    /// How far the turns lie from that, which is their median, in percent of it.
    pub encrypt_spread_percent: f64,
    /// The same of the other direction.
    pub decrypt_spread_percent: f64,
    /// One thread only, and where the core's clock can be known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encrypt_cycles_per_byte: Option<f64>,
    /// The same of the other direction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decrypt_cycles_per_byte: Option<f64>,
    /// Whether this kernel would be chosen by itself.
    pub chosen: bool,
}

impl CipherRow {
    /// The slower direction.
    pub fn mb_s(&self) -> f64 {
        self.encrypt_mb_s.min(self.decrypt_mb_s)
    }

    /// Both directions together, as VeraCrypt's benchmark tells it.
    pub fn mean_mb_s(&self) -> f64 {
        (self.encrypt_mb_s + self.decrypt_mb_s) / 2.0
    }

    /// The larger of both directions'.
    pub fn spread_percent(&self) -> f64 {
        self.encrypt_spread_percent.max(self.decrypt_spread_percent)
    }

    /// The slower direction's.
    pub fn cycles_per_byte(&self) -> Option<f64> {
        Some(self.encrypt_cycles_per_byte?.max(self.decrypt_cycles_per_byte?))
    }
}

/// Measures a cipher in each of the kernels that have something of their own for it, side by side.
pub(super) fn rows(
    subject: BenchSubject,
    kernels: &[Kernel],
    setting: Setting,
) -> Result<Vec<CipherRow>, CipherError> {
    let mut ciphers: Vec<SectorCipher> = Vec::new();
    for &kernel in kernels {
        ciphers.extend(subject.cipher(kernel)?);
    }
    let chosen = subject.chosen()?;
    let both: Vec<_> = ciphers
        .iter()
        .map(|cipher| {
            (
                |units: &mut [u8]| cipher.encrypt_sectors(units, 0),
                |units: &mut [u8]| cipher.decrypt_sectors(units, 0),
            )
        })
        .collect();
    let works: Vec<Work<'_>> =
        both.iter().flat_map(|(encrypt, decrypt)| [encrypt as Work<'_>, decrypt as Work<'_>]).collect();
    let clock = || if setting.threads == 1 { clock::hertz() } else { None };
    let before = clock();
    let speeds = race(setting, &works);
    let hertz = before.into_iter().chain(clock()).max_by(f64::total_cmp);
    let row = |(cipher, speeds): (&SectorCipher, &[Speed])| {
        let [encrypt, decrypt] = *speeds else { return None };
        let cycles = |mb_s: f64| hertz.map(|hertz| (hertz / (mb_s * 1e6) * 1000.0).round() / 1000.0);
        Some(CipherRow {
            cipher: subject.to_string(),
            kernel: cipher.kernel().name(),
            threads: setting.threads,
            buffer_bytes: setting.buffer as u64,
            sector_bytes: cipher.unit_bytes(),
            encrypt_mb_s: rounded(encrypt.mb_s),
            decrypt_mb_s: rounded(decrypt.mb_s),
            encrypt_spread_percent: rounded(encrypt.spread_percent),
            decrypt_spread_percent: rounded(decrypt.spread_percent),
            encrypt_cycles_per_byte: cycles(encrypt.mb_s),
            decrypt_cycles_per_byte: cycles(decrypt.mb_s),
            chosen: cipher.kernel() == chosen,
        })
    };
    Ok(ciphers.iter().zip(speeds.chunks_exact(2)).filter_map(row).collect())
}
