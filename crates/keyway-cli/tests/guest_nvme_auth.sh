# Runs in the guest: the kernel's NVMe driver connects to the host's controller with and without its secrets, which lie
# beside this script.
modprobe -a sha256_generic hmac 2>/dev/null
host=$(cat host)
controller=$(cat controller)
other=$controller

# As the same host each time.
connect_with() {
    connect ",hostnqn=nqn.2014-08.org.nvmexpress:uuid:6f6a0b3c-0f0e-4a6e-9d0c-0123456789ab,hostid=6f6a0b3c-0f0e-4a6e-9d0c-0123456789ab$1"
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

cannot without-secret connect_with ""
cannot wrong-secret connect_with ",dhchap_secret=$other"
can right-secret connect_with ",dhchap_secret=$host"
can reads-and-writes works
# Proves it again on a connection that is in use.
can again bash -c "printf %s '$host' >/sys/class/nvme/nvme0/dhchap_secret"
can reads-and-writes-on works
disconnect
can both-ways connect_with ",dhchap_secret=$host,dhchap_ctrl_secret=$controller"
can reads-and-writes-both works
disconnect
cannot wrong-controller connect_with ",dhchap_secret=$host,dhchap_ctrl_secret=$host"
can and-after-all connect_with ",dhchap_secret=$host"
dmesg | grep -i nvme >>log
can finished true
