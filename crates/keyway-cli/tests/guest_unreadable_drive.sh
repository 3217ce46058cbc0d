#!/bin/sh
# A drive with sectors of 512 bytes that can't be read until they are written, for nbdkit's sh plugin.
#
# $DRIVE/image: what is on it; $DRIVE/bad: the first byte of each bad sector
bad_in() {
    for bad in $(cat "$DRIVE/bad"); do
        if [ "$bad" -lt $(($2 + $1)) ] && [ $((bad + 512)) -gt "$2" ]; then
            echo "$bad"
        fi
    done
}
case $1 in
get_size) stat -Lc %s "$DRIVE/image" ;;
pread)
    if [ -n "$(bad_in "$3" "$4")" ]; then
        echo EIO the sector is bad >&2
        exit 1
    fi
    dd if="$DRIVE/image" iflag=skip_bytes,count_bytes,fullblock skip="$4" count="$3" bs=1M status=none
    ;;
pwrite)
    dd of="$DRIVE/image" oflag=seek_bytes seek="$4" bs=1M conv=notrunc status=none
    for bad in $(bad_in "$3" "$4"); do
        sed -i "/^$bad\$/d" "$DRIVE/bad"
    done
    ;;
can_write | can_flush | flush) exit 0 ;;
*) exit 2 ;;
esac
