# Runs in the guest: opens converted volumes with cryptsetup, checks and mounts what is inside.
# how-NAME holds what it is (tcrypt, bitlk, plain), its cipher in cryptsetup's words, and its file system.
# results.tsv: name, "clean" or what is wrong, SHA-256 of the file inside
export LC_ALL=C
modprobe -a dm-crypt loop ext4 ntfs3 serpent_generic twofish_generic
for image in converted-*; do
    name=${image#converted-}
    read -r what cipher fs <"how-$name"
    device=$(losetup --find --show "$image")
    verdict=refused sum=- inside=/dev/mapper/judged
    case $what in
    tcrypt)
        cryptsetup open --type tcrypt --veracrypt --veracrypt-pim 1 -h sha512 -c "$cipher" \
            "$device" judged <password || inside=
        ;;
    bitlk) cryptsetup open --type bitlk "$device" judged <password || inside= ;;
    plain) inside=$device ;;
    esac
    if [ -n "$inside" ]; then
        verdict=damaged
        case $fs in
        ext4) e2fsck -f -n "$inside" ;;
        ntfs3) ntfsresize --info --force --no-progress-bar --bad-sectors "$inside" ;;
        esac && verdict=clean
        if mount -t "$fs" "$inside" /mnt; then
            sum=$(sha256sum </mnt/big | cut -d' ' -f1)
            umount /mnt
        fi
        [ "$what" = plain ] || cryptsetup close judged
    fi
    losetup --detach "$device"
    printf '%s\t%s\t%s\n' "$name" "$verdict" "$sum" >>results.tsv
done
