# Runs in the guest: opens every volume of cases.tsv with cryptsetup, says what it holds, and
# writes the case's own pattern into it where there is one.
#
# cases.tsv:   name, device or image in this folder, password's file, cryptsetup's options
# results.tsv: name, "opened" or "refused", size, sector size, SHA-256 before the write
export LC_ALL=C
modprobe -a dm-crypt loop ext4

judge() {
    local name=$1 source=$2 password=$3 options=$4 device=$2 loop=
    if [ -f "$source" ]; then
        # cryptsetup reads with direct I/O, which a file on 9p can't do.
        device=$(losetup --partscan --find --show "$source")
        loop=$device
        # A drive with a system: its first partition.
        [ ! -b "${loop}p1" ] || device=${loop}p1
    fi
    # shellcheck disable=SC2086
    if cryptsetup open --type tcrypt --veracrypt $options "$device" judged <"$password"; then
        printf '%s\topened\t%s\t%s\t%s\n' "$name" "$(blockdev --getsize64 /dev/mapper/judged)" \
            "$(blockdev --getss /dev/mapper/judged)" "$(sha256sum </dev/mapper/judged | cut -d' ' -f1)" >>results.tsv
        if [ -f "pattern-$name" ]; then
            dd if="pattern-$name" of=/dev/mapper/judged bs=4096 seek=10 conv=notrunc,fsync status=none
        fi
        if [ -f "files-$name" ]; then
            mount /dev/mapper/judged /mnt
            sha256sum </mnt/from-the-host | cut -d' ' -f1 >"files-$name"
            cp run.sh /mnt/from-the-guest
            umount /mnt
        fi
        cryptsetup close judged
    else
        printf '%s\trefused\n' "$name" >>results.tsv
    fi
    if [ -n "$loop" ]; then
        losetup --detach "$loop"
    fi
}

cryptsetup --version
while IFS=$'\t' read -r name source password options; do
    echo "judging $name"
    judge "$name" "$source" "$password" "$options"
done <cases.tsv
