# Runs in the guest: sedutil and keyway read a virtual drive of the Enterprise SSC.
can connect connect ""
can scan bash -c "sedutil-cli --scan >scan; grep -q 'nvme0 *E' scan"
can query bash -c "sedutil-cli --query $ctl >query; grep -q 'Enterprise' query"
can default-pin bash -c "sedutil-cli --printDefaultPassword $ctl >pin; grep -q \"\$(cat msid)\" pin"
# As each band's master, by the factory's PIN.
can bands sedutil-cli -n --listLockingRanges "$(cat msid)" $ctl
can all-bands grep -q 'Band15' log
cannot wrong-pin sedutil-cli -n --listLockingRange 1 wrong $ctl
cannot not-changed sedutil-cli -n --setLockingRange 0 LK "$(cat msid)" $ctl
for device in $dev $ctl; do
    can "info-$device" bash -c "./keyway drive info $device --json >info; grep -q '\"authority\": \"BandMaster15\"' info"
done
can info-in-words bash -c "./keyway drive info $dev | grep -q 'everything else, never locks, BandMaster0'"
can readable read_at 0
cat scan query >>log
can finished true
