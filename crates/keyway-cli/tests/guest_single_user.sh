# Runs in the guest: a Linux kernel's sed-opal uses Single User Mode of the virtual drive, by its ioctls (opal.py
# beside this script).
opal() { python3 opal.py $dev "$@"; }

can connect connect ""
for n in 1 2; do dd if=/dev/urandom of=/tmp/block$n bs=4096 count=1 2>/dev/null; done

can own opal own owner
can activate opal activate owner 1
# Range 1 is user 2's, who has no PIN yet.
can user-pin opal user-pin 1 '' user
cannot old-pin opal setup 1 '' 8192 16384
can setup opal setup 1 user 8192 16384
can write write_at 1024 /tmp/block1
can lock opal lock 1 user LK
cannot locked-read read_at 1024
cannot locked-write write_at 1024 /tmp/block2
can other-range read_at 0
cannot admin-unlock opal lock-as-admin 1 owner RW
cannot wrong-pin opal lock 1 wrong RW
can read-only opal lock 1 user RO
can read-only-read holds 1024 /tmp/block1
cannot read-only-write write_at 1024 /tmp/block2
power_cycle
cannot locked-by-power-cycle read_at 1024
can unlock opal lock 1 user RW
can kept holds 1024 /tmp/block1
cannot admin-new-key opal new-key-as-admin 1 owner
can new-key opal new-key 1 user
cannot new-key-erases holds 1024 /tmp/block1
can write-again write_at 1024 /tmp/block2
can erase opal erase 1 user
cannot erased holds 1024 /tmp/block2
cannot erased-pin opal lock 1 user RW
can first-again opal user-pin 1 '' second
can admin-erases opal erase-as-admin 1 owner
can empty-again opal user-pin 1 '' third
can revert opal psid "$(cat psid)"
can finished true
