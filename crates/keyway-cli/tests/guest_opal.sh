# Runs in the guest: a Linux kernel's NVMe driver and sed-opal, sedutil and cryptsetup use the virtual drive.
modprobe -a dm-crypt ext4 2>/dev/null
# Whether discovery says so: a word of sedutil's line about locking.
says() { sedutil-cli --query $ctl >query && grep -q "$1" query; }

can connect connect ""
for n in 1 2 3; do dd if=/dev/urandom of=/tmp/block$n bs=4096 count=1 2>/dev/null; done

# The data path alone: a file system and its discards.
can filesystem mkfs.ext4 -q -E discard $dev
mkdir -p /tmp/mnt
can mount mount -o discard $dev /tmp/mnt
cp -r /usr/bin /tmp/mnt/ 2>/dev/null
can unmount umount /tmp/mnt
can fsck e2fsck -fn $dev

# sedutil: ownership, ranges, users, the shadow, new keys. With -n, but for one setup: it hashes each password for
# a second, and what the drive does is the same.
can sedutil-scan bash -c "sedutil-cli --scan | grep -q 'nvme0  2'"
can factory says 'LockingEnabled = N'
can sedutil-setup sedutil-cli -n --initialsetup owner-pin $ctl
can active says 'LockingEnabled = Y'
can sedutil-range sedutil-cli -n --setuplockingrange 1 8192 16384 owner-pin $ctl
can sedutil-enable-range sedutil-cli -n --enablelockingrange 1 owner-pin $ctl
cannot sedutil-misaligned sedutil-cli -n --setuplockingrange 2 32769 8 owner-pin $ctl
{ printf '\020\0\0\0\0\0\0\002'; head -c 504 /dev/zero; } >/tmp/stack-reset
can stack-reset nvme security-send $ctl --secp=2 --spsp=0x1000 --tl=512 --file=/tmp/stack-reset
# Not into a pipe: it would end before its session does.
can sedutil-list sedutil-cli -n --listLockingRanges owner-pin $ctl
can sedutil-listed grep -q 'LR1 Begin 8192 for 16384' log
can sedutil-mbr-off sedutil-cli -n --setMBREnable off owner-pin $ctl
can write-range write_at 1024 /tmp/block1
can sedutil-lock sedutil-cli -n --setLockingRange 1 LK owner-pin $ctl
can locked says 'Locked = Y'
cannot locked-read read_at 1024
cannot locked-write write_at 1024 /tmp/block2
can other-range read_at 0
cannot wrong-pin sedutil-cli -n --setLockingRange 1 RW wrong-pin $ctl
can sedutil-read-only sedutil-cli -n --setLockingRange 1 RO owner-pin $ctl
can read-only-read holds 1024 /tmp/block1
cannot read-only-write write_at 1024 /tmp/block2
can sedutil-unlock sedutil-cli -n --setLockingRange 1 RW owner-pin $ctl
can unlocked-write write_at 1024 /tmp/block2
power_cycle
cannot locked-by-power-cycle read_at 1024
can sedutil-unlock-again sedutil-cli -n --setLockingRange 1 RW owner-pin $ctl
can kept holds 1024 /tmp/block2
can sedutil-user-pin sedutil-cli -n --setPassword owner-pin User1 user-pin $ctl
cannot user-not-admitted sedutil-cli -n --setMBRDone on user-pin $ctl
can sedutil-new-key sedutil-cli -n --rekeyLockingRange 1 owner-pin $ctl
cannot new-key-erases holds 1024 /tmp/block2
can sedutil-load-shadow sedutil-cli -n --loadPBAimage owner-pin /tmp/block3 $ctl
can sedutil-shadow sedutil-cli -n --setMBREnable on owner-pin $ctl
power_cycle
can shadow-shown holds 0 /tmp/block3
cannot shadow-write write_at 0 /tmp/block1
can sedutil-shadow-done sedutil-cli -n --setMBRDone on owner-pin $ctl
cannot shadow-gone holds 0 /tmp/block3
can sedutil-revert-locking sedutil-cli -n --revertLockingSP owner-pin $ctl
can inactive says 'LockingEnabled = N'
can sedutil-revert sedutil-cli -n --reverttper owner-pin $ctl
can sedutil-setup-hashed sedutil-cli --initialsetup forgotten-pin $ctl
can sedutil-hashed sedutil-cli --setMBREnable off forgotten-pin $ctl
cannot sedutil-not-hashed sedutil-cli -n --setMBREnable off forgotten-pin $ctl
cannot wrong-psid sedutil-cli --yesIreallywanttoERASEALLmydatausingthePSID "$(cat msid)" $ctl
can psid sedutil-cli --yesIreallywanttoERASEALLmydatausingthePSID "$(cat psid)" $ctl
can factory-again says 'LockingEnabled = N'

# The kernel's own sed-opal, by way of cryptsetup.
printf %s the-password-of-the-volume >/tmp/password
printf %s another-password >/tmp/other
printf %s opal-admin-pin >/tmp/admin
echo 3 >/proc/sys/vm/drop_caches
can kernel-discovery bash -c "nvme sed discover $dev | grep -q 'Locking Supported.*yes'"
format() { cryptsetup luksFormat -q --type luks2 --pbkdf pbkdf2 --pbkdf-force-iterations 1000 "$1" -d /tmp/password $dev </tmp/admin; }
for mode in --hw-opal-only --hw-opal; do
    can "cryptsetup-format$mode" format $mode
    can "cryptsetup-open$mode" cryptsetup open -d /tmp/password $dev volume
    can "make-fs$mode" mkfs.ext4 -q /dev/mapper/volume
    mount /dev/mapper/volume /tmp/mnt
    dd if=/dev/urandom of=/tmp/mnt/file bs=1M count=4 2>/dev/null
    sha256sum </tmp/mnt/file >/tmp/sum
    umount /tmp/mnt
    can "cryptsetup-suspend$mode" cryptsetup luksSuspend volume
    cannot "suspended$mode" read_at 10000
    can "cryptsetup-resume$mode" cryptsetup luksResume -d /tmp/password volume
    can "cryptsetup-close$mode" cryptsetup close volume
    cannot "closed$mode" read_at 10000
    can "header-open$mode" read_at 0
    power_cycle
    cannot "after-power-cycle$mode" read_at 10000
    cannot "wrong-password$mode" cryptsetup open -d /tmp/other $dev volume
    can "cryptsetup-open-again$mode" cryptsetup open -d /tmp/password $dev volume
    mount /dev/mapper/volume /tmp/mnt
    can "kept$mode" bash -c "sha256sum </tmp/mnt/file | cmp - /tmp/sum"
    umount /tmp/mnt
    can "cryptsetup-close-again$mode" cryptsetup close volume
    can "cryptsetup-erase$mode" cryptsetup luksErase -q -d /tmp/admin $dev
done
can cryptsetup-psid cryptsetup luksErase -q --hw-opal-factory-reset -d psid $dev
can factory-at-last says 'LockingEnabled = N'
can finished true

# cryptsetup's own test suite, where the host has it.
if [ -e suite ]; then
    modprobe -a dm-integrity algif_skcipher algif_hash 2>/dev/null
    mkdir /tmp/suite && cd /tmp/suite || exit 1
    CRYPTSETUP_PATH=/usr/sbin OPAL2_DEV=$dev OPAL2_PSID_FILE=/job/psid bash /job/suite >/job/suite.log 2>&1
    echo "cryptsetup-suite	exit code $?" | sed 's/exit code 0$/ok/' >>/job/said.tsv
fi
