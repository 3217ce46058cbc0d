# What the jobs share in which the virtual drive is a SCSI disk; it stands behind judge.sh. The host sets bits of a byte in
# the guest's memory when it sees the file `poke`, and removes that file.
modprobe -a virtio_scsi sg ext4
dev=/dev/sda
ctl=/dev/sda
disk=/sys/block/sda
unit=/sys/bus/scsi/devices/0:0:0:0
# Waits for a condition, for a minute at least.
comes() {
    for n in $(seq 600); do
        "$@" && return 0
        sleep 0.1
    done
    return 1
}
keyway() { ./keyway drive "$@" --json; }
for n in 1 2 3; do dd if=/dev/urandom of=/tmp/block$n bs=4096 count=1 2>/dev/null; done
printf %s "a user's password" >pw
printf %s "the owner's" >admin
printf %s "no password" >wrong

# The kernel's driver for disks takes no SCSI disk for one that encrypts itself but those behind libata, which sets a flag
# of theirs in memory. Here the host does, as the guest's debugger, before the driver comes.
appears() {
    comes [ -e $unit/rescan ] || return 1
    mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
    echo 'p:keyway/asked scsi_rescan_device disk=%di:x64' >/sys/kernel/tracing/kprobe_events
    echo 1 >/sys/kernel/tracing/events/keyway/asked/enable
    echo 1 >$unit/rescan
    echo 0 >/sys/kernel/tracing/events/keyway/asked/enable
    local address
    address=$(sed -n 's/.*disk=\(0x[0-9a-f]*\).*/\1/p' /sys/kernel/tracing/trace | head -1)
    python3 flag.py scsi_device security_supported "$address" poke.new || return 1
    mv poke.new poke
    while [ -e poke ]; do sleep 0.1; done
    modprobe sd_mod
    comes [ -b $dev ]
}
