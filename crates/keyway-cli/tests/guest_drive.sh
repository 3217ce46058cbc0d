# Runs in the guest: sedutil, cryptsetup and keyway take turns at the virtual drive. What fails ends it.
set -eu

note() {
    printf '%s\t%s\n' "$1" "$2" >>said.tsv
}
keyway() {
    ./keyway drive "$@" --json
}
state() {
    keyway info $dev | sed -n 's/^  "state": *"\([a-z-]*\)".*/\1/p'
}
# What lies on the drive now, past every cache; nothing where it can't be read.
content() {
    dd if=$dev bs=1M count=2 iflag=direct 2>/dev/null | sha256sum | cut -d' ' -f1
}
fill() {
    dd if=/dev/urandom of=content bs=1M count=2 2>/dev/null
    dd if=content of=$dev bs=1M oflag=direct 2>/dev/null
    written=$(sha256sum <content | cut -d' ' -f1)
}
expect() {
    [ "$2" = "$3" ] || { echo "$1: $2 instead of $3"; exit 1; }
    note "$1" ok
}
differ() {
    [ "$2" != "$3" ] || { echo "$1: $2"; exit 1; }
    note "$1" ok
}

connect ""
expect factory "$(state)" factory

echo "== sedutil sets up, keyway unlocks"
fill
sedutil-cli --initialSetup "$(cat pw)" $dev
sedutil-cli --enableLockingRange 0 "$(cat pw)" $dev
expect kept-by-sedutil "$(content)" "$written"
power_cycle
expect locked-by-sedutil "$(state)" locked
differ unreadable "$(content)" "$written"
./keyway status $dev >status.txt
code=0
keyway unlock $dev --password-file wrong >wrong.json || code=$?
expect wrong-password-code $code 3
keyway unlock $dev --as admin1 --password-file pw
expect unlocked-by-keyway "$(content)" "$written"
sedutil-cli --query $dev >query.txt
grep -q 'Locked = N' query.txt
keyway lock $dev --as admin1 --password-file pw
sedutil-cli --query $dev | grep -q 'Locked = Y'
sedutil-cli --setLockingRange 0 RW "$(cat pw)" $dev
expect unlocked-by-sedutil "$(content)" "$written"
keyway revert $dev --psid psid --yes
expect reverted-by-keyway "$(state)" factory
differ gone-by-keyway "$(content)" "$written"

echo "== keyway sets up, sedutil unlocks"
fill
keyway setup $dev --password-file pw --admin-password-file admin
expect locked-by-keyway "$(state)" locked
power_cycle
differ unreadable-again "$(content)" "$written"
sedutil-cli --setLockingRange 0 RW "$(cat admin)" $dev
expect unlocked-by-sedutil-again "$(content)" "$written"
keyway lock $dev --password-file pw
keyway unlock $dev --password-file pw --for-resume >resume.json
grep -q '"saved_for_resume": true' resume.json
expect unlocked-by-user "$(content)" "$written"
keyway lock $dev --password-file pw
expect locked-before-the-kernel "$(state)" locked
# What the kernel does when the machine wakes up: the same call, with the same secret, that it was left with.
code=0
keyway unlock $dev --by-kernel --password-file wrong >wrong-kernel.json || code=$?
expect wrong-password-by-kernel $code 3
keyway unlock $dev --by-kernel --for-resume --password-file pw
expect unlocked-by-kernel "$(content)" "$written"
keyway lock $dev --password-file pw
keyway unlock $dev --by-kernel --save --read-only --as admin1 --password-file admin
expect read-only-by-kernel "$(content)" "$written"
code=0
dd if=/dev/zero of=$dev bs=4096 count=1 oflag=direct 2>/dev/null || code=$?
expect not-written-by-kernel $code 1
sedutil-cli --yesIreallywanttoERASEALLmydatausingthePSID "$(cat psid)" $dev
expect reverted-by-sedutil "$(state)" factory
differ gone-by-sedutil "$(content)" "$written"

echo "== a recovery sheet does not go onto its own drive"
mkfs.ext4 -q $dev
mkdir -p /tmp/mnt
mount $dev /tmp/mnt
for device in $dev $ctl; do
    code=0
    keyway setup $device --leave-unlocked --recovery-sheet /tmp/mnt/sheet --password-file pw >own.json || code=$?
    expect "no-sheet-on-the-drive-$device" $code 2
    code=0
    keyway setup $device --recovery-sheet sheet --password-file pw >busy.json || code=$?
    expect "not-locked-while-mounted-$device" $code 6
done
[ ! -e /tmp/mnt/sheet ] && [ ! -e sheet ]
umount /tmp/mnt
expect still-factory "$(state)" factory

echo "== cryptsetup uses the drive, keyway recognises it"
cryptsetup luksFormat -q --type luks2 --hw-opal-only --pbkdf pbkdf2 --pbkdf-force-iterations 1000 $dev pw <admin
keyway info $dev >luks.json
grep -q 'LUKS2 with OPAL: the drive alone' luks.json
keyway range list $dev --hash plain --password-file admin >ranges.json
note cryptsetup ok
