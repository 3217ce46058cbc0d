# Runs in the guest: opens every volume of cases.tsv with cryptsetup, says what it holds, mounts its
# file system with the kernel's own driver, reads the host's file and writes the guest's.
#
# cases.tsv:   name (also of its image, key and pattern), file system or "none", password's file or "-",
#              stretches whose SHA-256 is wanted: FIRST+COUNT in blocks of 4096, with spaces between
# results.tsv: name, "opened" or "refused", size, sector size, SHA-256 before anything is written,
#              SHA-256 of the host's file or "-", SHA-256 after the write when opened by password or "-"
export LC_ALL=C
modprobe -a dm-crypt dm-zero loop ntfs3 exfat vfat

plain_sha256() { # STRETCHES
    for stretch in $1; do
        dd if=/dev/mapper/judged bs=4096 skip="${stretch%+*}" count="${stretch#*+}" status=none
    done | sha256sum | cut -d' ' -f1
}

judge() {
    local name=$1 kind=$2 password=$3 stretches=$4 device before found=- after=-
    # cryptsetup reads with direct I/O, which a file on 9p can't do.
    device=$(losetup --find --show "$name")
    if cryptsetup open --type bitlk --volume-key-file "key-$name" "$device" judged; then
        before=$(plain_sha256 "$stretches")
        if [ "$kind" = none ]; then
            dd if="pattern-$name" of=/dev/mapper/judged bs=4096 seek=10 conv=notrunc,fsync status=none
        elif mount -t "$kind" /dev/mapper/judged /mnt; then
            [ ! -f /mnt/from-the-host ] || found=$(sha256sum </mnt/from-the-host | cut -d' ' -f1)
            cp "pattern-$name" /mnt/from-the-guest
            umount /mnt
        else
            found="not mounted"
        fi
        printf '%s\topened\t%s\t%s\t%s\t%s' "$name" "$(blockdev --getsize64 /dev/mapper/judged)" \
            "$(blockdev --getss /dev/mapper/judged)" "$before" "$found" >>results.tsv
        cryptsetup close judged
        if [ "$password" != - ] && cryptsetup open --type bitlk --readonly "$device" judged <"$password"; then
            after=$(plain_sha256 "$stretches")
            cryptsetup close judged
        fi
        printf '\t%s\n' "$after" >>results.tsv
    else
        printf '%s\trefused\n' "$name" >>results.tsv
    fi
    losetup --detach "$device"
}

cryptsetup --version
while IFS=$'\t' read -r name kind password stretches; do
    echo "judging $name"
    judge "$name" "$kind" "$password" "$stretches"
done <cases.tsv
