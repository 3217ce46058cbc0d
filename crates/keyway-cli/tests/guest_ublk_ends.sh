# Runs in the guest: servers are killed while they make their ublk device; then a user without root has one, where this
# script stands in for udev.
#
# long:     where it is there, it is tried more often
# said.tsv: what was found
export LC_ALL=C
modprobe -a ublk_drv
cp volume /tmp/volume && cp password /tmp/password

say() {
    printf '%s\t%s\n' "$1" "$2" >>said.tsv
}

# A field of an answer.
field() {
    sed -n "s/.*\"$1\": *\"\\?\\([^\",}]*\\)\"\\?.*/\\1/;T;p;q" /tmp/answer
}

opens() {
    /tmp/keyway open --json --password-file /tmp/password --pim 1 --hash sha512 --attach ublk "$@" >/tmp/answer 2>/tmp/complaint
}

left() {
    ls /dev | grep -E 'ublk[bc]'
    ls /run/keyway /tmp/user/keyway 2>/dev/null | grep -vE '^lock$|:$|^$'
}

echo "killed at birth"
unborn=0 round=0
# Until it has happened in the very middle, and some more: before there is a device, when it is shown, and after.
if [ -f long ]; then least=8 most=30; else least=4 most=10; fi
while [ $round -lt $least ] || { [ $unborn -lt 1 ] && [ $round -lt $most ]; }; do
    round=$((round + 1))
    opens /tmp/volume &
    caller=$!
    until server=$(pgrep -f '^keyway serve-volume') || ! kill -0 $caller 2>/dev/null; do sleep 0.02; done
    # Without another process: the moment is short.
    until [ -e /dev/ublkc0 ] || ! kill -0 $caller 2>/dev/null; do :; done
    for ((wait = round % 4 * 100 * (round % 4); wait > 0; wait--)); do :; done
    kill -9 "$server"
    [ -e /dev/ublkb0 ] || unborn=$((unborn + 1))
    waited=0
    while [ -e "/proc/$server" ]; do
        sleep 0.02
        waited=$((waited + 1))
        [ $waited -lt 1500 ] || { echo "round $round: it does not die"; cat /proc/$server/task/*/stack; exit 1; }
    done
    wait $caller
    [ -e /dev/ublkc0 ] || echo "round $round: nothing was made"
    # Whoever comes next clears it away; or takes it over, where it had been shown.
    if [ $((round % 2)) = 0 ]; then
        /tmp/keyway close /tmp/volume >/dev/null 2>&1
    else
        opens /tmp/volume || cat /tmp/complaint
        [ "$(field device)" = /dev/ublkb0 ] || say birth.left "$(field device) in round $round"
        /tmp/keyway close /tmp/volume >/dev/null
    fi
    found=$(left | tr '\n' ' ')
    [ -z "$found" ] || say birth.left "$found in round $round"
done
echo "$unborn of $round were not yet shown"
say birth.unborn $unborn
opens /tmp/volume
opened=$(field attachment)
/tmp/keyway close --all >/dev/null
say birth.opens "$opened $?"

echo "a user"
mkdir /tmp/user && chown 1000:1000 /tmp/user /tmp/volume /tmp/password && chmod 700 /tmp/user
as() { # USER COMMAND
    local id=$1
    shift
    setpriv --reuid="$id" --regid="$id" --clear-groups env HOME=/tmp/user XDG_RUNTIME_DIR=/tmp/user "$@"
}
user() {
    as 1000 "$@"
}
user_opens() {
    rm -f /tmp/answer
    user /tmp/keyway open --json --password-file /tmp/password --pim 1 --hash sha512 --attach "$1" /tmp/volume >/tmp/answer 2>/tmp/complaint
}
devices() {
    ls /dev | grep -c ublkc
}

user_opens ublk
say user.refused "$? $(grep -c 'only root may open /dev/ublk-control' /tmp/answer)"
user /tmp/keyway doctor >/tmp/doctor
say user.doctor "$(grep -c '^ublk .*no: only root may open' /tmp/doctor)"
chown root:1000 /dev/ublk-control && chmod 660 /dev/ublk-control
user_opens ublk
say user.stuck "$? $(devices)"
user_opens ublk
say user.again "$? $(devices)"

# As the rule in docs/reference/attachments.md has udev do.
while sleep 0.1; do
    for node in /dev/ublk[bc]*; do
        # Still root's. (No other process for it: there is one CPU.)
        [ -O "$node" ] || continue
        owner=$(/tmp/keyway ublk-owner "${node#/dev/}" 2>/dev/null) || continue
        chmod 600 "$node" && chown "${owner/ /:}" "$node"
    done
done &
udev=$!
until [ "$(stat -c %u /dev/ublkc0)" = 1000 ]; do sleep 0.1; done
user_opens auto
say user.auto "$(field attachment)"
user /tmp/keyway close --all >/dev/null
say user.helped "$(left | tr '\n' ' ')"

user_opens ublk || cat /tmp/answer /tmp/complaint
device=$(field device)
say user.attachment "$(field attachment)"
say user.nodes "$(stat -c '%u %g %a' "$device" "/dev/ublkc${device#/dev/ublkb}" | tr '\n' ' ' | sed 's/ $//')"
user fio --name=user --filename="$device" --rw=randwrite --bsrange=512-64k --bs_unaligned=0 --size=8M --ioengine=io_uring \
    --direct=1 --iodepth=16 --allow_file_create=0 --verify=crc32c --verify_fatal=1 --do_verify=1 >fio.user 2>&1
say user.verified $?
# The kernel lets nobody else in, whatever a node's rights are.
chmod 666 "$device"
as 1001 dd if="$device" of=/dev/null bs=4096 count=1 2>/dev/null && say user.others read || say user.others denied
# Root's own devices are handed to nobody.
cp /tmp/volume /tmp/another
opens /tmp/another || cat /tmp/complaint
roots=$(field device)
sleep 0.5
say user.roots "$([ "$(stat -c %u "$roots")" = 0 ] && ! /tmp/keyway ublk-owner "${roots#/dev/}" 2>/dev/null && echo 1)"
/tmp/keyway close /tmp/another >/dev/null
user /tmp/keyway close "$device" >/dev/null
say user.closed $?
say user.left "$(left | tr '\n' ' ')"

echo "a user's server is killed"
user_opens ublk || cat /tmp/answer
device=$(field device) server=$(field pid)
head -c 2M /dev/urandom >/tmp/pattern
user dd if=/tmp/pattern of="$device" bs=64k seek=16 oflag=direct conv=fsync,notrunc status=none
# Held open over its server's end.
exec 8<>"$device"
kill -9 "$server"
while [ -e "/proc/$server" ]; do sleep 0.1; done
# What is under way fails; later the device has no size.
until [ "$(dd bs=4096 count=1 <&8 2>/dev/null | wc -c)" = 0 ]; do sleep 0.2; done
dd if=/tmp/pattern bs=4096 count=1 conv=notrunc,fsync >&8 2>/dev/null || say user.failed failed
exec 8>&-
user /tmp/keyway close /tmp/volume >/dev/null
say user.killed $?
say user.gone "$(left | tr '\n' ' ')"
user_opens ublk || cat /tmp/answer
device=$(field device)
user dd if="$device" bs=64k skip=16 count=32 iflag=direct status=none | cmp - /tmp/pattern && say user.anew "$(field attachment) same"
# The next one clears away, too.
kill -9 "$(field pid)"
user_opens ublk || cat /tmp/answer
say user.again_gone "$(field attachment)"
user /tmp/keyway close --all >/dev/null

echo "numbers that others have by now"
# What a session said of itself is left, and its device's number is root's.
user_opens ublk || cat /tmp/answer
cp -a /tmp/user/keyway /tmp/kept
user /tmp/keyway close --all >/dev/null
cp -a /tmp/kept/. /tmp/user/keyway/
kept=$(field device)
opens /tmp/another || cat /tmp/complaint
roots=$(field device)
user_opens ublk
say other.opened "$? $(field attachment) $([ "$roots" = "$kept" ] && [ "$(field device)" != "$roots" ] && echo another)"
say other.roots "$(stat -c %u "$roots") $(dd if="$roots" bs=4096 count=1 status=none | wc -c)"
user /tmp/keyway close --all >/dev/null
/tmp/keyway close --all >/dev/null
say other.left "$(left | tr '\n' ' ')"
# Its server's number is another process's.
user_opens ublk || cat /tmp/answer
device=$(field device) server=$(field pid)
kill -9 "$server"
while [ -e "/proc/$server" ]; do sleep 0.1; done
for ((n = 0; n < 100; n++)); do
    echo $((server - 1)) >/proc/sys/kernel/ns_last_pid
    sleep 1000 &
    other=$!
    [ $other != "$server" ] || break
    kill $other
done
say other.number "$([ $other = "$server" ] && echo same)"
user_opens ublk || cat /tmp/answer
say other.device "$(field attachment) $([ "$(field device)" = "$device" ] && echo same)"
say other.lives "$(kill -0 $other && echo yes)"
kill $other
user /tmp/keyway close --all >/dev/null
kill $udev
say end.left "$(left | tr '\n' ' ')"
exit 0
