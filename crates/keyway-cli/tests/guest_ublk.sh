# Runs in the guest: volumes as ublk devices, one in memory and one on a disk; their server is killed under load and
# under a mounted file system, and another takes them over.
#
# said.tsv: what was found
export LC_ALL=C
modprobe -a ublk_drv ext4 loop fuse nbd virtio_blk
cp volume /tmp/volume

say() {
    printf '%s\t%s\n' "$1" "$2" >>said.tsv
}

# A field of the last answer.
field() {
    sed -n "s/.*\"$1\": *\"\\?\\([^\",]*\\)\"\\?,\\?.*/\\1/;T;p;q" "${2:-answer}"
}

opens() { # VOLUME OPTIONS
    /tmp/keyway open --json --password-file password --pim 1 --hash sha512 "$@" >answer 2>complaint
}

# Devices and sessions that are left.
left() {
    ls /dev | grep -E 'ublk[bc]'
    ls /run/keyway 2>/dev/null | grep -v lock
    losetup --all --noheadings
    grep -E 'ublkb|keyway' /proc/mounts | grep -v ' /job/keyway '
}

verify() { # DEVICE NAME SIZE; more words for fio follow
    local device=$1 name=$2 size=$3
    shift 3
    fio --name="$name" --filename="$device" --rw=randwrite --bsrange=512-64k --bs_unaligned=0 --size="$size" \
        --ioengine=io_uring --direct=1 --iodepth=16 --allow_file_create=0 --verify=crc32c --verify_fatal=1 --do_verify=1 \
        --randseed="$RANDOM" --allow_mounted_write=1 "$@" >"fio.$name" 2>&1
}

# Kills a process, and waits until there is nothing left of it.
killed() {
    kill -9 "$1"
    while [ -e "/proc/$1" ]; do sleep 0.1; done
}

# Kills the server of a device, and has another take it over.
kill_and_recover() { # VOLUME
    kill -9 "$(field pid)"
    sleep "0.$((RANDOM % 10))"
    opens "$1" || cat complaint
}

one_life() { # NAME VOLUME
    local name=$1 volume=$2 device
    opens --attach ublk --allow-discards "$volume" || { cat complaint; return 1; }
    device=$(field device)
    say "$name.attachment" "$(field attachment)"
    local queue=/sys/block/${device#/dev/}/queue
    say "$name.limits" "$(cat "$queue/logical_block_size" "$queue/fua" "$queue/write_cache" | tr '\n' ' ')"
    say "$name.discards" "$(($(cat "$queue/discard_max_bytes") > 0))"
    say "$name.queues" "$(ls "${queue%/queue}/mq" | wc -l)"
    say "$name.size" "$(blockdev --getsize64 "$device")"
    echo "$name: verified"
    verify "$device" "$name-alone" 8M
    say "$name.verified" $?
    # In parts of data units, and with every write on the medium before it is answered.
    verify "$device" "$name-fua" 1M --sync=dsync
    say "$name.fua" $?
    blkdiscard -o 1M -l 2M "$device"
    say "$name.discarded" $?
    blkdiscard -z -o 1M -l 2M "$device"
    say "$name.zeroed" "$(dd if="$device" bs=1M skip=1 count=2 iflag=direct status=none | tr -d '\0' | wc -c)"
    echo "$name: killed under load"
    rm -f /tmp/enough
    # Held open: a device that nobody uses, as between two runs of fio, goes with its server.
    exec 8<"$device"
    while [ ! -f /tmp/enough ]; do
        verify "$device" "$name-killed" 12M || { cat "fio.$name-killed"; exit 1; }
    done &
    local load=$!
    for _ in 1 2 3; do
        sleep 0.7
        kill_and_recover "$volume"
        say "$name.recovered" "$(field attachment) $([ "$(field device)" = "$device" ] && echo same)"
    done
    say "$name.under" "$(kill -0 $load 2>/dev/null && echo yes)"
    touch /tmp/enough
    wait $load
    say "$name.killed" $?
    exec 8<&-
    exec 7<"$device"
    /tmp/keyway close "$volume" 2>/dev/null
    say "$name.busy" $?
    exec 7<&-
    /tmp/keyway close "$device" >/dev/null
    say "$name.closed" $?
    say "$name.left" "$(left | tr '\n' ' ')"
}

one_life memory /tmp/volume
one_life disk /dev/vda

echo "a file system"
mkdir /tmp/at
opens --attach ublk --allow-discards /tmp/volume
device=$(field device)
mkfs.ext4 -q -F "$device"
/tmp/keyway close --all >/dev/null
opens --attach ublk --allow-discards /tmp/volume /tmp/at || cat complaint
say mounted.at "$(field mountpoint)"
for n in 1 2 3 4; do
    head -c 2M /dev/urandom >/tmp/file$n
    { cp /tmp/file$n /tmp/at/ && sync -f /tmp/at; } &
    sleep 0.1
    [ $n != 3 ] || kill_and_recover /tmp/volume
    wait
done
say mounted.kept "$(field mountpoint)"
fstrim /tmp/at && say mounted.trimmed yes
/tmp/keyway status --json /tmp/volume >status
say mounted.counted "$(($(field bytes_written status) > 16384))"
/tmp/keyway close /tmp/at >/dev/null
say mounted.closed $?
say mounted.left "$(left | tr '\n' ' ')"

echo "waiting"
opens --attach ublk /tmp/volume
device=$(field device)
e2fsck -fn "$device" >e2fsck 2>&1
say mounted.checked $?
mount -o ro "$device" /tmp/at && cmp /tmp/at/file3 /tmp/file3 && cmp /tmp/at/file4 /tmp/file4 && say mounted.same yes
killed "$(field pid)"
opens --attach fuse /tmp/volume
say waiting.refused $?
/tmp/keyway close /tmp/volume >/dev/null 2>&1
say waiting.closed $?
say waiting.left "$(left | tr '\n' ' ')"
# Killed while nobody uses it: nothing waits for the next one.
opens --attach ublk /tmp/volume
killed "$(field pid)"
opens --attach fuse /tmp/volume
say unused.attachment "$(field attachment)"
/tmp/keyway close --all >/dev/null
say unused.left "$(left | tr '\n' ' ')"

echo "partitions"
opens --attach ublk /tmp/volume
device=$(field device)
# A partition table with 8 MiB from 1 MiB on, and 4 MiB behind that.
{
    head -c 446 /dev/zero
    printf '\0\0\0\0\203\0\0\0\0\010\0\0\0\100\0\0'
    printf '\0\0\0\0\203\0\0\0\0\110\0\0\0\040\0\0'
    head -c 32 /dev/zero
    printf '\125\252'
} | dd of="$device" bs=512 conv=fsync,notrunc status=none
partitions() {
    ls /dev | grep -c "^${device#/dev/}p"
}
say partitions.before "$(partitions)"
blockdev --rereadpt "$device" 2>/dev/null && say partitions.reread done
partx -a "$device"
say partitions.found "$(partitions)"
# Its server is killed while somebody looks for them, and another serves the rest of that.
for n in 0 1 2 3 4 5; do
    partx -d "$device"
    echo 3 >/proc/sys/vm/drop_caches
    partx -a "$device" &
    searching=$!
    sleep "0.0$n"
    killed "$(field pid)"
    opens --attach ublk /tmp/volume || cat complaint
    wait $searching || say partitions.search "$? in round $n"
    [ "$(partitions)" = 2 ] || say partitions.lost "$(partitions) in round $n"
done
mkfs.ext4 -q -F "${device}p1" && mount "${device}p1" /tmp/at
/tmp/keyway close /tmp/volume >/dev/null 2>&1
say partitions.busy $?
{ cp /tmp/file3 /tmp/at/ && sync -f /tmp/at; } &
kill_and_recover /tmp/volume
wait
umount /tmp/at
/tmp/keyway close /tmp/volume >/dev/null
say partitions.closed $?
say partitions.left "$(left | tr '\n' ' ')"
opens --attach ublk /tmp/volume
device=$(field device)
partx -a "$device"
e2fsck -fn "${device}p1" >e2fsck 2>&1 && mount -o ro "${device}p1" /tmp/at && cmp /tmp/at/file3 /tmp/file3 && say partitions.kept yes
umount /tmp/at
/tmp/keyway close --all >/dev/null

speed() { # DEVICE NAME DEPTH
    fio --name="$2" --filename="$1" --rw=randread --bs=4k --size=16M --ioengine=io_uring --direct=1 --iodepth="$3" \
        --runtime=4 --time_based --ramp_time=1 --minimal 2>/dev/null | cut -d';' -f8
}
for round in 1 2; do
    [ -f speed ] || break
    echo "speed, round $round"
    opens --attach ublk /tmp/volume
    device=$(field device)
    say "speed.ublk.$round" "$(speed "$device" ublk 1) $(speed "$device" ublk 32)"
    /tmp/keyway close --all >/dev/null
    opens --attach nbd /tmp/volume
    nbd-client -unix "$(field socket)" /dev/nbd0 -b 512 >/dev/null 2>&1
    say "speed.nbd.$round" "$(speed /dev/nbd0 nbd 1) $(speed /dev/nbd0 nbd 32)"
    nbd-client -d /dev/nbd0 >/dev/null
    /tmp/keyway close --all >/dev/null
    opens --attach fuse /tmp/volume
    device=$(field device)
    say "speed.loop.$round" "$(speed "$device" loop 1) $(speed "$device" loop 32)"
    /tmp/keyway close --all >/dev/null
done
echo "the laboratory"
mkdir /tmp/lab
/tmp/keyway lab compare --with veracrypt:aes --drive /tmp/lab --path ublk --workload quick --quick --seconds 0.04 \
    --minutes 0.01 --size 16M --json >lab.json 2>lab.complaint
say lab.measured $?
say lab.path "$(grep -o '"path": *"ublk"' lab.json | head -n 1 | tr -d ' "')"
say lab.left "$(left | tr '\n' ' ')$(ls /tmp/lab)"
/tmp/keyway doctor --json >doctor.json
say end.left "$(left | tr '\n' ' ')"
