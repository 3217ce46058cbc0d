# Runs in the guest: SCSI commands and a reset, as sg3_utils' programs send them.
#   DEVICE ready    says GOOD, or the sense: key/code/qualifier
#   DEVICE start, DEVICE stop
#   DEVICE reset    of this unit, and of nothing more where that fails
import ctypes, fcntl, sys

SG_IO, SG_SCSI_RESET = 0x2285, 0x2284
RESET_DEVICE, NO_ESCALATE = 1, 0x100


class Header(ctypes.Structure):
    _fields_ = [
        ("interface", ctypes.c_int), ("direction", ctypes.c_int), ("cdb_len", ctypes.c_ubyte),
        ("sense_room", ctypes.c_ubyte), ("iovecs", ctypes.c_ushort), ("len", ctypes.c_uint),
        ("data", ctypes.c_void_p), ("cdb", ctypes.c_void_p), ("sense", ctypes.c_void_p),
        ("timeout", ctypes.c_uint), ("flags", ctypes.c_uint), ("id", ctypes.c_int), ("user", ctypes.c_void_p),
        ("status", ctypes.c_ubyte), ("masked", ctypes.c_ubyte), ("message", ctypes.c_ubyte),
        ("sense_len", ctypes.c_ubyte), ("host", ctypes.c_ushort), ("driver", ctypes.c_ushort),
        ("left", ctypes.c_int), ("took", ctypes.c_uint), ("info", ctypes.c_uint),
    ]


def run(device, *cdb):
    command, sense = (ctypes.c_ubyte * 6)(*cdb), (ctypes.c_ubyte * 32)()
    header = Header(interface=ord("S"), direction=-1, cdb_len=6, sense_room=32, timeout=60_000)
    header.cdb, header.sense = ctypes.addressof(command), ctypes.addressof(sense)
    fcntl.ioctl(device, SG_IO, header)
    if header.status == 0 and header.host == 0:
        return "GOOD"
    return f"{sense[2] & 15:x}/{sense[12]:02x}/{sense[13]:02x}"


with open(sys.argv[1], "rb+", buffering=0) as device:
    if sys.argv[2] == "reset":
        fcntl.ioctl(device, SG_SCSI_RESET, ctypes.c_int(RESET_DEVICE | NO_ESCALATE))
    elif sys.argv[2] == "ready":
        print(run(device, 0, 0, 0, 0, 0, 0))
    else:
        done = run(device, 0x1B, 0, 0, 0, int(sys.argv[2] == "start"), 0)
        sys.exit(done != "GOOD")
