# Runs in the guest, which has two CPUs: a ublk device with two queues, both used while its server is killed; what
# `status` says of it while it waits; another server takes both over.
#
# said.tsv: what was found
export LC_ALL=C
modprobe -a ublk_drv virtio_blk

say() {
    printf '%s\t%s\n' "$1" "$2" >>said.tsv
}

# A field of an answer.
field() {
    sed -n "s/.*\"$1\": *\"\\?\\([^\",}]*\\)\"\\?.*/\\1/;T;p;q" "${2:-answer}"
}

opens() {
    /tmp/keyway open --json --password-file password --pim 1 --hash sha512 --attach ublk /dev/vda >answer 2>complaint || cat complaint
}

opens
device=$(field device)
name=${device#/dev/}
say queues "$(ls "/sys/block/$name/mq" | wc -l)"
exec 8<"$device"
# One job for each CPU, and so for each queue.
for job in 0 1; do
    while [ ! -f /tmp/enough ]; do
        taskset -c $job fio --name=job$job --filename="$device" --offset=$((job * 8))M --size=6M --rw=randwrite \
            --bsrange=512-64k --ioengine=io_uring --direct=1 --iodepth=8 --verify=crc32c --verify_fatal=1 --do_verify=1 \
            >"fio.$job" 2>&1 || exit
        touch /tmp/once$job
    done &
    jobs[job]=$!
done
for kill in 1 2; do
    # In the middle of it, however slow this machine is.
    until [ -f /tmp/once0 ] && [ -f /tmp/once1 ]; do sleep 0.1; done
    sleep "0.$((RANDOM % 10))"
    kill -9 "$(field pid)"
    rm /tmp/once0 /tmp/once1
    /tmp/keyway status --json /dev/vda >status
    say "waiting.$kill" "$(field device status) $(field lock_status status)"
    say "words.$kill" "$(/tmp/keyway status | grep -c "$device waits for a server")"
    opens
    say "recovered.$kill" "$(field device)"
done
until [ -f /tmp/once0 ] && [ -f /tmp/once1 ]; do sleep 0.1; done
touch /tmp/enough
for job in 0 1; do
    wait "${jobs[job]}"
    say "verified.$job" $?
done
exec 8<&-
say open "$(/tmp/keyway status --json | grep -c "$name")"
/tmp/keyway close --all >/dev/null
say closed $?
say left "$(ls /dev | grep -c 'ublk[bc]')"
