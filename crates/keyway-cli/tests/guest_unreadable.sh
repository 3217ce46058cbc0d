# Runs in the guest: a drive with sectors that can't be read is encrypted.
#
# said.tsv: what was found; SECTORS: the bad sectors of 512 bytes
export LC_ALL=C
modprobe -a dm-crypt

say() {
    printf '%s\t%s\n' "$1" "$2" >>said.tsv
}

drive=/dev/vda
secret="--password-file password --pim 1"

/tmp/keyway encrypt $drive $secret --cipher aes --yes --json >/tmp/answer 2>/tmp/complaint
say refused.code $?
cat /tmp/answer /tmp/complaint
first=$(head -1 sectors)
say refused.place "$(grep -c "512 bytes at offset $((first * 512)) of" /tmp/answer)"
say refused.step "$(grep -c -- '--skip-unreadable' /tmp/answer)"

/tmp/keyway resume $drive $secret --skip-unreadable /tmp/list --json >/tmp/answer 2>/tmp/complaint
say resumed.code $?
cat /tmp/answer /tmp/complaint /tmp/list
say resumed.bytes "$(sed -n 's/.*"unreadable_bytes": *\([0-9]*\).*/\1/p' /tmp/answer)"
say resumed.list "$(grep -v '^#' /tmp/list | sort -n | tr '\n' ';')"
say resumed.told "$(grep -c 'could not be read' /tmp/complaint)"

cryptsetup open --type tcrypt --veracrypt --veracrypt-pim 1 -h sha512 $drive opened <password
opened=$?
say judge.opened $opened
debugfs -R "dump /big /tmp/big" /dev/mapper/opened
say judge.content "$(sha256sum </tmp/big | cut -d' ' -f1)"
e2fsck -fn /dev/mapper/opened
say judge.clean $?
cryptsetup close opened
