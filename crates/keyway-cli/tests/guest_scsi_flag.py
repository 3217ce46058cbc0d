# flag.py STRUCTURE FLAG ADDRESS FILE: where a one-bit flag of one of the kernel's structures is, by the kernel's own
# description of its types (BTF), written to FILE as an address and a mask.
import glob
import struct
import sys

structure, flag, address, into = sys.argv[1:]
# Bytes behind each kind's head, beside those of each member (Documentation/bpf/btf.rst).
FIXED = {1: 4, 3: 12, 14: 4, 17: 4}
EACH = {4: 12, 5: 12, 6: 8, 13: 8, 15: 12, 19: 12}


def described(path, base):
    data = open(path, "rb").read()
    header, types_at, types_len, text_at, text_len = struct.unpack_from("<5I", data, 4)
    text = data[header + text_at : header + text_at + text_len]
    both = base + text
    name = lambda at: both[at : both.index(b"\0", at)].decode()
    at, end = header + types_at, header + types_at + types_len
    while at < end:
        called, info, _ = struct.unpack_from("<3I", data, at)
        kind, members = info >> 24 & 31, info & 0xFFFF
        at += 12
        if kind == 4 and name(called) == structure:
            for n in range(members):
                member, _, place = struct.unpack_from("<3I", data, at + 12 * n)
                if name(member) == flag:
                    # With bit fields, the upper byte is their width.
                    return text, place & 0xFFFFFF if info >> 31 else place
        at += FIXED.get(kind, 0) + EACH.get(kind, 0) * members
    return text, None


base, bit = described("/sys/kernel/btf/vmlinux", b"")
if bit is None:
    _, bit = described("/sys/kernel/btf/scsi_mod", base)
where = int(address, 16) + bit // 8
open(into, "w").write(f"{where:x} {1 << bit % 8:x}")
