# Runs in the guest: the same volumes by cryptsetup's mapping and by ours, one after the other.
#
# cases.tsv: name (its image is here, or a disk), password's file, cryptsetup's options, ours
# whole:     where it is there, large devices are compared whole, not only around their targets' edges
# said.tsv:  NAME.theirs and NAME.ours, size and SHA-256 of the device; and what else is asked below
export LC_ALL=C
modprobe -a dm-crypt loop ext4 fuse

say() {
    printf '%s\t%s\n' "$1" "$2" >>said.tsv
}

# A field of the last answer.
field() {
    sed -n -e "s/.*\"$1\": *\"\\([^\"]*\\)\".*/\\1/;tx" -e "s/.*\"$1\": *\\([^\",]*\\).*/\\1/;tx" -e b -e ':x;p;q' "${2:-answer}"
}

# The guest decrypts some megabytes in a second. What differs would differ at an edge, or everywhere.
plain() { # DEVICE SIZE
    local edge first
    if [ -f whole ] || [ "$2" -le 33554432 ]; then
        cat "$1"
        return
    fi
    for edge in $(cat /tmp/edges); do
        first=$((edge / 128 > 8 ? edge / 128 - 8 : 0))
        dd if="$1" bs=65536 skip="$first" count=20 status=none
    done
    tail -c 1048576 "$1"
}

digest() {
    local size
    size=$(blockdev --getsize64 "$1")
    echo "$size $(plain "$1" "$size" | sha256sum | cut -d' ' -f1)"
}

# Whatever is left: mappings, loop devices, keys.
left() {
    dmsetup ls | grep -v 'No devices found'
    losetup --all --noheadings
    grep keyway /proc/keys
}

# Opens by cryptsetup as "judged".
theirs() { # SOURCE PASSWORD OPTIONS
    loop=
    local device=$1
    if [ -f "$1" ]; then
        loop=$(losetup --find --show "$1")
        device=$loop
    fi
    # shellcheck disable=SC2086
    cryptsetup open $3 "$device" judged <"$2"
}

# As it was the first time: a password of Windows's takes twenty seconds of the emulator's, the mapping that it led to
# none. (A cascade is several mappings.)
theirs_again() { # SOURCE PASSWORD OPTIONS
    case $3 in
        *bitlk*) loop='' && dmsetup create judged /tmp/table ;;
        *) theirs "$@" ;;
    esac
}

theirs_closed() {
    cryptsetup close judged
    [ -z "$loop" ] || losetup --detach "$loop"
}

compare() {
    local name=$1 password=$2 options=$3 own=$4 source=/tmp/volume device
    case $name in
        disk) source=/dev/vda ;;
        # Hundreds of megabytes each, which would all go through the emulator to be copied.
        bitlocker-*) source=/dev/vd$(cat "$name") ;;
        *) cp --sparse=always "$name" "$source" ;;
    esac
    theirs "$source" "$password" "$options" || return
    dmsetup table --showkeys judged >/tmp/table
    cut -d' ' -f1 /tmp/table >/tmp/edges
    say "$name.theirs" "$(digest /dev/mapper/judged)"
    theirs_closed
    # shellcheck disable=SC2086
    /tmp/keyway open --json --attach dm-crypt --password-file "$password" $own "$source" >answer || return
    device=$(field device)
    say "$name.attachment" "$(field attachment)"
    say "$name.ours" "$(digest "$device")"
    say "$name.table" "$(dmsetup table --showkeys | tr '\n' ' ')"
    say "$name.keys" "$(grep -c keyway /proc/keys)"
    dd if=pattern of="$device" bs=4096 seek=1 conv=notrunc,fsync status=none
    # What a mapping is used for is not taken away.
    exec 7<"$device"
    /tmp/keyway close "$source" 2>/dev/null
    say "$name.busy" $?
    exec 7<&-
    /tmp/keyway close "$device" >/dev/null || return
    say "$name.left" "$(left | tr '\n' ' ')"
    theirs_again "$source" "$password" "$options" || return
    dd if=/dev/mapper/judged bs=4096 skip=1 count=2 status=none | cmp - pattern && say "$name.written" yes
    theirs_closed
}

while IFS=$'\t' read -r name password options own; do
    echo "judging $name"
    compare "$name" "$password" "$options" "$own"
done <cases.tsv

# How many lines of a process's memory hold these bytes; lines end with a zero where a newline is among them.
holds() { # PID PATTERN
    local range mode rest
    while read -r range mode rest; do
        [[ $mode == rw* ]] || continue
        local start=$((16#${range%-*})) end=$((16#${range#*-}))
        dd if="/proc/$1/mem" bs=4096 skip=$((start / 4096)) count=$(((end - start) / 4096)) status=none 2>/dev/null
    done <"/proc/$1/maps" | grep -ca $([[ $2 != *x0a* ]] || echo -z) -P "$2"
}

# Kills a process, and waits until there is nothing left of it.
killed() {
    kill -9 "$1"
    while [ -e "/proc/$1" ]; do sleep 0.1; done
}

echo "where the key is"
cp files /tmp/files
# shellcheck disable=SC2046
cryptsetup tcryptDump -q $(sed 's/--type tcrypt//' files-options) --dump-volume-key /tmp/files <password >dump
key=$(sed -n '/MK dump/,$p' dump | sed 's/MK dump://' | tr -d ' \t\n' | cut -c1-16 | sed 's/../\\x&/g')
say key.known "${#key}"
for way in nbd dm-crypt; do
    /tmp/keyway open --json --attach "$way" --password-file password --pim 1 --hash sha512 /tmp/files >answer
    say "key.$way" "$(holds "$(field pid)" "$key")"
    /tmp/keyway close --all >/dev/null
done

echo "auto, and a file system"
mkdir /tmp/at
/tmp/keyway open --json --allow-discards --password-file password --pim 1 --hash sha512 /tmp/files /tmp/at >answer
say auto.attachment "$(field attachment)"
say auto.why "$(field why)"
say auto.mounted "$(field mountpoint)"
say auto.table "$(dmsetup table | tr '\n' ' ')"
cp run.sh /tmp/at/from-ours && sync
fstrim /tmp/at && say auto.trimmed yes
/tmp/keyway status --json /tmp/files >status
say auto.counted "$(($(field bytes_written status) > 16384))"

echo "killed, and used all the same"
killed "$(field pid)"
cmp run.sh /tmp/at/from-ours && say killed.served yes
/tmp/keyway open --password-file password --pim 1 --hash sha512 /tmp/files 2>/dev/null
say killed.again $?
exec 7</tmp/at/from-ours
/tmp/keyway close /tmp/files 2>/dev/null
say killed.busy $?
exec 7<&-
/tmp/keyway close /tmp/files >/dev/null 2>&1
say killed.closed $?
say killed.left "$(left | tr '\n' ' ')$(ls /run/keyway | grep -v lock)"
theirs /tmp/files password "$(cat files-options)"
mount -o ro /dev/mapper/judged /mnt && cmp /mnt/from-ours run.sh && say killed.kept yes
umount /mnt
theirs_closed

echo "killed, and opened anew"
/tmp/keyway open --json --attach dm-crypt --read-only --password-file password --pim 1 --hash sha512 /tmp/files >answer
say reading.getro "$(blockdev --getro "$(field device)")"
killed "$(field pid)"
/tmp/keyway open --json --attach dm-crypt --password-file password --pim 1 --hash sha512 /tmp/files >answer
say anew.attachment "$(field attachment)"
say anew.mappings "$(dmsetup ls | wc -l)"
/tmp/keyway close --all >/dev/null
say anew.left "$(left | tr '\n' ' ')"

echo "what the kernel has not"
cp kuznyechik /tmp/kuznyechik
/tmp/keyway open --json --attach dm-crypt --password-file password-kuznyechik --pim 1 --hash sha512 /tmp/kuznyechik >refused
say refused.code $?
say refused.message "$(field message refused)"
/tmp/keyway open --json --password-file password-kuznyechik --pim 1 --hash sha512 /tmp/kuznyechik >answer
say instead.attachment "$(field attachment)"
say instead.why "$(field why)"
/tmp/keyway close --all >/dev/null
modprobe -r twofish_x86_64_3way twofish_x86_64 twofish_generic twofish_common 2>/dev/null
rm /lib/modules/*/kernel/crypto/twofish* /lib/modules/*/kernel/arch/x86/crypto/twofish*
cp files-twofish /tmp/twofish
/tmp/keyway open --json --attach dm-crypt --password-file password --pim 1 --hash sha512 /tmp/twofish >refused
say module.code $?
say module.message "$(field message refused)"
/tmp/keyway open --json --password-file password --pim 1 --hash sha512 /tmp/twofish >answer
say module.attachment "$(field attachment)"
say module.why "$(field why)"
/tmp/keyway close --all >/dev/null
/tmp/keyway doctor --json >doctor.json
say end.left "$(left | tr '\n' ' ')"
