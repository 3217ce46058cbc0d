# Runs in the guest: the kernel's NVMe driver connects to the host's controller with and without its secrets, which lie
# beside this script.
#
# said.tsv: each thing that was tried, and ok, or how it failed
export LC_ALL=C
modprobe nvme-tcp
modprobe -a sha256_generic hmac 2>/dev/null
host=$(cat host)
controller=$(cat controller)
other=$controller
dev=/dev/nvme0n1
: >said.tsv

can() {
    local what=$1
    shift
    if "$@" >>log 2>&1; then echo "$what	ok"; else echo "$what	exit code $?"; fi >>said.tsv
}
cannot() {
    local what=$1
    shift
    if "$@" >>log 2>&1; then echo "$what	it worked"; else echo "$what	ok"; fi >>said.tsv
}
connect() {
    echo "transport=tcp,traddr=10.0.2.2,trsvcid=$(cat port),nqn=$(cat nqn),nr_io_queues=2,hostnqn=nqn.2014-08.org.nvmexpress:uuid:6f6a0b3c-0f0e-4a6e-9d0c-0123456789ab,hostid=6f6a0b3c-0f0e-4a6e-9d0c-0123456789ab$1" >/dev/nvme-fabrics || return 1
    for n in $(seq 50); do
        [ -b $dev ] && return 0
        sleep 0.1
    done
    return 1
}
disconnect() {
    echo 1 >/sys/class/nvme/nvme0/delete_controller
    while [ -b $dev ]; do sleep 0.1; done
}
works() {
    dd if=/dev/urandom of=/tmp/block bs=4096 count=16 2>/dev/null &&
        dd if=/tmp/block of=$dev bs=4096 oflag=direct 2>/dev/null &&
        dd if=$dev bs=4096 count=16 iflag=direct 2>/dev/null | cmp - /tmp/block
}

cannot without-secret connect ""
cannot wrong-secret connect ",dhchap_secret=$other"
can right-secret connect ",dhchap_secret=$host"
can reads-and-writes works
# Proves it again on a connection that is in use.
can again bash -c "printf %s '$host' >/sys/class/nvme/nvme0/dhchap_secret"
can reads-and-writes-on works
disconnect
can both-ways connect ",dhchap_secret=$host,dhchap_ctrl_secret=$controller"
can reads-and-writes-both works
disconnect
cannot wrong-controller connect ",dhchap_secret=$host,dhchap_ctrl_secret=$host"
can and-after-all connect ",dhchap_secret=$host"
dmesg | grep -i nvme >>log
can finished true
