# Runs in the guest: the machine falls asleep and wakes up, and the kernel has unlocked the drive. What is said after that
# goes to the console, in lines that begin with JUDGED: the shares that this system lies on do not outlive a sleep.
can appears appears
can write write_at 1024 /tmp/block2
can setup keyway setup $dev --password-file pw --admin-password-file admin
can left-with-the-kernel keyway unlock $dev --by-kernel --for-resume --password-file pw
can unlocked holds 1024 /tmp/block2
# The kernel stops the disk before it sleeps, and starts it afterwards: a machine does so with disks of its own.
echo 1 | tee $unit/scsi_disk/*/manage_system_start_stop >>log
# Before it falls asleep, for nothing tells the host when it does.
power_cycle
cannot locked read_at 1024
can finished true

own=/run/own
mkdir $own
mount -t tmpfs own $own
cp "$(command -v busybox)" /tmp/block2 $own
cat >$own/job <<'JOB'
b=/run/own/busybox
# All devices are put to sleep and, after a while, woken up again, by the same steps as for a whole sleep; the machine
# itself stays awake, for its emulator's clock does not wake it up.
$b echo devices >/sys/power/pm_test
$b echo freeze >/sys/power/state
$b echo "JUDGED slept $?"
$b dd if=/dev/sda of=/run/own/back bs=4096 skip=1024 count=1 iflag=direct
$b cmp /run/own/back /run/own/block2
$b echo "JUDGED unlocked $?"
# Nothing is left to unmount.
$b echo o >/proc/sysrq-trigger
$b sleep 60
JOB
exec $own/busybox sh $own/job >/dev/ttyS0 2>&1 </dev/null
