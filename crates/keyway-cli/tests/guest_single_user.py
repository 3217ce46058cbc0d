"""The ioctls of Linux's sed-opal that Single User Mode takes (include/uapi/linux/sed-opal.h), one for each run.

opal.py DEVICE VERB ARGUMENT...
"""

import fcntl
import os
import struct
import sys

# OPAL_RO, OPAL_RW, OPAL_LK
STATES = {"RO": 1, "RW": 2, "LK": 4}


def key(secret, range_number=0):
    """struct opal_key: range, length, type, padding, bytes."""
    return struct.pack("BBB5x256s", range_number, len(secret), 0, secret)


def session(secret, range_number, single_user=True):
    """struct opal_session_info: in Single User Mode the range says who; else it is Admin1."""
    who = range_number + 1 if single_user else 0
    return struct.pack("II", int(single_user), who) + key(secret, range_number)


def ioctl(device, number, data):
    """_IOW('p', number, data); what the drive refuses is a positive status, not an errno."""
    request = 1 << 30 | len(data) << 16 | ord("p") << 8 | number
    status = fcntl.ioctl(device, request, bytearray(data), True)
    if status != 0:
        sys.exit(f"status {status}")


def main():
    device = os.open(sys.argv[1], os.O_RDWR)
    verb, arguments = sys.argv[2], sys.argv[3:]

    def secret(n):
        return arguments[n].encode()

    def number(n):
        return int(arguments[n])

    def user_or_admin(name):
        return session(secret(1), number(0), verb == name)

    if verb == "own":
        ioctl(device, 222, key(secret(0)))
    elif verb == "activate":
        ranges = bytes(int(n) for n in arguments[1:])
        ioctl(device, 223, key(secret(0)) + struct.pack("IB9s2x", 1, len(ranges), ranges))
    elif verb == "user-pin":
        ioctl(device, 224, session(secret(1), number(0)) + session(secret(2), number(0)))
    elif verb == "setup":
        place = struct.pack("QQII", number(2), number(3), 1, 1)
        ioctl(device, 227, place + session(secret(1), number(0)))
    elif verb in ("lock", "lock-as-admin"):
        ioctl(device, 221, user_or_admin("lock") + struct.pack("IH2x", STATES[arguments[2]], 0))
    elif verb in ("new-key", "new-key-as-admin"):
        ioctl(device, 231, user_or_admin("new-key"))
    elif verb in ("erase", "erase-as-admin"):
        ioctl(device, 230, user_or_admin("erase"))
    elif verb == "psid":
        ioctl(device, 232, key(secret(0)))
    else:
        sys.exit(f"no verb {verb}")


main()
