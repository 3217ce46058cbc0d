//! What kernels share whose registers hold the same bytes of many states, whatever their width.

/// An array of eight, written out: a closure would stay a call, because closures do not inherit
/// the processor features of the function they end up in.
macro_rules! eight {
    ($j:ident => $value:expr) => {
        [
            eight!(0, $j => $value), eight!(1, $j => $value), eight!(2, $j => $value), eight!(3, $j => $value),
            eight!(4, $j => $value), eight!(5, $j => $value), eight!(6, $j => $value), eight!(7, $j => $value),
        ]
    };
    ($number:literal, $j:ident => $value:expr) => {{
        let $j: usize = $number;
        $value
    }};
}
pub(super) use eight;

/// Exchanges byte `i` of register `j` with byte `j` of register `i` in every 64-bit lane: the interleaving instructions of
/// 8, 16, 32 and 64 bits, the lower half's and the upper's of each.
macro_rules! transposed {
    ($a:expr, [$lo8:ident $hi8:ident, $lo16:ident $hi16:ident, $lo32:ident $hi32:ident, $lo64:ident $hi64:ident]) => {{
        let a = $a;
        // The bytes of the even lanes (first four) and of the odd lanes: pairs, fours, eights.
        let b = [
            $lo8(a[0], a[1]),
            $lo8(a[2], a[3]),
            $lo8(a[4], a[5]),
            $lo8(a[6], a[7]),
            $hi8(a[0], a[1]),
            $hi8(a[2], a[3]),
            $hi8(a[4], a[5]),
            $hi8(a[6], a[7]),
        ];
        let c = [
            $lo16(b[0], b[1]),
            $lo16(b[2], b[3]),
            $hi16(b[0], b[1]),
            $hi16(b[2], b[3]),
            $lo16(b[4], b[5]),
            $lo16(b[6], b[7]),
            $hi16(b[4], b[5]),
            $hi16(b[6], b[7]),
        ];
        let d = [
            $lo32(c[0], c[1]),
            $hi32(c[0], c[1]),
            $lo32(c[2], c[3]),
            $hi32(c[2], c[3]),
            $lo32(c[4], c[5]),
            $hi32(c[4], c[5]),
            $lo32(c[6], c[7]),
            $hi32(c[6], c[7]),
        ];
        [
            $lo64(d[0], d[4]),
            $hi64(d[0], d[4]),
            $lo64(d[1], d[5]),
            $hi64(d[1], d[5]),
            $lo64(d[2], d[6]),
            $hi64(d[2], d[6]),
            $lo64(d[3], d[7]),
            $hi64(d[3], d[7]),
        ]
    }};
}
pub(super) use transposed;
