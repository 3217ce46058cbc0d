# Runs in the guest: the kernel's own NBD client takes the export of the host, whose port is in
# the file `port`; reads all of it, makes a file system there and writes into it.
#
# said.tsv: what was found; `written` and `copied`: what lies in the file system now
export LC_ALL=C
modprobe -a nbd ext4
set -e

note() {
    printf '%s\t%s\n' "$1" "$2" >>said.tsv
}

nbd-client 10.0.2.2 "$(cat port)" /dev/nbd0 -b 4096 -C 2
note bytes "$(blockdev --getsize64 /dev/nbd0)"
note before "$(sha256sum </dev/nbd0 | cut -d' ' -f1)"
mkfs.ext4 -q -F -b 4096 /dev/nbd0
mount /dev/nbd0 /mnt
# Large and direct, small and buffered, a file that is changed in its middle and one that goes.
dd if=/dev/urandom of=/mnt/written bs=1M count=6 oflag=direct status=none
dd if=/dev/urandom of=/mnt/gone bs=64k count=40 conv=fsync status=none
for i in $(seq 200); do
    echo "line $i of a file that grows" >>/mnt/lines
done
dd if=/dev/urandom of=/mnt/written bs=777 seek=3000 count=100 conv=notrunc,fsync status=none
rm /mnt/gone
note trimmed "$(fstrim -v /mnt 2>&1)"
cp /mnt/written /mnt/lines .
umount /mnt
# Past every cache of the client.
echo 3 >/proc/sys/vm/drop_caches
mount -o ro /dev/nbd0 /mnt
cmp /mnt/written written
cmp /mnt/lines lines
umount /mnt
e2fsck -fn /dev/nbd0 >e2fsck 2>&1
nbd-client -d /dev/nbd0
