# Runs in the guest: opens converted volumes with cryptsetup, checks and mounts what is inside.
# results.tsv: name, "clean" or what is wrong, SHA-256 of the file inside
export LC_ALL=C
modprobe -a dm-crypt loop ext4 serpent_generic twofish_generic
for image in converted-*; do
    device=$(losetup --find --show "$image")
    verdict=refused sum=-
    if cryptsetup open --type tcrypt --veracrypt --veracrypt-pim 1 -h sha512 \
        -c "$(cat "cipher-${image#converted-}")" "$device" judged <password; then
        verdict=damaged
        if e2fsck -f -n /dev/mapper/judged; then
            verdict=clean
            mount /dev/mapper/judged /mnt
            sum=$(sha256sum </mnt/big | cut -d' ' -f1)
            umount /mnt
        fi
        cryptsetup close judged
    fi
    losetup --detach "$device"
    printf '%s\t%s\t%s\n' "${image#converted-}" "$verdict" "$sum" >>results.tsv
done
