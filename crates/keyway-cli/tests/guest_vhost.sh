# Runs in the guest: a disk that came over vhost-user is read, gets a file system, is written to in
# several depths, and told what is no longer needed.
#
# said.tsv: what was found; `written` and `lines`: what lies in the file system now
export LC_ALL=C
modprobe -a virtio_blk ext4
set -e

note() {
    printf '%s\t%s\n' "$1" "$2" >>said.tsv
}

note bytes "$(blockdev --getsize64 /dev/vda)"
note sector "$(cat /sys/block/vda/queue/logical_block_size)"
note serial "$(cat /sys/block/vda/serial)"
note read_only "$(blockdev --getro /dev/vdb)"
note before "$(sha256sum </dev/vda | cut -d' ' -f1)"
if dd if=/dev/zero of=/dev/vdb bs=4k count=1 oflag=direct 2>/dev/null; then
    note refused no
fi
note second "$(sha256sum </dev/vdb | cut -d' ' -f1)"
blkdiscard -z -o 1M -l 2M /dev/vda
note zeroed "$(dd if=/dev/vda bs=1M skip=1 count=2 iflag=direct status=none | tr -d '\0' | wc -c)"
mkfs.ext4 -q -F -b 4096 /dev/vda
mount /dev/vda /mnt
dd if=/dev/urandom of=/mnt/written bs=1M count=6 oflag=direct status=none
for job in 1 2 3 4; do
    dd if=/dev/urandom of=/mnt/part$job bs=64k count=16 oflag=direct status=none &
done
wait
dd if=/dev/urandom of=/mnt/gone bs=64k count=40 conv=fsync status=none
for i in $(seq 200); do
    echo "line $i of a file that grows" >>/mnt/lines
done
cat /mnt/part1 /mnt/part2 /mnt/part3 /mnt/part4 >/mnt/parts
rm /mnt/gone
note trimmed "$(fstrim -v /mnt 2>&1)"
cp /mnt/written /mnt/lines /mnt/parts .
umount /mnt
echo 3 >/proc/sys/vm/drop_caches
mount -o ro /dev/vda /mnt
cmp /mnt/written written
cmp /mnt/lines lines
umount /mnt
e2fsck -fn /dev/vda >e2fsck 2>&1
