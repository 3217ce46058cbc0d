# Runs in the guest: sedutil speaks to the drive as to an ATA drive behind a bridge, keyway in SCSI's own commands, the
# kernel's sed-opal in these, too; and the kernel unlocks it again when the disk wakes up.
state() { keyway info $dev | sed -n 's/^  "state": *"\([a-z-]*\)".*/\1/p'; }
is() { [ "$(state)" = "$1" ]; }
refused() {
    local code=0
    keyway "${@:2}" || code=$?
    [ $code = "$1" ]
}

can appears appears
can named bash -c "grep -q '^Keyway' $disk/device/vendor && grep -q '^virtual drive' $disk/device/model"
can cached grep -q 'write back' $disk/queue/write_cache
can discards bash -c "[ \$(cat $disk/queue/discard_max_bytes) -gt 0 ]"
can serial bash -c "grep -q \"\$(cat serial)\" $disk/device/vpd_pg80"

echo "== the data path" >>log
can filesystem mkfs.ext4 -q -E discard $dev
mkdir -p /tmp/mnt
can mount mount -o discard $dev /tmp/mnt
cp -r /usr/sbin /tmp/mnt/
rm -r /tmp/mnt/sbin/[a-f]*
can unmount umount /tmp/mnt
can fsck e2fsck -fn $dev
can verified fio --name=v --filename=$dev --rw=randwrite --bs=16k --size=16m --ioengine=libaio --iodepth=16 --direct=1 \
    --verify=crc32c --verify_fatal=1

echo "== stopped, started, and reset" >>log
unit() { python3 unit.py /dev/sg0 "$@"; }
says() { [ "$(unit ready)" = "$1" ]; }
restart=$(echo $unit/scsi_disk/*/allow_restart)
echo 0 >$restart
can ready says GOOD
can stops unit stop
# NOT READY, INITIALIZING COMMAND REQUIRED, until it is started: by us, or by the kernel, if it may.
can stopped says 2/04/02
cannot stopped-read read_at 0
can starts unit start
can started says GOOD
can started-read read_at 0
can stops-again unit stop
echo 1 >$restart
can started-by-the-kernel read_at 0
can started-again says GOOD
can reset unit reset
# UNIT ATTENTION, once: the kernel does not repeat what did not come from itself.
can reset-is-told says 6/29/03
can reset-was-told says GOOD
fio --name=r --filename=$dev --rw=randrw --bs=16k --size=96m --ioengine=libaio --iodepth=16 --direct=1 \
    --verify=crc32c --verify_fatal=1 >>log 2>&1 &
busy=$!
sleep 1
for n in 1 2 3 4 5; do
    can reset-in-the-midst-$n unit reset
    sleep 0.3
done
can verified-across-resets wait $busy
can online bash -c "! dmesg | grep -q 'offline'"
# sedutil takes a unit attention for a drive that it can't use.
unit ready >>log

echo "== sedutil over ATA, keyway over SCSI" >>log
can scan bash -c "sedutil-cli --scan | grep -q '/dev/sda *2 *Keyway virtual drive'"
can as-ata bash -c "sedutil-cli --query $ctl | grep -q '^/dev/sda ATA Keyway virtual drive'"
can as-scsi bash -c "./keyway drive info $ctl --json | grep -q '\"interface\": *\"ATA\"'"
can sedutil-setup sedutil-cli --initialSetup "$(cat pw)" $ctl
can sedutil-range sedutil-cli --setuplockingrange 1 8192 16384 "$(cat pw)" $ctl
can sedutil-lockable sedutil-cli --enablelockingrange 1 "$(cat pw)" $ctl
can sedutil-shadow-off sedutil-cli --setMBREnable off "$(cat pw)" $ctl
can write write_at 1024 /tmp/block1
can sedutil-lock sedutil-cli --setLockingRange 1 LK "$(cat pw)" $ctl
cannot locked-read read_at 1024 /tmp/leak
can no-byte bash -c '! [ -s /tmp/leak ]'
cannot locked-write write_at 1024 /tmp/block2
can other-range read_at 0
# As the drive says it: DATA PROTECT, ACCESS DENIED - NO ACCESS RIGHTS.
can said-why bash -c "dmesg | grep -q 'Sense Key : Data Protect' && dmesg | grep -q 'Access denied - no access rights'"
can keyway-unlock keyway unlock $dev --range 1 --as admin1 --password-file pw
can kept holds 1024 /tmp/block1
can keyway-read-only keyway unlock $dev --range 1 --read-only --as admin1 --password-file pw
can read-only holds 1024 /tmp/block1
cannot read-only-write write_at 1024 /tmp/block2
can keyway-lock keyway lock $dev --range 1 --as admin1 --password-file pw
can sedutil-sees bash -c "sedutil-cli --query $ctl | grep -q 'Locked = Y'"
can sedutil-unlock sedutil-cli --setLockingRange 1 RW "$(cat pw)" $ctl
can unlocked holds 1024 /tmp/block1
power_cycle
cannot locked-by-power-cycle read_at 1024
can keyway-revert keyway revert $dev --psid psid --yes
can factory is factory
cannot gone holds 1024 /tmp/block1

echo "== the kernel's own sed-opal" >>log
can kernel-takes-it bash -c "nvme sed discover $dev | grep -q 'Locking Supported.*yes'"

can write-again write_at 1024 /tmp/block2
can setup keyway setup $dev --password-file pw --admin-password-file admin
can set-up-and-locked is locked
cannot locked-by-setup read_at 1024
can wrong-by-kernel refused 3 unlock $dev --by-kernel --password-file wrong
can by-kernel keyway unlock $dev --by-kernel --password-file pw
can kept-by-kernel holds 1024 /tmp/block2


echo "== the disk falls asleep, and is woken up by a request" >>log
echo 1 | tee $unit/scsi_disk/*/manage_runtime_start_stop >>log
echo 200 >$unit/power/autosuspend_delay_ms
echo auto >$unit/power/control
sleeps() { [ "$(cat $unit/power/runtime_status)" = suspended ]; }
can falls-asleep comes sleeps
power_cycle
can power-went-while-asleep sleeps
cannot stays-locked read_at 1024
# Awake meanwhile: Linux's sed-opal waits for itself, for ever, where its command wakes the disk up.
echo on >$unit/power/control
can left-with-the-kernel keyway unlock $dev --by-kernel --for-resume --password-file pw
can unlocked-before holds 1024 /tmp/block2
echo auto >$unit/power/control
can falls-asleep-again comes sleeps
power_cycle
can power-went-while-asleep-again sleeps
can unlocked-by-waking holds 1024 /tmp/block2
can written-after write_at 1024 /tmp/block3
can read-after holds 1024 /tmp/block3
dmesg | tail -60 >>log
can finished true
