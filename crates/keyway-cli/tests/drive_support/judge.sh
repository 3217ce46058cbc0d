# What the jobs share that try a virtual drive in the guest; it is put in front of each. The host serves the drive (its
# port, name and label lie beside the job). It takes the drive's power away for a moment when it sees the file `cycle`,
# and removes that file.
#
# said.tsv: each thing that was tried, and ok, or how it failed
export LC_ALL=C
modprobe nvme-tcp
dev=/dev/nvme0n1
ctl=/dev/nvme0
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
# Connects to the host's controller, with further options of the kernel's; fails where no disk appears.
connect() {
    echo "transport=tcp,traddr=10.0.2.2,trsvcid=$(cat port),nqn=$(cat nqn),nr_io_queues=2$1" >/dev/nvme-fabrics || return 1
    for n in $(seq 600); do
        [ -b $dev ] && return 0
        sleep 0.1
    done
    return 1
}
# (`touch` would set times as well, of a file that the host may have taken away by then.)
power_cycle() {
    sync
    : >cycle
    while [ -e cycle ]; do sleep 0.1; done
    echo 3 >/proc/sys/vm/drop_caches
}
# Reads 4 KiB at a multiple of 4 KiB, past every cache; writes them; compares them.
read_at() { dd if=$dev of="${2:-/dev/null}" bs=4096 skip="$1" count=1 iflag=direct; }
write_at() { dd if="$2" of=$dev bs=4096 seek="$1" count=1 oflag=direct; }
holds() { read_at "$1" /tmp/back && cmp /tmp/back "$2"; }
