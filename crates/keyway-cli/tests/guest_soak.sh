# Runs in the guest: one volume by one way after the other, written and verified by fio; its server is killed while fio
# writes. The first 4 MiB are written and flushed before, and verified by the next way. `seconds`: how long.
#
# said.tsv: rounds by way, kills, takings-over, MiB verified; `wrong`: what must not be
export LC_ALL=C
modprobe -a ublk_drv dm-crypt loop fuse nbd virtio_blk
volume=/dev/vda

say() {
    printf '%s\t%s\n' "$1" "$2" >>said.tsv
}

wrong() {
    say wrong "$*"
    echo "wrong: $*"
    cat /tmp/fio.* 2>/dev/null | tail -40
    exit 0
}

# A field of an answer.
field() {
    sed -n "s/.*\"$1\": *\"\\?\\([^\",}]*\\)\"\\?.*/\\1/;T;p;q" answer
}

opens() { # WAY
    /tmp/keyway open --json --password-file password --pim 1 --hash sha512 --attach "$1" $volume >answer 2>complaint ||
        wrong "$1 does not open: $(cat answer complaint)"
    device=$(field device)
    if [ "$1" = nbd ]; then
        device=/dev/nbd0
        nbd-client -unix "$(field socket)" $device -b 512 >/dev/null 2>&1 || wrong "nbd-client"
    fi
}

closes() { # WAY
    [ "$1" != nbd ] || nbd-client -d /dev/nbd0 >/dev/null 2>&1
    # A killed one is closed by whoever comes next, too.
    timeout 300 /tmp/keyway close $volume >/dev/null 2>complaint || [ -n "$2" ] || wrong "$1 does not close: $(cat complaint)"
    [ -z "$(left)" ] || wrong "$1 left $(left | tr '\n' ' ')"
}

# Devices, mappings, sessions, mounts, processes and keys that are left.
left() {
    ls /dev | grep -E 'ublk[bc]'
    ls /run/keyway 2>/dev/null | grep -v lock
    losetup --all --noheadings
    dmsetup ls | grep -v 'No devices found'
    grep keyway /proc/mounts | grep -v ' /job/keyway '
    grep keyway: /proc/keys
    pgrep -af 'keyway serve-volume'
}

run_fio() { # NAME OFFSET SIZE SEED; more words follow
    local name=$1 offset=$2 size=$3 seed=$4
    shift 4
    timeout 600 fio --name="$name" --filename="$device" --offset="$offset" --size="$size" --bsrange=512-64k \
        --ioengine=io_uring --direct=1 --iodepth=8 --allow_file_create=0 --verify=crc32c --verify_fatal=1 \
        --randseed="$seed" "$@" >"/tmp/fio.$name" 2>&1
}

# What the last round had flushed.
kept() {
    [ -z "$seed" ] || run_fio kept 0 4M "$seed" --rw=write --verify_only=1 || wrong "what was flushed is not there by $1"
    verified=$((verified + 4))
}

end=$(($(date +%s) + $(cat seconds)))
round=0 killed=0 recovered=0 verified=0 seed=
declare -A rounds
ways=(ublk dm-crypt nbd fuse)
while [ "$(date +%s)" -lt $end ] || [ $round -lt 8 ]; do
    way=${ways[round % 4]}
    round=$((round + 1))
    rounds[$way]=$((${rounds[$way]:-0} + 1))
    opens "$way"
    kept "$way"
    seed=$RANDOM
    run_fio keep 0 4M "$seed" --rw=write --do_verify=0 --end_fsync=1 || wrong "$way can't be written"
    # Where the device lives on without its server nothing may be seen of that; elsewhere errors are what is expected.
    exec 8<"$device"
    run_fio load 8M 8M "$RANDOM" --rw=randwrite --do_verify=1 &
    load=$!
    dead=
    for kill in 1 2; do
        sleep "0.$((RANDOM % 10))"
        [ $((RANDOM % 4)) != 0 ] && [ -z "$dead" ] || continue
        server=$(field pid)
        kill -9 "$server"
        while [ -e "/proc/$server" ]; do sleep 0.1; done
        killed=$((killed + 1))
        if [ "$way" = ublk ]; then
            opens ublk
            recovered=$((recovered + 1))
        else
            dead=yes
        fi
    done
    # Where the loop device's file system or the server is gone, the kernel gives up sooner when told.
    [ -z "$dead" ] || [ "$way" != nbd ] || nbd-client -d /dev/nbd0 >/dev/null 2>&1
    wait $load
    ended=$?
    [ $ended != 124 ] || wrong "$way hangs"
    case $way in
        ublk | dm-crypt) [ $ended = 0 ] || wrong "$way lost something" ;;
        *) [ $ended = 0 ] || [ -n "$dead" ] || wrong "$way lost something" ;;
    esac
    [ $ended != 0 ] || verified=$((verified + 8))
    exec 8<&-
    closes "$way" "$dead"
done
for way in "${ways[@]}"; do say "$way" "${rounds[$way]}"; done
say killed $killed
say recovered $recovered
say verified_mib $verified
exit 0
