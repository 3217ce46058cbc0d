//! What the kernel tells of this machine: memory, and what the processor is and can.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;

/// Memory in bytes, in all and to be had without swapping, as `/proc/meminfo` says.
pub fn memory() -> (Option<u64>, Option<u64>) {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    (meminfo(&text, "MemTotal:"), meminfo(&text, "MemAvailable:"))
}

/// Bytes of huge pages that this process has of its own, as `/proc/self/smaps_rollup` says: those that the kernel gave
/// it when it asked, and those that were set aside. Asked once, it can be asked again by a process that opens nothing any
/// more.
pub fn huge_pages() -> Option<u64> {
    static ROLLUP: OnceLock<Option<File>> = OnceLock::new();
    let file = ROLLUP.get_or_init(|| File::open("/proc/self/smaps_rollup").ok()).as_ref()?;
    // Some twenty lines of 30 bytes.
    let mut text = [0; 4096];
    let read = file.read_at(&mut text, 0).ok()?;
    let text = std::str::from_utf8(text.get(..read)?).ok()?;
    let figure = |key| meminfo(text, key);
    Some(figure("AnonHugePages:")?.saturating_add(figure("Private_Hugetlb:")?))
}

fn meminfo(text: &str, key: &str) -> Option<u64> {
    let rest = text.lines().find_map(|l| l.strip_prefix(key))?;
    let kib: u64 = rest.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

/// The processor's name and those of its features that the kernels use.
pub fn processor() -> (String, Vec<String>) {
    /// Names as `/proc/cpuinfo` has them in `Features`.
    #[cfg(target_arch = "aarch64")]
    const TELLING: &[&str] = &["asimd", "aes", "sha2", "sha3", "sha512"];
    /// Names as `/proc/cpuinfo` has them in `flags`.
    #[cfg(not(target_arch = "aarch64"))]
    const TELLING: &[&str] = &[
        "aes",
        "sse4_1",
        "ssse3",
        "avx2",
        "vaes",
        "vpclmulqdq",
        "gfni",
        "avx512f",
        "avx512bw",
        "avx512vl",
        "sha_ni",
    ];
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let value = |key: &str| {
        text.lines().find_map(|l| l.split_once(':').filter(|(k, _)| k.trim() == key)).map(|(_, v)| v.trim())
    };
    let name = value("model name").or_else(|| value("Processor")).unwrap_or("unknown").to_owned();
    let flags: Vec<&str> =
        value("flags").or_else(|| value("Features")).unwrap_or_default().split_whitespace().collect();
    (name, TELLING.iter().filter(|f| flags.contains(f)).map(|f| (*f).to_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meminfo_lines() {
        let text = "MemTotal:        8000 kB\nMemFree:  1 kB\nMemAvailable:    4000 kB\n";
        assert_eq!(meminfo(text, "MemTotal:"), Some(8_192_000));
        assert_eq!(meminfo(text, "MemAvailable:"), Some(4_096_000));
        assert_eq!(meminfo(text, "SwapTotal:"), None);
    }
}
