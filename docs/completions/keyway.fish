# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_keyway_global_optspecs
    string join \n json yes v/verbose q/quiet progress= log= h/help V/version
end

function __fish_keyway_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_keyway_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_keyway_using_subcommand
    set -l cmd (__fish_keyway_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c keyway -n "__fish_keyway_needs_command" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_needs_command" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_needs_command" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_needs_command" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_needs_command" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_needs_command" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_needs_command" -s V -l version -d 'Print version'
complete -c keyway -n "__fish_keyway_needs_command" -f -a "demo" -d 'Take the tour: make volumes, open, write, verify, measure, clean up'
complete -c keyway -n "__fish_keyway_needs_command" -f -a "create" -d 'Make a new volume in a file or on a device, or a hidden one inside'
complete -c keyway -n "__fish_keyway_needs_command" -f -a "open" -d 'Unlock a volume and attach it as a file or device, mounted if asked'
complete -c keyway -n "__fish_keyway_needs_command" -f -a "close" -d 'Flush, unmount and detach a volume, and wipe its keys'
complete -c keyway -n "__fish_keyway_needs_command" -f -a "favourite" -d 'Keep a volume under a name, with all that opens it but its secret'
complete -c keyway -n "__fish_keyway_needs_command" -f -a "status" -d 'Tell what is open, or everything about one volume'
complete -c keyway -n "__fish_keyway_needs_command" -f -a "info" -d 'Tell what a volume\'s header says, or what is seen from outside'
complete -c keyway -n "__fish_keyway_needs_command" -f -a "cat" -d 'Write a volume\'s decrypted bytes to standard output'
complete -c keyway -n "__fish_keyway_needs_command" -f -a "ls" -d 'List the files in a volume, with no mount and no root'
complete -c keyway -n "__fish_keyway_needs_command" -f -a "get" -d 'Copy files and folders out of a volume, with no mount and no root'
complete -c keyway -n "__fish_keyway_needs_command" -f -a "put" -d 'Copy files and folders into a volume'
complete -c keyway -n "__fish_keyway_needs_command" -f -a "protector" -d 'List or change what opens a volume: passwords, keyfiles, TPMs …'
complete -c keyway -n "__fish_keyway_needs_command" -f -a "header" -d 'Back up, restore, check or repair a volume\'s header'
complete -c keyway -n "__fish_keyway_needs_command" -f -a "erase" -d 'Destroy every key of a volume, so that nobody can open it again'
complete -c keyway -n "__fish_keyway_needs_command" -f -a "drive" -d 'Drives that encrypt by themselves: set up, lock, unlock, erase'
complete -c keyway -n "__fish_keyway_needs_command" -f -a "encrypt" -d 'Encrypt a file system in place, or give a volume another cipher'
complete -c keyway -n "__fish_keyway_needs_command" -f -a "resize" -d 'Make a volume larger or smaller, with everything in it'
complete -c keyway -n "__fish_keyway_needs_command" -f -a "decrypt" -d 'Decrypt a volume in place'
complete -c keyway -n "__fish_keyway_needs_command" -f -a "pause" -d 'Stop a conversion in good order, until `keyway resume`'
complete -c keyway -n "__fish_keyway_needs_command" -f -a "resume" -d 'Go on with a conversion that was paused or interrupted'
complete -c keyway -n "__fish_keyway_needs_command" -f -a "serve" -d 'Serve a volume to virtual machines and NBD clients'
complete -c keyway -n "__fish_keyway_needs_command" -f -a "bench" -d 'Measure ciphers and key derivations on this machine'
complete -c keyway -n "__fish_keyway_needs_command" -f -a "lab" -d 'Measure what encryption costs on a drive, modelled or real'
complete -c keyway -n "__fish_keyway_needs_command" -f -a "doctor" -d 'Tell what this machine can do, and what is encrypted on it'
complete -c keyway -n "__fish_keyway_using_subcommand demo" -l report -d 'Where the page with the measurements goes [default: report.html, or the next free name]' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand demo" -l minutes -d 'Measure for so long at most, until all that encryption costs is decided [default: 1]' -r
complete -c keyway -n "__fish_keyway_using_subcommand demo" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand demo" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand demo" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand demo" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand demo" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand demo" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand demo" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand create" -l size -d 'The file\'s size, headers included: 512M, 10G' -r
complete -c keyway -n "__fish_keyway_using_subcommand create" -l hidden -d 'Make a hidden volume of this size inside the one at PATH, or with --size inside the new one' -r
complete -c keyway -n "__fish_keyway_using_subcommand create" -l format -d 'The format' -r -f -a "veracrypt\t'VeraCrypt'
bitlocker\t'BitLocker'"
complete -c keyway -n "__fish_keyway_using_subcommand create" -l cipher -d 'The cipher or cascade, outermost first' -r -f -a "aes\t''
serpent\t''
twofish\t''
aes-twofish\t''
aes-twofish-serpent\t''
serpent-aes\t''
serpent-twofish-aes\t''
twofish-serpent\t''
camellia\t''
kuznyechik\t''
camellia-kuznyechik\t''
camellia-serpent\t''
kuznyechik-aes\t''
kuznyechik-twofish\t''
kuznyechik-serpent-camellia\t''
aes-xts-256\t''
aes-xts-128\t''
aes-cbc-256\t''
aes-cbc-128\t''
aes-cbc-256-elephant\t''
aes-cbc-128-elephant\t''"
complete -c keyway -n "__fish_keyway_using_subcommand create" -l hash -d 'The key derivation: sha512 (default), sha256, whirlpool, streebog, blake2s, argon2id' -r -f -a "sha512\t''
sha256\t''
whirlpool\t''
blake2s\t''
streebog\t''
argon2id\t''"
complete -c keyway -n "__fish_keyway_using_subcommand create" -l outer-hash -d 'The key derivation of the outer volume that is there' -r
complete -c keyway -n "__fish_keyway_using_subcommand create" -l filesystem -d 'The file system to make inside: ext4, exfat, ntfs, fat, btrfs, xfs or none' -r -f -a "ext4\t''
exfat\t''
ntfs\t''
fat\t''
btrfs\t''
xfs\t''
none\t''"
complete -c keyway -n "__fish_keyway_using_subcommand create" -l label -d 'The file system\'s name' -r
complete -c keyway -n "__fish_keyway_using_subcommand create" -l password-file -d 'Read the password of the volume from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand create" -l password-fd -d 'Read the password of the volume from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand create" -l keyfile -d 'A keyfile of the volume' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand create" -l pim -d 'The PIM of the volume' -r
complete -c keyway -n "__fish_keyway_using_subcommand create" -l hidden-password-file -d 'Read the password of the hidden volume from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand create" -l hidden-password-fd -d 'Read the password of the hidden volume from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand create" -l hidden-keyfile -d 'A keyfile of the hidden volume' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand create" -l hidden-pim -d 'The PIM of the hidden volume' -r
complete -c keyway -n "__fish_keyway_using_subcommand create" -l recovery-file -d 'Write the recovery password to this new file instead of printing it' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand create" -l startup-key-out -d 'Make a startup key and write its .BEK file into this folder' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand create" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand create" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand create" -l quick -d 'Do not fill the volume with random bytes first, the outer or the hidden one'
complete -c keyway -n "__fish_keyway_using_subcommand create" -l force -d 'Replace the file that is at PATH'
complete -c keyway -n "__fish_keyway_using_subcommand create" -l dry-run -d 'Print what would be done, and do nothing'
complete -c keyway -n "__fish_keyway_using_subcommand create" -l to-go -d 'Let programs that know no BitLocker see a small file system with a note in it'
complete -c keyway -n "__fish_keyway_using_subcommand create" -l no-recovery-password -d 'Make no recovery password'
complete -c keyway -n "__fish_keyway_using_subcommand create" -l no-password -d 'Set no password'
complete -c keyway -n "__fish_keyway_using_subcommand create" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand create" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand create" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand create" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand create" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand open" -l mount-options -d 'Mount it with these options of mount(8), as `noatime,uid=1000`' -r
complete -c keyway -n "__fish_keyway_using_subcommand open" -l attach -d 'How the volume reaches you' -r -f -a "auto\t'The best this machine offers'
fuse\t'A file, and as root a loop device on it'
files\t'The files inside in a folder, for reading, without the kernel\'s drivers'
nbd\t'A socket for network block device clients'
vhost-user\t'A socket for virtual machines (vhost-user-blk)'
ublk\t'A block device of the kernel\'s ublk driver; root\'s outlives its server, users need udev\'s help'
dm-crypt\t'A block device of the kernel\'s own: the key goes to dm-crypt, which does the work (needs root)'"
complete -c keyway -n "__fish_keyway_using_subcommand open" -l close-when-idle -d 'Close by itself when nothing was read or written for so long, and nobody uses it: 90s, 30m, 2h' -r
complete -c keyway -n "__fish_keyway_using_subcommand open" -l password-file -d 'Read the password of the volume from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand open" -l password-fd -d 'Read the password of the volume from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand open" -l keyfile -d 'A keyfile of the volume' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand open" -l pim -d 'The PIM of the volume' -r
complete -c keyway -n "__fish_keyway_using_subcommand open" -l recovery-password -d 'The recovery password: its 48 digits, or a file that holds it' -r
complete -c keyway -n "__fish_keyway_using_subcommand open" -l startup-key -d 'The startup key\'s file, or a folder in which the volume\'s one is looked for' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand open" -l tpm -d 'Ask this machine\'s TPM for the key, or another one: a device\'s path, `swtpm:host=HOST,port=N`, `swtpm:path=SOCKET`' -r
complete -c keyway -n "__fish_keyway_using_subcommand open" -l pin-file -d 'Read the PIN of the TPM\'s protector from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand open" -l pin-fd -d 'Read that PIN from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand open" -l format -d 'Only look for this format' -r -f -a "veracrypt\t'VeraCrypt'
truecrypt\t'TrueCrypt'
bitlocker\t'BitLocker'"
complete -c keyway -n "__fish_keyway_using_subcommand open" -l hash -d 'Only try this key derivation\'s hash: sha512, sha256, blake2s, whirlpool, streebog, ripemd160, sha1, argon2id' -r -f -a "sha512\t''
sha256\t''
whirlpool\t''
blake2s\t''
ripemd160\t''
streebog\t''
argon2id\t''
sha1\t''"
complete -c keyway -n "__fish_keyway_using_subcommand open" -l header -d 'Which copy of the header to use' -r -f -a "auto\t'The primary one, and where that does not open, the backup'
primary\t'Only the one at the beginning'
backup\t'Only the one at the end'"
complete -c keyway -n "__fish_keyway_using_subcommand open" -l partition -d 'VOLUME is a disk, and this partition of it is meant' -r
complete -c keyway -n "__fish_keyway_using_subcommand open" -l system-header -d 'VOLUME is one partition of an encrypted system: its drive, the drive\'s image, or the 512 bytes of its header' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand open" -l protect-password-file -d 'Read the password of the hidden volume from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand open" -l protect-password-fd -d 'Read the password of the hidden volume from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand open" -l protect-keyfile -d 'A keyfile of the hidden volume' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand open" -l protect-pim -d 'The PIM of the hidden volume' -r
complete -c keyway -n "__fish_keyway_using_subcommand open" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand open" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand open" -l read-only -d 'Refuse every write'
complete -c keyway -n "__fish_keyway_using_subcommand open" -l allow-discards -d 'Pass discards (TRIM) on to the medium: keeps an SSD fast and a file sparse, and shows which parts are unused'
complete -c keyway -n "__fish_keyway_using_subcommand open" -l cache -d 'Let the block device go through a page cache, as a plain loop device does: reads come from memory where they can, writes wait there for a flush (needs root; a mounted file system has a page cache of its own)'
complete -c keyway -n "__fish_keyway_using_subcommand open" -l protect-hidden -d 'Refuse writes that would damage the hidden volume'
complete -c keyway -n "__fish_keyway_using_subcommand open" -l foreground -d 'Stay here until the volume is closed or Ctrl-C comes'
complete -c keyway -n "__fish_keyway_using_subcommand open" -l require-sandbox -d 'Refuse where this kernel lacks a layer of the sandbox (`keyway doctor`)'
complete -c keyway -n "__fish_keyway_using_subcommand open" -l dry-run -d 'Print what would be done, and do nothing'
complete -c keyway -n "__fish_keyway_using_subcommand open" -l try-variants -d 'Try a wrong password in other spellings and as of other keyboard layouts, too'
complete -c keyway -n "__fish_keyway_using_subcommand open" -l system -d 'The volume is an encrypted system partition or drive'
complete -c keyway -n "__fish_keyway_using_subcommand open" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand open" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand open" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand open" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand open" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand close" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand close" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand close" -l all -d 'Close everything this user has open'
complete -c keyway -n "__fish_keyway_using_subcommand close" -l if-open -d 'It is no failure that the volume is not open'
complete -c keyway -n "__fish_keyway_using_subcommand close" -l exit-code -d 'End with 7, not with 1, where the volume is not open'
complete -c keyway -n "__fish_keyway_using_subcommand close" -l dry-run -d 'Print what would be done, and do nothing'
complete -c keyway -n "__fish_keyway_using_subcommand close" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand close" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand close" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand close" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand close" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and not __fish_seen_subcommand_from add list remove" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and not __fish_seen_subcommand_from add list remove" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and not __fish_seen_subcommand_from add list remove" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and not __fish_seen_subcommand_from add list remove" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and not __fish_seen_subcommand_from add list remove" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and not __fish_seen_subcommand_from add list remove" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and not __fish_seen_subcommand_from add list remove" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and not __fish_seen_subcommand_from add list remove" -f -a "add" -d 'Keep a volume, and what `open` takes beside it'
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and not __fish_seen_subcommand_from add list remove" -f -a "list" -d 'List them'
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and not __fish_seen_subcommand_from add list remove" -f -a "remove" -d 'Forget one; the volume stays as it is'
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from add" -l name -d 'What it is called' -r
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from add" -l mount-options -d 'Mount it with these options of mount(8), as `noatime,uid=1000`' -r
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from add" -l attach -d 'How the volume reaches you' -r -f -a "auto\t'The best this machine offers'
fuse\t'A file, and as root a loop device on it'
files\t'The files inside in a folder, for reading, without the kernel\'s drivers'
nbd\t'A socket for network block device clients'
vhost-user\t'A socket for virtual machines (vhost-user-blk)'
ublk\t'A block device of the kernel\'s ublk driver; root\'s outlives its server, users need udev\'s help'
dm-crypt\t'A block device of the kernel\'s own: the key goes to dm-crypt, which does the work (needs root)'"
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from add" -l close-when-idle -d 'Close by itself when nothing was read or written for so long, and nobody uses it: 90s, 30m, 2h' -r
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from add" -l password-file -d 'Read the password of the volume from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from add" -l password-fd -d 'Read the password of the volume from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from add" -l keyfile -d 'A keyfile of the volume' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from add" -l pim -d 'The PIM of the volume' -r
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from add" -l recovery-password -d 'The recovery password: its 48 digits, or a file that holds it' -r
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from add" -l startup-key -d 'The startup key\'s file, or a folder in which the volume\'s one is looked for' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from add" -l tpm -d 'Ask this machine\'s TPM for the key, or another one: a device\'s path, `swtpm:host=HOST,port=N`, `swtpm:path=SOCKET`' -r
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from add" -l pin-file -d 'Read the PIN of the TPM\'s protector from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from add" -l pin-fd -d 'Read that PIN from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from add" -l format -d 'Only look for this format' -r -f -a "veracrypt\t'VeraCrypt'
truecrypt\t'TrueCrypt'
bitlocker\t'BitLocker'"
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from add" -l hash -d 'Only try this key derivation\'s hash: sha512, sha256, blake2s, whirlpool, streebog, ripemd160, sha1, argon2id' -r -f -a "sha512\t''
sha256\t''
whirlpool\t''
blake2s\t''
ripemd160\t''
streebog\t''
argon2id\t''
sha1\t''"
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from add" -l header -d 'Which copy of the header to use' -r -f -a "auto\t'The primary one, and where that does not open, the backup'
primary\t'Only the one at the beginning'
backup\t'Only the one at the end'"
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from add" -l partition -d 'VOLUME is a disk, and this partition of it is meant' -r
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from add" -l system-header -d 'VOLUME is one partition of an encrypted system: its drive, the drive\'s image, or the 512 bytes of its header' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from add" -l protect-password-file -d 'Read the password of the hidden volume from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from add" -l protect-password-fd -d 'Read the password of the hidden volume from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from add" -l protect-keyfile -d 'A keyfile of the hidden volume' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from add" -l protect-pim -d 'The PIM of the hidden volume' -r
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from add" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from add" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from add" -l for-all -d 'For all users of this machine (needs root)'
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from add" -l at-boot -d 'Open it when the machine starts, by systemd'
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from add" -l force -d 'Replace the one that has this name'
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from add" -l read-only -d 'Refuse every write'
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from add" -l allow-discards -d 'Pass discards (TRIM) on to the medium: keeps an SSD fast and a file sparse, and shows which parts are unused'
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from add" -l cache -d 'Let the block device go through a page cache, as a plain loop device does: reads come from memory where they can, writes wait there for a flush (needs root; a mounted file system has a page cache of its own)'
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from add" -l protect-hidden -d 'Refuse writes that would damage the hidden volume'
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from add" -l foreground -d 'Stay here until the volume is closed or Ctrl-C comes'
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from add" -l require-sandbox -d 'Refuse where this kernel lacks a layer of the sandbox (`keyway doctor`)'
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from add" -l dry-run -d 'Print what would be done, and do nothing'
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from add" -l try-variants -d 'Try a wrong password in other spellings and as of other keyboard layouts, too'
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from add" -l system -d 'The volume is an encrypted system partition or drive'
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from add" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from add" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from add" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from add" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from add" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from list" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from list" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from list" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from list" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from list" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from list" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from remove" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from remove" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from remove" -l for-all -d 'One of all users\' (needs root)'
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from remove" -l dry-run -d 'Print what would be done, and do nothing'
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from remove" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from remove" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from remove" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from remove" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from remove" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand status" -l partition -d 'VOLUME is a disk, and this partition of it is meant' -r
complete -c keyway -n "__fish_keyway_using_subcommand status" -l journal -d 'The file with the journal of the conversion, where it is not beside the volume (VOLUME.keyway-journal)' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand status" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand status" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand status" -l exit-code -d 'End with 7 where the volume is not open'
complete -c keyway -n "__fish_keyway_using_subcommand status" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand status" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand status" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand status" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand info" -l journal -d 'The file with the journal of the conversion, where it is not beside the volume (VOLUME.keyway-journal)' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand info" -l password-file -d 'Read the password of the volume from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand info" -l password-fd -d 'Read the password of the volume from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand info" -l keyfile -d 'A keyfile of the volume' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand info" -l pim -d 'The PIM of the volume' -r
complete -c keyway -n "__fish_keyway_using_subcommand info" -l recovery-password -d 'The recovery password: its 48 digits, or a file that holds it' -r
complete -c keyway -n "__fish_keyway_using_subcommand info" -l startup-key -d 'The startup key\'s file, or a folder in which the volume\'s one is looked for' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand info" -l tpm -d 'Ask this machine\'s TPM for the key, or another one: a device\'s path, `swtpm:host=HOST,port=N`, `swtpm:path=SOCKET`' -r
complete -c keyway -n "__fish_keyway_using_subcommand info" -l pin-file -d 'Read the PIN of the TPM\'s protector from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand info" -l pin-fd -d 'Read that PIN from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand info" -l format -d 'Only look for this format' -r -f -a "veracrypt\t'VeraCrypt'
truecrypt\t'TrueCrypt'
bitlocker\t'BitLocker'"
complete -c keyway -n "__fish_keyway_using_subcommand info" -l hash -d 'Only try this key derivation\'s hash: sha512, sha256, blake2s, whirlpool, streebog, ripemd160, sha1, argon2id' -r -f -a "sha512\t''
sha256\t''
whirlpool\t''
blake2s\t''
ripemd160\t''
streebog\t''
argon2id\t''
sha1\t''"
complete -c keyway -n "__fish_keyway_using_subcommand info" -l header -d 'Which copy of the header to use' -r -f -a "auto\t'The primary one, and where that does not open, the backup'
primary\t'Only the one at the beginning'
backup\t'Only the one at the end'"
complete -c keyway -n "__fish_keyway_using_subcommand info" -l partition -d 'VOLUME is a disk, and this partition of it is meant' -r
complete -c keyway -n "__fish_keyway_using_subcommand info" -l system-header -d 'VOLUME is one partition of an encrypted system: its drive, the drive\'s image, or the 512 bytes of its header' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand info" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand info" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand info" -l ask -d 'Ask for the password on the terminal'
complete -c keyway -n "__fish_keyway_using_subcommand info" -l try-variants -d 'Try a wrong password in other spellings and as of other keyboard layouts, too'
complete -c keyway -n "__fish_keyway_using_subcommand info" -l system -d 'The volume is an encrypted system partition or drive'
complete -c keyway -n "__fish_keyway_using_subcommand info" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand info" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand info" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand info" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand info" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand cat" -l offset -d 'First byte' -r
complete -c keyway -n "__fish_keyway_using_subcommand cat" -l length -d 'How many bytes' -r
complete -c keyway -n "__fish_keyway_using_subcommand cat" -l password-file -d 'Read the password of the volume from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand cat" -l password-fd -d 'Read the password of the volume from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand cat" -l keyfile -d 'A keyfile of the volume' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand cat" -l pim -d 'The PIM of the volume' -r
complete -c keyway -n "__fish_keyway_using_subcommand cat" -l recovery-password -d 'The recovery password: its 48 digits, or a file that holds it' -r
complete -c keyway -n "__fish_keyway_using_subcommand cat" -l startup-key -d 'The startup key\'s file, or a folder in which the volume\'s one is looked for' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand cat" -l tpm -d 'Ask this machine\'s TPM for the key, or another one: a device\'s path, `swtpm:host=HOST,port=N`, `swtpm:path=SOCKET`' -r
complete -c keyway -n "__fish_keyway_using_subcommand cat" -l pin-file -d 'Read the PIN of the TPM\'s protector from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand cat" -l pin-fd -d 'Read that PIN from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand cat" -l format -d 'Only look for this format' -r -f -a "veracrypt\t'VeraCrypt'
truecrypt\t'TrueCrypt'
bitlocker\t'BitLocker'"
complete -c keyway -n "__fish_keyway_using_subcommand cat" -l hash -d 'Only try this key derivation\'s hash: sha512, sha256, blake2s, whirlpool, streebog, ripemd160, sha1, argon2id' -r -f -a "sha512\t''
sha256\t''
whirlpool\t''
blake2s\t''
ripemd160\t''
streebog\t''
argon2id\t''
sha1\t''"
complete -c keyway -n "__fish_keyway_using_subcommand cat" -l header -d 'Which copy of the header to use' -r -f -a "auto\t'The primary one, and where that does not open, the backup'
primary\t'Only the one at the beginning'
backup\t'Only the one at the end'"
complete -c keyway -n "__fish_keyway_using_subcommand cat" -l partition -d 'VOLUME is a disk, and this partition of it is meant' -r
complete -c keyway -n "__fish_keyway_using_subcommand cat" -l system-header -d 'VOLUME is one partition of an encrypted system: its drive, the drive\'s image, or the 512 bytes of its header' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand cat" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand cat" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand cat" -l require-sandbox -d 'Refuse where this kernel lacks a layer of the sandbox (`keyway doctor`)'
complete -c keyway -n "__fish_keyway_using_subcommand cat" -l try-variants -d 'Try a wrong password in other spellings and as of other keyboard layouts, too'
complete -c keyway -n "__fish_keyway_using_subcommand cat" -l system -d 'The volume is an encrypted system partition or drive'
complete -c keyway -n "__fish_keyway_using_subcommand cat" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand cat" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand cat" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand cat" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand cat" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand ls" -l password-file -d 'Read the password of the volume from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand ls" -l password-fd -d 'Read the password of the volume from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand ls" -l keyfile -d 'A keyfile of the volume' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand ls" -l pim -d 'The PIM of the volume' -r
complete -c keyway -n "__fish_keyway_using_subcommand ls" -l recovery-password -d 'The recovery password: its 48 digits, or a file that holds it' -r
complete -c keyway -n "__fish_keyway_using_subcommand ls" -l startup-key -d 'The startup key\'s file, or a folder in which the volume\'s one is looked for' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand ls" -l tpm -d 'Ask this machine\'s TPM for the key, or another one: a device\'s path, `swtpm:host=HOST,port=N`, `swtpm:path=SOCKET`' -r
complete -c keyway -n "__fish_keyway_using_subcommand ls" -l pin-file -d 'Read the PIN of the TPM\'s protector from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand ls" -l pin-fd -d 'Read that PIN from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand ls" -l format -d 'Only look for this format' -r -f -a "veracrypt\t'VeraCrypt'
truecrypt\t'TrueCrypt'
bitlocker\t'BitLocker'"
complete -c keyway -n "__fish_keyway_using_subcommand ls" -l hash -d 'Only try this key derivation\'s hash: sha512, sha256, blake2s, whirlpool, streebog, ripemd160, sha1, argon2id' -r -f -a "sha512\t''
sha256\t''
whirlpool\t''
blake2s\t''
ripemd160\t''
streebog\t''
argon2id\t''
sha1\t''"
complete -c keyway -n "__fish_keyway_using_subcommand ls" -l header -d 'Which copy of the header to use' -r -f -a "auto\t'The primary one, and where that does not open, the backup'
primary\t'Only the one at the beginning'
backup\t'Only the one at the end'"
complete -c keyway -n "__fish_keyway_using_subcommand ls" -l partition -d 'VOLUME is a disk, and this partition of it is meant' -r
complete -c keyway -n "__fish_keyway_using_subcommand ls" -l system-header -d 'VOLUME is one partition of an encrypted system: its drive, the drive\'s image, or the 512 bytes of its header' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand ls" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand ls" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand ls" -s r -l recursive -d 'Folders in folders, too'
complete -c keyway -n "__fish_keyway_using_subcommand ls" -l require-sandbox -d 'Refuse where this kernel lacks a layer of the sandbox (`keyway doctor`)'
complete -c keyway -n "__fish_keyway_using_subcommand ls" -l try-variants -d 'Try a wrong password in other spellings and as of other keyboard layouts, too'
complete -c keyway -n "__fish_keyway_using_subcommand ls" -l system -d 'The volume is an encrypted system partition or drive'
complete -c keyway -n "__fish_keyway_using_subcommand ls" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand ls" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand ls" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand ls" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand ls" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand get" -l password-file -d 'Read the password of the volume from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand get" -l password-fd -d 'Read the password of the volume from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand get" -l keyfile -d 'A keyfile of the volume' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand get" -l pim -d 'The PIM of the volume' -r
complete -c keyway -n "__fish_keyway_using_subcommand get" -l recovery-password -d 'The recovery password: its 48 digits, or a file that holds it' -r
complete -c keyway -n "__fish_keyway_using_subcommand get" -l startup-key -d 'The startup key\'s file, or a folder in which the volume\'s one is looked for' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand get" -l tpm -d 'Ask this machine\'s TPM for the key, or another one: a device\'s path, `swtpm:host=HOST,port=N`, `swtpm:path=SOCKET`' -r
complete -c keyway -n "__fish_keyway_using_subcommand get" -l pin-file -d 'Read the PIN of the TPM\'s protector from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand get" -l pin-fd -d 'Read that PIN from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand get" -l format -d 'Only look for this format' -r -f -a "veracrypt\t'VeraCrypt'
truecrypt\t'TrueCrypt'
bitlocker\t'BitLocker'"
complete -c keyway -n "__fish_keyway_using_subcommand get" -l hash -d 'Only try this key derivation\'s hash: sha512, sha256, blake2s, whirlpool, streebog, ripemd160, sha1, argon2id' -r -f -a "sha512\t''
sha256\t''
whirlpool\t''
blake2s\t''
ripemd160\t''
streebog\t''
argon2id\t''
sha1\t''"
complete -c keyway -n "__fish_keyway_using_subcommand get" -l header -d 'Which copy of the header to use' -r -f -a "auto\t'The primary one, and where that does not open, the backup'
primary\t'Only the one at the beginning'
backup\t'Only the one at the end'"
complete -c keyway -n "__fish_keyway_using_subcommand get" -l partition -d 'VOLUME is a disk, and this partition of it is meant' -r
complete -c keyway -n "__fish_keyway_using_subcommand get" -l system-header -d 'VOLUME is one partition of an encrypted system: its drive, the drive\'s image, or the 512 bytes of its header' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand get" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand get" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand get" -l force -d 'Put them in the place of files of these names'
complete -c keyway -n "__fish_keyway_using_subcommand get" -l skip-existing -d 'Leave files of these names and lengths as they are: an interrupted copy goes on'
complete -c keyway -n "__fish_keyway_using_subcommand get" -l require-sandbox -d 'Refuse where this kernel lacks a layer of the sandbox (`keyway doctor`)'
complete -c keyway -n "__fish_keyway_using_subcommand get" -l dry-run -d 'Print what would be done, and do nothing'
complete -c keyway -n "__fish_keyway_using_subcommand get" -l try-variants -d 'Try a wrong password in other spellings and as of other keyboard layouts, too'
complete -c keyway -n "__fish_keyway_using_subcommand get" -l system -d 'The volume is an encrypted system partition or drive'
complete -c keyway -n "__fish_keyway_using_subcommand get" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand get" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand get" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand get" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand get" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand put" -l to -d 'The folder in the volume that all of them go to, so that none of the words is one' -r
complete -c keyway -n "__fish_keyway_using_subcommand put" -l password-file -d 'Read the password of the volume from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand put" -l password-fd -d 'Read the password of the volume from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand put" -l keyfile -d 'A keyfile of the volume' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand put" -l pim -d 'The PIM of the volume' -r
complete -c keyway -n "__fish_keyway_using_subcommand put" -l recovery-password -d 'The recovery password: its 48 digits, or a file that holds it' -r
complete -c keyway -n "__fish_keyway_using_subcommand put" -l startup-key -d 'The startup key\'s file, or a folder in which the volume\'s one is looked for' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand put" -l tpm -d 'Ask this machine\'s TPM for the key, or another one: a device\'s path, `swtpm:host=HOST,port=N`, `swtpm:path=SOCKET`' -r
complete -c keyway -n "__fish_keyway_using_subcommand put" -l pin-file -d 'Read the PIN of the TPM\'s protector from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand put" -l pin-fd -d 'Read that PIN from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand put" -l format -d 'Only look for this format' -r -f -a "veracrypt\t'VeraCrypt'
truecrypt\t'TrueCrypt'
bitlocker\t'BitLocker'"
complete -c keyway -n "__fish_keyway_using_subcommand put" -l hash -d 'Only try this key derivation\'s hash: sha512, sha256, blake2s, whirlpool, streebog, ripemd160, sha1, argon2id' -r -f -a "sha512\t''
sha256\t''
whirlpool\t''
blake2s\t''
ripemd160\t''
streebog\t''
argon2id\t''
sha1\t''"
complete -c keyway -n "__fish_keyway_using_subcommand put" -l header -d 'Which copy of the header to use' -r -f -a "auto\t'The primary one, and where that does not open, the backup'
primary\t'Only the one at the beginning'
backup\t'Only the one at the end'"
complete -c keyway -n "__fish_keyway_using_subcommand put" -l partition -d 'VOLUME is a disk, and this partition of it is meant' -r
complete -c keyway -n "__fish_keyway_using_subcommand put" -l system-header -d 'VOLUME is one partition of an encrypted system: its drive, the drive\'s image, or the 512 bytes of its header' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand put" -l protect-password-file -d 'Read the password of the hidden volume from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand put" -l protect-password-fd -d 'Read the password of the hidden volume from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand put" -l protect-keyfile -d 'A keyfile of the hidden volume' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand put" -l protect-pim -d 'The PIM of the hidden volume' -r
complete -c keyway -n "__fish_keyway_using_subcommand put" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand put" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand put" -l force -d 'Put them in the place of files of these names'
complete -c keyway -n "__fish_keyway_using_subcommand put" -l skip-existing -d 'Leave files of these names and lengths as they are: an interrupted copy goes on'
complete -c keyway -n "__fish_keyway_using_subcommand put" -l skip-unfit -d 'Copy the rest where some have names that the file system can\'t hold'
complete -c keyway -n "__fish_keyway_using_subcommand put" -l protect-hidden -d 'Refuse writes that would damage the hidden volume'
complete -c keyway -n "__fish_keyway_using_subcommand put" -l require-sandbox -d 'Refuse where this kernel lacks a layer of the sandbox (`keyway doctor`)'
complete -c keyway -n "__fish_keyway_using_subcommand put" -l dry-run -d 'Print what would be done, and do nothing'
complete -c keyway -n "__fish_keyway_using_subcommand put" -l try-variants -d 'Try a wrong password in other spellings and as of other keyboard layouts, too'
complete -c keyway -n "__fish_keyway_using_subcommand put" -l system -d 'The volume is an encrypted system partition or drive'
complete -c keyway -n "__fish_keyway_using_subcommand put" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand put" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand put" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand put" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand put" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and not __fish_seen_subcommand_from list add remove change recovery suspend resume" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand protector; and not __fish_seen_subcommand_from list add remove change recovery suspend resume" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand protector; and not __fish_seen_subcommand_from list add remove change recovery suspend resume" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and not __fish_seen_subcommand_from list add remove change recovery suspend resume" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and not __fish_seen_subcommand_from list add remove change recovery suspend resume" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and not __fish_seen_subcommand_from list add remove change recovery suspend resume" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and not __fish_seen_subcommand_from list add remove change recovery suspend resume" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and not __fish_seen_subcommand_from list add remove change recovery suspend resume" -f -a "list" -d 'Tell what opens the volume; of a VeraCrypt volume only with a secret'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and not __fish_seen_subcommand_from list add remove change recovery suspend resume" -f -a "add" -d 'Add a protector to a BitLocker volume'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and not __fish_seen_subcommand_from list add remove change recovery suspend resume" -f -a "remove" -d 'Remove a protector from a BitLocker volume'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and not __fish_seen_subcommand_from list add remove change recovery suspend resume" -f -a "change" -d 'Give the volume a new secret in the place of an old one; what is not named stays'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and not __fish_seen_subcommand_from list add remove change recovery suspend resume" -f -a "recovery" -d 'Print or save a BitLocker volume\'s recovery passwords'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and not __fish_seen_subcommand_from list add remove change recovery suspend resume" -f -a "suspend" -d 'Suspend a BitLocker volume\'s protection: it opens without a secret until it is resumed'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and not __fish_seen_subcommand_from list add remove change recovery suspend resume" -f -a "resume" -d 'Resume a BitLocker volume\'s protection'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from list" -l password-file -d 'Read the password of the volume from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from list" -l password-fd -d 'Read the password of the volume from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from list" -l keyfile -d 'A keyfile of the volume' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from list" -l pim -d 'The PIM of the volume' -r
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from list" -l recovery-password -d 'The recovery password: its 48 digits, or a file that holds it' -r
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from list" -l startup-key -d 'The startup key\'s file, or a folder in which the volume\'s one is looked for' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from list" -l tpm -d 'Ask this machine\'s TPM for the key, or another one: a device\'s path, `swtpm:host=HOST,port=N`, `swtpm:path=SOCKET`' -r
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from list" -l pin-file -d 'Read the PIN of the TPM\'s protector from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from list" -l pin-fd -d 'Read that PIN from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from list" -l format -d 'Only look for this format' -r -f -a "veracrypt\t'VeraCrypt'
truecrypt\t'TrueCrypt'
bitlocker\t'BitLocker'"
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from list" -l hash -d 'Only try this key derivation\'s hash: sha512, sha256, blake2s, whirlpool, streebog, ripemd160, sha1, argon2id' -r -f -a "sha512\t''
sha256\t''
whirlpool\t''
blake2s\t''
ripemd160\t''
streebog\t''
argon2id\t''
sha1\t''"
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from list" -l header -d 'Which copy of the header to use' -r -f -a "auto\t'The primary one, and where that does not open, the backup'
primary\t'Only the one at the beginning'
backup\t'Only the one at the end'"
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from list" -l partition -d 'VOLUME is a disk, and this partition of it is meant' -r
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from list" -l system-header -d 'VOLUME is one partition of an encrypted system: its drive, the drive\'s image, or the 512 bytes of its header' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from list" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from list" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from list" -l try-variants -d 'Try a wrong password in other spellings and as of other keyboard layouts, too'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from list" -l system -d 'The volume is an encrypted system partition or drive'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from list" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from list" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from list" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from list" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from add" -l to -d 'Where it goes: a new file for a recovery password, a folder for a startup key' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from add" -l password-file -d 'Read the password of the volume from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from add" -l password-fd -d 'Read the password of the volume from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from add" -l keyfile -d 'A keyfile of the volume' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from add" -l pim -d 'The PIM of the volume' -r
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from add" -l recovery-password -d 'The recovery password: its 48 digits, or a file that holds it' -r
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from add" -l startup-key -d 'The startup key\'s file, or a folder in which the volume\'s one is looked for' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from add" -l tpm -d 'Ask this machine\'s TPM for the key, or another one: a device\'s path, `swtpm:host=HOST,port=N`, `swtpm:path=SOCKET`' -r
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from add" -l pin-file -d 'Read the PIN of the TPM\'s protector from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from add" -l pin-fd -d 'Read that PIN from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from add" -l format -d 'Only look for this format' -r -f -a "veracrypt\t'VeraCrypt'
truecrypt\t'TrueCrypt'
bitlocker\t'BitLocker'"
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from add" -l hash -d 'Only try this key derivation\'s hash: sha512, sha256, blake2s, whirlpool, streebog, ripemd160, sha1, argon2id' -r -f -a "sha512\t''
sha256\t''
whirlpool\t''
blake2s\t''
ripemd160\t''
streebog\t''
argon2id\t''
sha1\t''"
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from add" -l header -d 'Which copy of the header to use' -r -f -a "auto\t'The primary one, and where that does not open, the backup'
primary\t'Only the one at the beginning'
backup\t'Only the one at the end'"
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from add" -l partition -d 'VOLUME is a disk, and this partition of it is meant' -r
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from add" -l system-header -d 'VOLUME is one partition of an encrypted system: its drive, the drive\'s image, or the 512 bytes of its header' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from add" -l new-password-file -d 'Read the password to be set from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from add" -l new-password-fd -d 'Read the password to be set from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from add" -l new-keyfile -d 'A keyfile to be set' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from add" -l new-pim -d 'The PIM to be set' -r
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from add" -l new-tpm -d 'The TPM that seals the key, where it isn\'t this machine\'s own' -r
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from add" -l pcrs -d 'The measurements that the key is bound to: numbers of PCRs such as 7,11' -r
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from add" -l new-pin-file -d 'Read the new PIN from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from add" -l new-pin-fd -d 'Read the new PIN from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from add" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from add" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from add" -l dry-run -d 'Print what would be done, and do nothing'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from add" -l try-variants -d 'Try a wrong password in other spellings and as of other keyboard layouts, too'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from add" -l system -d 'The volume is an encrypted system partition or drive'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from add" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from add" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from add" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from add" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from add" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from remove" -l password-file -d 'Read the password of the volume from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from remove" -l password-fd -d 'Read the password of the volume from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from remove" -l keyfile -d 'A keyfile of the volume' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from remove" -l pim -d 'The PIM of the volume' -r
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from remove" -l recovery-password -d 'The recovery password: its 48 digits, or a file that holds it' -r
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from remove" -l startup-key -d 'The startup key\'s file, or a folder in which the volume\'s one is looked for' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from remove" -l tpm -d 'Ask this machine\'s TPM for the key, or another one: a device\'s path, `swtpm:host=HOST,port=N`, `swtpm:path=SOCKET`' -r
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from remove" -l pin-file -d 'Read the PIN of the TPM\'s protector from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from remove" -l pin-fd -d 'Read that PIN from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from remove" -l format -d 'Only look for this format' -r -f -a "veracrypt\t'VeraCrypt'
truecrypt\t'TrueCrypt'
bitlocker\t'BitLocker'"
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from remove" -l hash -d 'Only try this key derivation\'s hash: sha512, sha256, blake2s, whirlpool, streebog, ripemd160, sha1, argon2id' -r -f -a "sha512\t''
sha256\t''
whirlpool\t''
blake2s\t''
ripemd160\t''
streebog\t''
argon2id\t''
sha1\t''"
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from remove" -l header -d 'Which copy of the header to use' -r -f -a "auto\t'The primary one, and where that does not open, the backup'
primary\t'Only the one at the beginning'
backup\t'Only the one at the end'"
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from remove" -l partition -d 'VOLUME is a disk, and this partition of it is meant' -r
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from remove" -l system-header -d 'VOLUME is one partition of an encrypted system: its drive, the drive\'s image, or the 512 bytes of its header' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from remove" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from remove" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from remove" -l dry-run -d 'Print what would be done, and do nothing'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from remove" -l try-variants -d 'Try a wrong password in other spellings and as of other keyboard layouts, too'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from remove" -l system -d 'The volume is an encrypted system partition or drive'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from remove" -l last -d 'Remove it even if nothing else opens the volume, which is lost for ever then'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from remove" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from remove" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from remove" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from remove" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from remove" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from change" -l password-file -d 'Read the password of the volume from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from change" -l password-fd -d 'Read the password of the volume from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from change" -l keyfile -d 'A keyfile of the volume' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from change" -l pim -d 'The PIM of the volume' -r
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from change" -l recovery-password -d 'The recovery password: its 48 digits, or a file that holds it' -r
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from change" -l startup-key -d 'The startup key\'s file, or a folder in which the volume\'s one is looked for' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from change" -l tpm -d 'Ask this machine\'s TPM for the key, or another one: a device\'s path, `swtpm:host=HOST,port=N`, `swtpm:path=SOCKET`' -r
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from change" -l pin-file -d 'Read the PIN of the TPM\'s protector from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from change" -l pin-fd -d 'Read that PIN from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from change" -l format -d 'Only look for this format' -r -f -a "veracrypt\t'VeraCrypt'
truecrypt\t'TrueCrypt'
bitlocker\t'BitLocker'"
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from change" -l hash -d 'Only try this key derivation\'s hash: sha512, sha256, blake2s, whirlpool, streebog, ripemd160, sha1, argon2id' -r -f -a "sha512\t''
sha256\t''
whirlpool\t''
blake2s\t''
streebog\t''
argon2id\t''"
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from change" -l header -d 'Which copy of the header to use' -r -f -a "auto\t'The primary one, and where that does not open, the backup'
primary\t'Only the one at the beginning'
backup\t'Only the one at the end'"
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from change" -l partition -d 'VOLUME is a disk, and this partition of it is meant' -r
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from change" -l system-header -d 'VOLUME is one partition of an encrypted system: its drive, the drive\'s image, or the 512 bytes of its header' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from change" -l new-hash -d 'The new key derivation: sha512, sha256, whirlpool, streebog, blake2s, argon2id' -r -f -a "sha512\t''
sha256\t''
whirlpool\t''
blake2s\t''
streebog\t''
argon2id\t''"
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from change" -l id -d 'Which protector of a BitLocker volume, by its identifier or kind' -r
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from change" -l to -d 'Where a new recovery password or startup key goes: a new file, or a folder' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from change" -l new-password-file -d 'Read the password to be set from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from change" -l new-password-fd -d 'Read the password to be set from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from change" -l new-keyfile -d 'A keyfile to be set' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from change" -l new-pim -d 'The PIM to be set' -r
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from change" -l new-tpm -d 'The TPM that seals the key, where it isn\'t this machine\'s own' -r
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from change" -l pcrs -d 'The measurements that the key is bound to: numbers of PCRs such as 7,11' -r
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from change" -l new-pin-file -d 'Read the new PIN from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from change" -l new-pin-fd -d 'Read the new PIN from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from change" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from change" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from change" -l dry-run -d 'Print what would be done, and do nothing'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from change" -l try-variants -d 'Try a wrong password in other spellings and as of other keyboard layouts, too'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from change" -l system -d 'The volume is an encrypted system partition or drive'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from change" -l new-no-keyfiles -d 'Use no keyfiles any more'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from change" -l new-no-password -d 'Use no password any more: the new keyfiles alone open it'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from change" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from change" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from change" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from change" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from change" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from recovery" -l id -d 'Only this protector\'s' -r
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from recovery" -l to -d 'Save it to a new file in the words of Windows, instead of printing it' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from recovery" -l password-file -d 'Read the password of the volume from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from recovery" -l password-fd -d 'Read the password of the volume from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from recovery" -l keyfile -d 'A keyfile of the volume' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from recovery" -l pim -d 'The PIM of the volume' -r
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from recovery" -l recovery-password -d 'The recovery password: its 48 digits, or a file that holds it' -r
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from recovery" -l startup-key -d 'The startup key\'s file, or a folder in which the volume\'s one is looked for' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from recovery" -l tpm -d 'Ask this machine\'s TPM for the key, or another one: a device\'s path, `swtpm:host=HOST,port=N`, `swtpm:path=SOCKET`' -r
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from recovery" -l pin-file -d 'Read the PIN of the TPM\'s protector from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from recovery" -l pin-fd -d 'Read that PIN from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from recovery" -l format -d 'Only look for this format' -r -f -a "veracrypt\t'VeraCrypt'
truecrypt\t'TrueCrypt'
bitlocker\t'BitLocker'"
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from recovery" -l hash -d 'Only try this key derivation\'s hash: sha512, sha256, blake2s, whirlpool, streebog, ripemd160, sha1, argon2id' -r -f -a "sha512\t''
sha256\t''
whirlpool\t''
blake2s\t''
ripemd160\t''
streebog\t''
argon2id\t''
sha1\t''"
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from recovery" -l header -d 'Which copy of the header to use' -r -f -a "auto\t'The primary one, and where that does not open, the backup'
primary\t'Only the one at the beginning'
backup\t'Only the one at the end'"
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from recovery" -l partition -d 'VOLUME is a disk, and this partition of it is meant' -r
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from recovery" -l system-header -d 'VOLUME is one partition of an encrypted system: its drive, the drive\'s image, or the 512 bytes of its header' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from recovery" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from recovery" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from recovery" -l try-variants -d 'Try a wrong password in other spellings and as of other keyboard layouts, too'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from recovery" -l system -d 'The volume is an encrypted system partition or drive'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from recovery" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from recovery" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from recovery" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from recovery" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from recovery" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from suspend" -l password-file -d 'Read the password of the volume from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from suspend" -l password-fd -d 'Read the password of the volume from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from suspend" -l keyfile -d 'A keyfile of the volume' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from suspend" -l pim -d 'The PIM of the volume' -r
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from suspend" -l recovery-password -d 'The recovery password: its 48 digits, or a file that holds it' -r
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from suspend" -l startup-key -d 'The startup key\'s file, or a folder in which the volume\'s one is looked for' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from suspend" -l tpm -d 'Ask this machine\'s TPM for the key, or another one: a device\'s path, `swtpm:host=HOST,port=N`, `swtpm:path=SOCKET`' -r
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from suspend" -l pin-file -d 'Read the PIN of the TPM\'s protector from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from suspend" -l pin-fd -d 'Read that PIN from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from suspend" -l format -d 'Only look for this format' -r -f -a "veracrypt\t'VeraCrypt'
truecrypt\t'TrueCrypt'
bitlocker\t'BitLocker'"
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from suspend" -l hash -d 'Only try this key derivation\'s hash: sha512, sha256, blake2s, whirlpool, streebog, ripemd160, sha1, argon2id' -r -f -a "sha512\t''
sha256\t''
whirlpool\t''
blake2s\t''
ripemd160\t''
streebog\t''
argon2id\t''
sha1\t''"
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from suspend" -l header -d 'Which copy of the header to use' -r -f -a "auto\t'The primary one, and where that does not open, the backup'
primary\t'Only the one at the beginning'
backup\t'Only the one at the end'"
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from suspend" -l partition -d 'VOLUME is a disk, and this partition of it is meant' -r
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from suspend" -l system-header -d 'VOLUME is one partition of an encrypted system: its drive, the drive\'s image, or the 512 bytes of its header' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from suspend" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from suspend" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from suspend" -l dry-run -d 'Print what would be done, and do nothing'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from suspend" -l try-variants -d 'Try a wrong password in other spellings and as of other keyboard layouts, too'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from suspend" -l system -d 'The volume is an encrypted system partition or drive'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from suspend" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from suspend" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from suspend" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from suspend" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from suspend" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from resume" -l password-file -d 'Read the password of the volume from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from resume" -l password-fd -d 'Read the password of the volume from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from resume" -l keyfile -d 'A keyfile of the volume' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from resume" -l pim -d 'The PIM of the volume' -r
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from resume" -l recovery-password -d 'The recovery password: its 48 digits, or a file that holds it' -r
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from resume" -l startup-key -d 'The startup key\'s file, or a folder in which the volume\'s one is looked for' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from resume" -l tpm -d 'Ask this machine\'s TPM for the key, or another one: a device\'s path, `swtpm:host=HOST,port=N`, `swtpm:path=SOCKET`' -r
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from resume" -l pin-file -d 'Read the PIN of the TPM\'s protector from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from resume" -l pin-fd -d 'Read that PIN from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from resume" -l format -d 'Only look for this format' -r -f -a "veracrypt\t'VeraCrypt'
truecrypt\t'TrueCrypt'
bitlocker\t'BitLocker'"
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from resume" -l hash -d 'Only try this key derivation\'s hash: sha512, sha256, blake2s, whirlpool, streebog, ripemd160, sha1, argon2id' -r -f -a "sha512\t''
sha256\t''
whirlpool\t''
blake2s\t''
ripemd160\t''
streebog\t''
argon2id\t''
sha1\t''"
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from resume" -l header -d 'Which copy of the header to use' -r -f -a "auto\t'The primary one, and where that does not open, the backup'
primary\t'Only the one at the beginning'
backup\t'Only the one at the end'"
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from resume" -l partition -d 'VOLUME is a disk, and this partition of it is meant' -r
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from resume" -l system-header -d 'VOLUME is one partition of an encrypted system: its drive, the drive\'s image, or the 512 bytes of its header' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from resume" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from resume" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from resume" -l dry-run -d 'Print what would be done, and do nothing'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from resume" -l try-variants -d 'Try a wrong password in other spellings and as of other keyboard layouts, too'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from resume" -l system -d 'The volume is an encrypted system partition or drive'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from resume" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from resume" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from resume" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from resume" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand protector; and __fish_seen_subcommand_from resume" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand header; and not __fish_seen_subcommand_from backup restore repair check" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand header; and not __fish_seen_subcommand_from backup restore repair check" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand header; and not __fish_seen_subcommand_from backup restore repair check" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand header; and not __fish_seen_subcommand_from backup restore repair check" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand header; and not __fish_seen_subcommand_from backup restore repair check" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand header; and not __fish_seen_subcommand_from backup restore repair check" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand header; and not __fish_seen_subcommand_from backup restore repair check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand header; and not __fish_seen_subcommand_from backup restore repair check" -f -a "backup" -d 'Write the header to a new file: a VeraCrypt volume\'s as VeraCrypt does'
complete -c keyway -n "__fish_keyway_using_subcommand header; and not __fish_seen_subcommand_from backup restore repair check" -f -a "restore" -d 'Put the header back, from a backup file or from the copy at the end of the volume'
complete -c keyway -n "__fish_keyway_using_subcommand header; and not __fish_seen_subcommand_from backup restore repair check" -f -a "repair" -d 'Write a BitLocker volume\'s damaged first sector and copies of its metadata anew from a good one'
complete -c keyway -n "__fish_keyway_using_subcommand header; and not __fish_seen_subcommand_from backup restore repair check" -f -a "check" -d 'Tell which copies of the header are in order'
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from backup" -l password-file -d 'Read the password of the volume from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from backup" -l password-fd -d 'Read the password of the volume from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from backup" -l keyfile -d 'A keyfile of the volume' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from backup" -l pim -d 'The PIM of the volume' -r
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from backup" -l recovery-password -d 'The recovery password: its 48 digits, or a file that holds it' -r
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from backup" -l startup-key -d 'The startup key\'s file, or a folder in which the volume\'s one is looked for' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from backup" -l tpm -d 'Ask this machine\'s TPM for the key, or another one: a device\'s path, `swtpm:host=HOST,port=N`, `swtpm:path=SOCKET`' -r
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from backup" -l pin-file -d 'Read the PIN of the TPM\'s protector from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from backup" -l pin-fd -d 'Read that PIN from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from backup" -l format -d 'Only look for this format' -r -f -a "veracrypt\t'VeraCrypt'
truecrypt\t'TrueCrypt'
bitlocker\t'BitLocker'"
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from backup" -l hash -d 'Only try this key derivation\'s hash: sha512, sha256, blake2s, whirlpool, streebog, ripemd160, sha1, argon2id' -r -f -a "sha512\t''
sha256\t''
whirlpool\t''
blake2s\t''
ripemd160\t''
streebog\t''
argon2id\t''
sha1\t''"
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from backup" -l header -d 'Which copy of the header to use' -r -f -a "auto\t'The primary one, and where that does not open, the backup'
primary\t'Only the one at the beginning'
backup\t'Only the one at the end'"
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from backup" -l partition -d 'VOLUME is a disk, and this partition of it is meant' -r
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from backup" -l system-header -d 'VOLUME is one partition of an encrypted system: its drive, the drive\'s image, or the 512 bytes of its header' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from backup" -l hidden-password-file -d 'Read the password of the hidden volume from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from backup" -l hidden-password-fd -d 'Read the password of the hidden volume from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from backup" -l hidden-keyfile -d 'A keyfile of the hidden volume' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from backup" -l hidden-pim -d 'The PIM of the hidden volume' -r
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from backup" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from backup" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from backup" -l hidden -d 'Back up the hidden volume\'s header too'
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from backup" -l dry-run -d 'Print what would be done, and do nothing'
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from backup" -l try-variants -d 'Try a wrong password in other spellings and as of other keyboard layouts, too'
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from backup" -l system -d 'The volume is an encrypted system partition or drive'
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from backup" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from backup" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from backup" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from backup" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from backup" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from restore" -l password-file -d 'Read the password of the volume from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from restore" -l password-fd -d 'Read the password of the volume from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from restore" -l keyfile -d 'A keyfile of the volume' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from restore" -l pim -d 'The PIM of the volume' -r
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from restore" -l recovery-password -d 'The recovery password: its 48 digits, or a file that holds it' -r
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from restore" -l startup-key -d 'The startup key\'s file, or a folder in which the volume\'s one is looked for' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from restore" -l tpm -d 'Ask this machine\'s TPM for the key, or another one: a device\'s path, `swtpm:host=HOST,port=N`, `swtpm:path=SOCKET`' -r
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from restore" -l pin-file -d 'Read the PIN of the TPM\'s protector from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from restore" -l pin-fd -d 'Read that PIN from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from restore" -l format -d 'Only look for this format' -r -f -a "veracrypt\t'VeraCrypt'
truecrypt\t'TrueCrypt'
bitlocker\t'BitLocker'"
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from restore" -l hash -d 'Only try this key derivation\'s hash: sha512, sha256, blake2s, whirlpool, streebog, ripemd160, sha1, argon2id' -r -f -a "sha512\t''
sha256\t''
whirlpool\t''
blake2s\t''
ripemd160\t''
streebog\t''
argon2id\t''
sha1\t''"
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from restore" -l header -d 'Which copy of the header to use' -r -f -a "auto\t'The primary one, and where that does not open, the backup'
primary\t'Only the one at the beginning'
backup\t'Only the one at the end'"
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from restore" -l partition -d 'VOLUME is a disk, and this partition of it is meant' -r
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from restore" -l system-header -d 'VOLUME is one partition of an encrypted system: its drive, the drive\'s image, or the 512 bytes of its header' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from restore" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from restore" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from restore" -l force -d 'Restore it even if the volume has other master keys now and would become unreadable'
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from restore" -l dry-run -d 'Print what would be done, and do nothing'
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from restore" -l try-variants -d 'Try a wrong password in other spellings and as of other keyboard layouts, too'
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from restore" -l system -d 'The volume is an encrypted system partition or drive'
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from restore" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from restore" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from restore" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from restore" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from restore" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from repair" -l password-file -d 'Read the password of the volume from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from repair" -l password-fd -d 'Read the password of the volume from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from repair" -l keyfile -d 'A keyfile of the volume' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from repair" -l pim -d 'The PIM of the volume' -r
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from repair" -l recovery-password -d 'The recovery password: its 48 digits, or a file that holds it' -r
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from repair" -l startup-key -d 'The startup key\'s file, or a folder in which the volume\'s one is looked for' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from repair" -l tpm -d 'Ask this machine\'s TPM for the key, or another one: a device\'s path, `swtpm:host=HOST,port=N`, `swtpm:path=SOCKET`' -r
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from repair" -l pin-file -d 'Read the PIN of the TPM\'s protector from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from repair" -l pin-fd -d 'Read that PIN from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from repair" -l format -d 'Only look for this format' -r -f -a "veracrypt\t'VeraCrypt'
truecrypt\t'TrueCrypt'
bitlocker\t'BitLocker'"
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from repair" -l hash -d 'Only try this key derivation\'s hash: sha512, sha256, blake2s, whirlpool, streebog, ripemd160, sha1, argon2id' -r -f -a "sha512\t''
sha256\t''
whirlpool\t''
blake2s\t''
ripemd160\t''
streebog\t''
argon2id\t''
sha1\t''"
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from repair" -l header -d 'Which copy of the header to use' -r -f -a "auto\t'The primary one, and where that does not open, the backup'
primary\t'Only the one at the beginning'
backup\t'Only the one at the end'"
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from repair" -l partition -d 'VOLUME is a disk, and this partition of it is meant' -r
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from repair" -l system-header -d 'VOLUME is one partition of an encrypted system: its drive, the drive\'s image, or the 512 bytes of its header' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from repair" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from repair" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from repair" -l dry-run -d 'Print what would be done, and do nothing'
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from repair" -l try-variants -d 'Try a wrong password in other spellings and as of other keyboard layouts, too'
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from repair" -l system -d 'The volume is an encrypted system partition or drive'
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from repair" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from repair" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from repair" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from repair" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from repair" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from check" -l password-file -d 'Read the password of the volume from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from check" -l password-fd -d 'Read the password of the volume from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from check" -l keyfile -d 'A keyfile of the volume' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from check" -l pim -d 'The PIM of the volume' -r
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from check" -l recovery-password -d 'The recovery password: its 48 digits, or a file that holds it' -r
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from check" -l startup-key -d 'The startup key\'s file, or a folder in which the volume\'s one is looked for' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from check" -l tpm -d 'Ask this machine\'s TPM for the key, or another one: a device\'s path, `swtpm:host=HOST,port=N`, `swtpm:path=SOCKET`' -r
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from check" -l pin-file -d 'Read the PIN of the TPM\'s protector from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from check" -l pin-fd -d 'Read that PIN from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from check" -l format -d 'Only look for this format' -r -f -a "veracrypt\t'VeraCrypt'
truecrypt\t'TrueCrypt'
bitlocker\t'BitLocker'"
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from check" -l hash -d 'Only try this key derivation\'s hash: sha512, sha256, blake2s, whirlpool, streebog, ripemd160, sha1, argon2id' -r -f -a "sha512\t''
sha256\t''
whirlpool\t''
blake2s\t''
ripemd160\t''
streebog\t''
argon2id\t''
sha1\t''"
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from check" -l header -d 'Which copy of the header to use' -r -f -a "auto\t'The primary one, and where that does not open, the backup'
primary\t'Only the one at the beginning'
backup\t'Only the one at the end'"
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from check" -l partition -d 'VOLUME is a disk, and this partition of it is meant' -r
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from check" -l system-header -d 'VOLUME is one partition of an encrypted system: its drive, the drive\'s image, or the 512 bytes of its header' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from check" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from check" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from check" -l try-variants -d 'Try a wrong password in other spellings and as of other keyboard layouts, too'
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from check" -l system -d 'The volume is an encrypted system partition or drive'
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from check" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from check" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from check" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from check" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand header; and __fish_seen_subcommand_from check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand erase" -l password-file -d 'Read the password of the volume from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand erase" -l password-fd -d 'Read the password of the volume from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand erase" -l keyfile -d 'A keyfile of the volume' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand erase" -l pim -d 'The PIM of the volume' -r
complete -c keyway -n "__fish_keyway_using_subcommand erase" -l recovery-password -d 'The recovery password: its 48 digits, or a file that holds it' -r
complete -c keyway -n "__fish_keyway_using_subcommand erase" -l startup-key -d 'The startup key\'s file, or a folder in which the volume\'s one is looked for' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand erase" -l tpm -d 'Ask this machine\'s TPM for the key, or another one: a device\'s path, `swtpm:host=HOST,port=N`, `swtpm:path=SOCKET`' -r
complete -c keyway -n "__fish_keyway_using_subcommand erase" -l pin-file -d 'Read the PIN of the TPM\'s protector from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand erase" -l pin-fd -d 'Read that PIN from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand erase" -l format -d 'Only look for this format' -r -f -a "veracrypt\t'VeraCrypt'
truecrypt\t'TrueCrypt'
bitlocker\t'BitLocker'"
complete -c keyway -n "__fish_keyway_using_subcommand erase" -l hash -d 'Only try this key derivation\'s hash: sha512, sha256, blake2s, whirlpool, streebog, ripemd160, sha1, argon2id' -r -f -a "sha512\t''
sha256\t''
whirlpool\t''
blake2s\t''
ripemd160\t''
streebog\t''
argon2id\t''
sha1\t''"
complete -c keyway -n "__fish_keyway_using_subcommand erase" -l header -d 'Which copy of the header to use' -r -f -a "auto\t'The primary one, and where that does not open, the backup'
primary\t'Only the one at the beginning'
backup\t'Only the one at the end'"
complete -c keyway -n "__fish_keyway_using_subcommand erase" -l partition -d 'VOLUME is a disk, and this partition of it is meant' -r
complete -c keyway -n "__fish_keyway_using_subcommand erase" -l system-header -d 'VOLUME is one partition of an encrypted system: its drive, the drive\'s image, or the 512 bytes of its header' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand erase" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand erase" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand erase" -l dry-run -d 'Print what would be done, and do nothing'
complete -c keyway -n "__fish_keyway_using_subcommand erase" -l try-variants -d 'Try a wrong password in other spellings and as of other keyboard layouts, too'
complete -c keyway -n "__fish_keyway_using_subcommand erase" -l system -d 'The volume is an encrypted system partition or drive'
complete -c keyway -n "__fish_keyway_using_subcommand erase" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand erase" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand erase" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand erase" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand erase" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and not __fish_seen_subcommand_from list info setup lock unlock erase revert block reset range user mbr store emulate" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand drive; and not __fish_seen_subcommand_from list info setup lock unlock erase revert block reset range user mbr store emulate" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand drive; and not __fish_seen_subcommand_from list info setup lock unlock erase revert block reset range user mbr store emulate" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and not __fish_seen_subcommand_from list info setup lock unlock erase revert block reset range user mbr store emulate" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and not __fish_seen_subcommand_from list info setup lock unlock erase revert block reset range user mbr store emulate" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and not __fish_seen_subcommand_from list info setup lock unlock erase revert block reset range user mbr store emulate" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and not __fish_seen_subcommand_from list info setup lock unlock erase revert block reset range user mbr store emulate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and not __fish_seen_subcommand_from list info setup lock unlock erase revert block reset range user mbr store emulate" -f -a "list" -d 'List this machine\'s drives: which encrypt by themselves, and in what state they are'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and not __fish_seen_subcommand_from list info setup lock unlock erase revert block reset range user mbr store emulate" -f -a "info" -d 'Tell everything a drive says of itself; no secret is needed'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and not __fish_seen_subcommand_from list info setup lock unlock erase revert block reset range user mbr store emulate" -f -a "setup" -d 'Take a drive from its factory state to a locked one; what is on it stays'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and not __fish_seen_subcommand_from list info setup lock unlock erase revert block reset range user mbr store emulate" -f -a "lock" -d 'Lock a drive\'s ranges now, without waiting for a power cycle'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and not __fish_seen_subcommand_from list info setup lock unlock erase revert block reset range user mbr store emulate" -f -a "unlock" -d 'Unlock a drive\'s ranges until they are locked or the drive loses power'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and not __fish_seen_subcommand_from list info setup lock unlock erase revert block reset range user mbr store emulate" -f -a "erase" -d 'Destroy what is in a range at once: the drive makes a new media key for it'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and not __fish_seen_subcommand_from list info setup lock unlock erase revert block reset range user mbr store emulate" -f -a "revert" -d 'Take a drive back to its factory state, by its owner or by the PSID on its label'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and not __fish_seen_subcommand_from list info setup lock unlock erase revert block reset range user mbr store emulate" -f -a "block" -d 'Block the owner\'s authority until the next power cycle, as firmware does'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and not __fish_seen_subcommand_from list info setup lock unlock erase revert block reset range user mbr store emulate" -f -a "reset" -d 'End every session with the drive that a program has left behind'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and not __fish_seen_subcommand_from list info setup lock unlock erase revert block reset range user mbr store emulate" -f -a "range" -d 'List, place and remove ranges: parts of a drive that lock apart'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and not __fish_seen_subcommand_from list info setup lock unlock erase revert block reset range user mbr store emulate" -f -a "user" -d 'List users, give them passwords, and say what they may unlock'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and not __fish_seen_subcommand_from list info setup lock unlock erase revert block reset range user mbr store emulate" -f -a "mbr" -d 'The MBR shadow: what a locked drive shows in place of its beginning, such as a program that unlocks it'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and not __fish_seen_subcommand_from list info setup lock unlock erase revert block reset range user mbr store emulate" -f -a "store" -d 'The DataStore: bytes that a drive keeps for its host, beside its medium'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and not __fish_seen_subcommand_from list info setup lock unlock erase revert block reset range user mbr store emulate" -f -a "emulate" -d 'A virtual drive that encrypts itself (TCG Opal 2 and its relatives), to try everything on first'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from list" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from list" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from list" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from list" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from list" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from list" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from info" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from info" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from info" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from info" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from info" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from info" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from info" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from setup" -l recovery-sheet -d 'Make up the owner\'s secret, and write it to this new file' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from setup" -l admin-password-file -d 'Read the owner\'s secret from FILE instead' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from setup" -l admin-password-fd -d 'Read the owner\'s secret from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from setup" -l password-file -d 'Read the password from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from setup" -l password-fd -d 'Read the password from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from setup" -l hash -d 'How the password becomes what the drive is told: `sedutil` (PBKDF2-SHA1, as sedutil), `sedutil-sha512` (its fork) or `plain` (not hashed, as the kernel and cryptsetup)' -r -f -a "sedutil\t''
plain\t''
sedutil-sha512\t''"
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from setup" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from setup" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from setup" -l dry-run -d 'Print what would be done, and do nothing'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from setup" -l leave-unlocked -d 'Leave the drive unlocked until it loses power'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from setup" -l single-user -d 'Have the drive belong to its user alone: the owner can erase it, and not unlock it (Single User Mode)'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from setup" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from setup" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from setup" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from setup" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from setup" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from lock" -l range -d 'Which range' -r
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from lock" -l as -d 'Whose password it is: admin1, user1 …' -r
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from lock" -l password-file -d 'Read the password from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from lock" -l password-fd -d 'Read the password from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from lock" -l hash -d 'How the password becomes what the drive is told: `sedutil` (PBKDF2-SHA1, as sedutil), `sedutil-sha512` (its fork) or `plain` (not hashed, as the kernel and cryptsetup)' -r -f -a "sedutil\t''
plain\t''
sedutil-sha512\t''"
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from lock" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from lock" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from lock" -l dry-run -d 'Print what would be done, and do nothing'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from lock" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from lock" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from lock" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from lock" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from lock" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from unlock" -l range -d 'Which range' -r
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from unlock" -l as -d 'Whose password it is: admin1, user1 …' -r
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from unlock" -l password-file -d 'Read the password from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from unlock" -l password-fd -d 'Read the password from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from unlock" -l hash -d 'How the password becomes what the drive is told: `sedutil` (PBKDF2-SHA1, as sedutil), `sedutil-sha512` (its fork) or `plain` (not hashed, as the kernel and cryptsetup)' -r -f -a "sedutil\t''
plain\t''
sedutil-sha512\t''"
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from unlock" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from unlock" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from unlock" -l read-only -d 'Only for reading'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from unlock" -l for-resume -d 'Leave the secret with the kernel, which unlocks the drive with it when the machine wakes up (--save)'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from unlock" -l by-kernel -d 'Have the kernel unlock it, by its own Opal code: as it does when the machine wakes up'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from unlock" -l dry-run -d 'Print what would be done, and do nothing'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from unlock" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from unlock" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from unlock" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from unlock" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from unlock" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from erase" -l range -d 'Which range' -r
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from erase" -l as -d 'Whose password it is: admin1, user1 …' -r
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from erase" -l password-file -d 'Read the password from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from erase" -l password-fd -d 'Read the password from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from erase" -l hash -d 'How the password becomes what the drive is told: `sedutil` (PBKDF2-SHA1, as sedutil), `sedutil-sha512` (its fork) or `plain` (not hashed, as the kernel and cryptsetup)' -r -f -a "sedutil\t''
plain\t''
sedutil-sha512\t''"
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from erase" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from erase" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from erase" -l dry-run -d 'Print what would be done, and do nothing'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from erase" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from erase" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from erase" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from erase" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from erase" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from revert" -l psid -d 'Use the PSID from the drive\'s label: its characters, or a file that holds them' -r
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from revert" -l password-file -d 'Read the password from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from revert" -l password-fd -d 'Read the password from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from revert" -l hash -d 'How the password becomes what the drive is told: `sedutil` (PBKDF2-SHA1, as sedutil), `sedutil-sha512` (its fork) or `plain` (not hashed, as the kernel and cryptsetup)' -r -f -a "sedutil\t''
plain\t''
sedutil-sha512\t''"
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from revert" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from revert" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from revert" -l dry-run -d 'Print what would be done, and do nothing'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from revert" -l keep-data -d 'Only switch locking off'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from revert" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from revert" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from revert" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from revert" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from revert" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from block" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from block" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from block" -l dry-run -d 'Print what would be done, and do nothing'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from block" -l until-hardware-reset -d 'Let a hardware reset end it, too'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from block" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from block" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from block" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from block" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from block" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from reset" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from reset" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from reset" -l dry-run -d 'Print what would be done, and do nothing'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from reset" -l tper -d 'Reset the whole security side (TPER_RESET), which may lock ranges'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from reset" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from reset" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from reset" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from reset" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from reset" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from range" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from range" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from range" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from range" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from range" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from range" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from range" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from range" -f -a "list" -d 'Where the ranges are, what state they are in, and who may unlock them'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from range" -f -a "set" -d 'Put a range somewhere, and have it lock at every power cycle. What was there can\'t be read any more'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from range" -f -a "enable" -d 'Have a range lock at every power cycle'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from range" -f -a "disable" -d 'Have a range never lock'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from range" -f -a "remove" -d 'Take a range away: its blocks are the global range\'s again, and what was there can\'t be read any more'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from user" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from user" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from user" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from user" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from user" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from user" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from user" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from user" -f -a "list" -d 'Users, whether they are enabled, and how many wrong passwords were given'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from user" -f -a "password" -d 'Give a user, an administrator or the owner another password'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from user" -f -a "enable" -d 'Let a user be used: with a new password, and allowed to unlock a range'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from user" -f -a "disable" -d 'Let a user not be used any more'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from user" -f -a "allow" -d 'Let a user lock and unlock a range'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from user" -f -a "forbid" -d 'Take that from a user'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from user" -f -a "alone" -d 'Give ranges to users alone (Single User Mode): range N to user N + 1, whom nobody else can replace'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from user" -f -a "move-in" -d 'Set the password of a range\'s own user where it is empty, and have the range lock'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from mbr" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from mbr" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from mbr" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from mbr" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from mbr" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from mbr" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from mbr" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from mbr" -f -a "status" -d 'Whether it is shown, and how large it can be'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from mbr" -f -a "enable" -d 'Show it after every power cycle, until it is done'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from mbr" -f -a "disable" -d 'Never show it'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from mbr" -f -a "done" -d 'It has done its work: show the drive itself until the next power cycle'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from mbr" -f -a "undone" -d 'Show it again now'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from mbr" -f -a "write" -d 'Write an image into it'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from mbr" -f -a "read" -d 'Read it into a new file'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from store" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from store" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from store" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from store" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from store" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from store" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from store" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from store" -f -a "read" -d 'Print bytes of it'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from store" -f -a "write" -d 'Write a file into it'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from emulate" -l size -d 'Make the file, a drive of this size: 512M, 1G' -r
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from emulate" -l block-size -d 'Bytes of a logical block of the drive that is made' -r -f -a "512\t''
4096\t''"
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from emulate" -l profile -d 'What the drive that is made is like: opal2, opalite, pyrite1, pyrite2, ruby, samsung-850-evo, kioxia-xg8, or enterprise, which can only be read' -r -f -a "opal2\t''
opalite\t''
pyrite1\t''
pyrite2\t''
ruby\t''
enterprise\t''
samsung-850-evo\t''
kioxia-xg8\t''"
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from emulate" -l fault -d 'Let its firmware misbehave while it is served: stall, stall=MILLISECONDS, lost-answers, stale-comid, stale-session, stale-answer, wrong-properties, short-discovery, blocked-sid' -r
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from emulate" -l nvme-tcp -d 'Serve it as an NVMe/TCP controller at this loopback address' -r
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from emulate" -l vhost-user-scsi -d 'Serve it to a virtual machine as a SCSI disk (vhost-user-scsi) on this unix socket, with SCSI\'s and ATA\'s security commands' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from emulate" -l nqn -d 'The name that hosts connect to' -r
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from emulate" -l nvme-secret -d 'Let in only hosts that prove to know a secret (DH-HMAC-CHAP), and listen on other addresses than loopback if told to' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from emulate" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from emulate" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from emulate" -l any-local-user -d 'Let every user of this machine connect to that address'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from emulate" -l dry-run -d 'Print what would be done, and do nothing'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from emulate" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from emulate" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from emulate" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from emulate" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand drive; and __fish_seen_subcommand_from emulate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand encrypt" -l format -d 'The format (default veracrypt; with --reencrypt it stays what it is)' -r -f -a "veracrypt\t'VeraCrypt'
bitlocker\t'BitLocker'"
complete -c keyway -n "__fish_keyway_using_subcommand encrypt" -l cipher -d 'The cipher or cascade, outermost first' -r -f -a "aes\t''
serpent\t''
twofish\t''
aes-twofish\t''
aes-twofish-serpent\t''
serpent-aes\t''
serpent-twofish-aes\t''
twofish-serpent\t''
camellia\t''
kuznyechik\t''
camellia-kuznyechik\t''
camellia-serpent\t''
kuznyechik-aes\t''
kuznyechik-twofish\t''
kuznyechik-serpent-camellia\t''
aes-xts-256\t''
aes-xts-128\t''
aes-cbc-256\t''
aes-cbc-128\t''
aes-cbc-256-elephant\t''
aes-cbc-128-elephant\t''"
complete -c keyway -n "__fish_keyway_using_subcommand encrypt" -l hash -d 'The key derivation: sha512 (default), sha256, whirlpool, streebog, blake2s, argon2id' -r -f -a "sha512\t''
sha256\t''
whirlpool\t''
blake2s\t''
streebog\t''
argon2id\t''"
complete -c keyway -n "__fish_keyway_using_subcommand encrypt" -l free-space -d 'What becomes of free space then: it is left with what was deleted in it, filled with noise, or trimmed' -r -f -a "leave\t'Left as it is: what was deleted stays readable'
fill\t'Overwritten with noise'
trim\t'Given back to the drive, or to the file system that a file is on'"
complete -c keyway -n "__fish_keyway_using_subcommand encrypt" -l journal -d 'Keep the journal in this new file instead of on the volume' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand encrypt" -l skip-unreadable -d 'Go on where sectors can\'t be read: they become zeros, and this file lists them' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand encrypt" -l limit -d 'Convert so many megabytes a second at most, or so many KiB, MiB or GiB: 20, 512K, 20M, 1G' -r
complete -c keyway -n "__fish_keyway_using_subcommand encrypt" -l mount -d 'Mount the file system inside on this folder meanwhile (needs root)' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand encrypt" -l password-file -d 'Read the password of the volume from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand encrypt" -l password-fd -d 'Read the password of the volume from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand encrypt" -l keyfile -d 'A keyfile of the volume' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand encrypt" -l pim -d 'The PIM of the volume' -r
complete -c keyway -n "__fish_keyway_using_subcommand encrypt" -l new-password-file -d 'Read the password to be set from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand encrypt" -l new-password-fd -d 'Read the password to be set from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand encrypt" -l new-keyfile -d 'A keyfile to be set' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand encrypt" -l new-pim -d 'The PIM to be set' -r
complete -c keyway -n "__fish_keyway_using_subcommand encrypt" -l recovery-file -d 'Write the recovery password to this new file instead of printing it' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand encrypt" -l startup-key-out -d 'Make a startup key and write its .BEK file into this folder' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand encrypt" -l recovery-password -d 'The recovery password: its 48 digits, or a file that holds it' -r
complete -c keyway -n "__fish_keyway_using_subcommand encrypt" -l startup-key -d 'The startup key\'s file, or a folder in which the volume\'s one is looked for' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand encrypt" -l tpm -d 'Ask this machine\'s TPM for the key, or another one: a device\'s path, `swtpm:host=HOST,port=N`, `swtpm:path=SOCKET`' -r
complete -c keyway -n "__fish_keyway_using_subcommand encrypt" -l pin-file -d 'Read the PIN of the TPM\'s protector from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand encrypt" -l pin-fd -d 'Read that PIN from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand encrypt" -l drive-hash -d 'How the password becomes what the drive is told: sedutil, sedutil-sha512 or plain (see `keyway drive`)' -r -f -a "sedutil\t''
plain\t''
sedutil-sha512\t''"
complete -c keyway -n "__fish_keyway_using_subcommand encrypt" -l recovery-sheet -d 'Make up the owner\'s secret, and write it to this new file' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand encrypt" -l admin-password-file -d 'Read the owner\'s secret from FILE instead' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand encrypt" -l admin-password-fd -d 'Read the owner\'s secret from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand encrypt" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand encrypt" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand encrypt" -l reencrypt -d 'DEVICE is an encrypted volume already: give it new keys, and this cipher'
complete -c keyway -n "__fish_keyway_using_subcommand encrypt" -l try-variants -d 'With --reencrypt, try a wrong password in other spellings, too, as `open` does'
complete -c keyway -n "__fish_keyway_using_subcommand encrypt" -l grow -d 'Make a file larger instead of the file system in it smaller'
complete -c keyway -n "__fish_keyway_using_subcommand encrypt" -l used-space-only -d 'Encrypt only what the file system uses (NTFS, exFAT, FAT, ext): the time goes with that'
complete -c keyway -n "__fish_keyway_using_subcommand encrypt" -l full-journal -d 'Write everything to the journal before it is written to its place, for a drive that may damage more than 64 KiB in a row when its power fails'
complete -c keyway -n "__fish_keyway_using_subcommand encrypt" -l online -d 'Attach the volume and stay here to serve it: it can be read and written while it is converted'
complete -c keyway -n "__fish_keyway_using_subcommand encrypt" -l require-sandbox -d 'Refuse where this kernel lacks a layer of the sandbox (`keyway doctor`)'
complete -c keyway -n "__fish_keyway_using_subcommand encrypt" -l dry-run -d 'Print what would be done, and do nothing'
complete -c keyway -n "__fish_keyway_using_subcommand encrypt" -l to-go -d 'Let programs that know no BitLocker see a small file system with a note in it'
complete -c keyway -n "__fish_keyway_using_subcommand encrypt" -l no-recovery-password -d 'Make no recovery password'
complete -c keyway -n "__fish_keyway_using_subcommand encrypt" -l no-password -d 'Set no password'
complete -c keyway -n "__fish_keyway_using_subcommand encrypt" -l hardware -d 'Have the drive do it, which encrypts by itself (TCG Opal): at once, whatever is on it'
complete -c keyway -n "__fish_keyway_using_subcommand encrypt" -l leave-unlocked -d 'Leave the drive unlocked until it loses power'
complete -c keyway -n "__fish_keyway_using_subcommand encrypt" -l single-user -d 'Have the drive belong to its user alone: the owner can erase it, and not unlock it (Single User Mode)'
complete -c keyway -n "__fish_keyway_using_subcommand encrypt" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand encrypt" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand encrypt" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand encrypt" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand encrypt" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand resize" -l size -d 'The new size of the file, or of what the volume uses of a device, headers included' -r
complete -c keyway -n "__fish_keyway_using_subcommand resize" -l password-file -d 'Read the password of the volume from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand resize" -l password-fd -d 'Read the password of the volume from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand resize" -l keyfile -d 'A keyfile of the volume' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand resize" -l pim -d 'The PIM of the volume' -r
complete -c keyway -n "__fish_keyway_using_subcommand resize" -l recovery-password -d 'The recovery password: its 48 digits, or a file that holds it' -r
complete -c keyway -n "__fish_keyway_using_subcommand resize" -l startup-key -d 'The startup key\'s file, or a folder in which the volume\'s one is looked for' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand resize" -l tpm -d 'Ask this machine\'s TPM for the key, or another one: a device\'s path, `swtpm:host=HOST,port=N`, `swtpm:path=SOCKET`' -r
complete -c keyway -n "__fish_keyway_using_subcommand resize" -l pin-file -d 'Read the PIN of the TPM\'s protector from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand resize" -l pin-fd -d 'Read that PIN from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand resize" -l format -d 'Only look for this format' -r -f -a "veracrypt\t'VeraCrypt'
truecrypt\t'TrueCrypt'
bitlocker\t'BitLocker'"
complete -c keyway -n "__fish_keyway_using_subcommand resize" -l hash -d 'Only try this key derivation\'s hash: sha512, sha256, blake2s, whirlpool, streebog, ripemd160, sha1, argon2id' -r -f -a "sha512\t''
sha256\t''
whirlpool\t''
blake2s\t''
ripemd160\t''
streebog\t''
argon2id\t''
sha1\t''"
complete -c keyway -n "__fish_keyway_using_subcommand resize" -l header -d 'Which copy of the header to use' -r -f -a "auto\t'The primary one, and where that does not open, the backup'
primary\t'Only the one at the beginning'
backup\t'Only the one at the end'"
complete -c keyway -n "__fish_keyway_using_subcommand resize" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand resize" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand resize" -l quick -d 'Do not overwrite what is new with noise: faster, and shows what of it is unused'
complete -c keyway -n "__fish_keyway_using_subcommand resize" -l keep-filesystem -d 'Leave the file system inside as large as it is'
complete -c keyway -n "__fish_keyway_using_subcommand resize" -l dry-run -d 'Print what would be done, and do nothing'
complete -c keyway -n "__fish_keyway_using_subcommand resize" -l try-variants -d 'Try a wrong password in other spellings and as of other keyboard layouts, too'
complete -c keyway -n "__fish_keyway_using_subcommand resize" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand resize" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand resize" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand resize" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand resize" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand decrypt" -l password-file -d 'Read the password of the volume from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand decrypt" -l password-fd -d 'Read the password of the volume from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand decrypt" -l keyfile -d 'A keyfile of the volume' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand decrypt" -l pim -d 'The PIM of the volume' -r
complete -c keyway -n "__fish_keyway_using_subcommand decrypt" -l recovery-password -d 'The recovery password: its 48 digits, or a file that holds it' -r
complete -c keyway -n "__fish_keyway_using_subcommand decrypt" -l startup-key -d 'The startup key\'s file, or a folder in which the volume\'s one is looked for' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand decrypt" -l tpm -d 'Ask this machine\'s TPM for the key, or another one: a device\'s path, `swtpm:host=HOST,port=N`, `swtpm:path=SOCKET`' -r
complete -c keyway -n "__fish_keyway_using_subcommand decrypt" -l pin-file -d 'Read the PIN of the TPM\'s protector from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand decrypt" -l pin-fd -d 'Read that PIN from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand decrypt" -l format -d 'Only look for this format' -r -f -a "veracrypt\t'VeraCrypt'
truecrypt\t'TrueCrypt'
bitlocker\t'BitLocker'"
complete -c keyway -n "__fish_keyway_using_subcommand decrypt" -l hash -d 'Only try this key derivation\'s hash: sha512, sha256, blake2s, whirlpool, streebog, ripemd160, sha1, argon2id' -r -f -a "sha512\t''
sha256\t''
whirlpool\t''
blake2s\t''
ripemd160\t''
streebog\t''
argon2id\t''
sha1\t''"
complete -c keyway -n "__fish_keyway_using_subcommand decrypt" -l header -d 'Which copy of the header to use' -r -f -a "auto\t'The primary one, and where that does not open, the backup'
primary\t'Only the one at the beginning'
backup\t'Only the one at the end'"
complete -c keyway -n "__fish_keyway_using_subcommand decrypt" -l journal -d 'Keep the journal in this new file instead of on the volume' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand decrypt" -l skip-unreadable -d 'Go on where sectors can\'t be read: they become zeros, and this file lists them' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand decrypt" -l limit -d 'Convert so many megabytes a second at most, or so many KiB, MiB or GiB: 20, 512K, 20M, 1G' -r
complete -c keyway -n "__fish_keyway_using_subcommand decrypt" -l mount -d 'Mount the file system inside on this folder meanwhile (needs root)' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand decrypt" -l drive-hash -d 'How the password becomes what the drive is told: sedutil, sedutil-sha512 or plain (see `keyway drive`)' -r -f -a "sedutil\t''
plain\t''
sedutil-sha512\t''"
complete -c keyway -n "__fish_keyway_using_subcommand decrypt" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand decrypt" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand decrypt" -l try-variants -d 'Try a wrong password in other spellings and as of other keyboard layouts, too'
complete -c keyway -n "__fish_keyway_using_subcommand decrypt" -l full-journal -d 'Write everything to the journal before it is written to its place, for a drive that may damage more than 64 KiB in a row when its power fails'
complete -c keyway -n "__fish_keyway_using_subcommand decrypt" -l online -d 'Attach the volume and stay here to serve it: it can be read and written while it is converted'
complete -c keyway -n "__fish_keyway_using_subcommand decrypt" -l require-sandbox -d 'Refuse where this kernel lacks a layer of the sandbox (`keyway doctor`)'
complete -c keyway -n "__fish_keyway_using_subcommand decrypt" -l dry-run -d 'Print what would be done, and do nothing'
complete -c keyway -n "__fish_keyway_using_subcommand decrypt" -l hardware -d 'Have the drive do it, which encrypts by itself (TCG Opal): at once, whatever is on it'
complete -c keyway -n "__fish_keyway_using_subcommand decrypt" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand decrypt" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand decrypt" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand decrypt" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand decrypt" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand pause" -l journal -d 'The file with the journal of the conversion, where it is not beside the volume (VOLUME.keyway-journal)' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand pause" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand pause" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand pause" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand pause" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand pause" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand pause" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand pause" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand resume" -l skip-unreadable -d 'Go on where sectors can\'t be read: they become zeros, and this file lists them' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand resume" -l limit -d 'Convert so many megabytes a second at most, or so many KiB, MiB or GiB: 20, 512K, 20M, 1G' -r
complete -c keyway -n "__fish_keyway_using_subcommand resume" -l mount -d 'Mount the file system inside on this folder meanwhile (needs root)' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand resume" -l password-file -d 'Read the password of the volume from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand resume" -l password-fd -d 'Read the password of the volume from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand resume" -l keyfile -d 'A keyfile of the volume' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand resume" -l pim -d 'The PIM of the volume' -r
complete -c keyway -n "__fish_keyway_using_subcommand resume" -l new-password-file -d 'Read the password to be set from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand resume" -l new-password-fd -d 'Read the password to be set from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand resume" -l new-keyfile -d 'A keyfile to be set' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand resume" -l new-pim -d 'The PIM to be set' -r
complete -c keyway -n "__fish_keyway_using_subcommand resume" -l recovery-password -d 'The recovery password: its 48 digits, or a file that holds it' -r
complete -c keyway -n "__fish_keyway_using_subcommand resume" -l startup-key -d 'The startup key\'s file, or a folder in which the volume\'s one is looked for' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand resume" -l tpm -d 'Ask this machine\'s TPM for the key, or another one: a device\'s path, `swtpm:host=HOST,port=N`, `swtpm:path=SOCKET`' -r
complete -c keyway -n "__fish_keyway_using_subcommand resume" -l pin-file -d 'Read the PIN of the TPM\'s protector from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand resume" -l pin-fd -d 'Read that PIN from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand resume" -l journal -d 'The file with the conversion\'s journal, where it is not beside the volume (VOLUME.keyway-journal)' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand resume" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand resume" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand resume" -l try-variants -d 'Try a wrong password in other spellings, too, as `open` does'
complete -c keyway -n "__fish_keyway_using_subcommand resume" -l full-journal -d 'Write everything to the journal before it is written to its place, for a drive that may damage more than 64 KiB in a row when its power fails'
complete -c keyway -n "__fish_keyway_using_subcommand resume" -l online -d 'Attach the volume and stay here to serve it: it can be read and written while it is converted'
complete -c keyway -n "__fish_keyway_using_subcommand resume" -l require-sandbox -d 'Refuse where this kernel lacks a layer of the sandbox (`keyway doctor`)'
complete -c keyway -n "__fish_keyway_using_subcommand resume" -l dry-run -d 'Print what would be done, and do nothing'
complete -c keyway -n "__fish_keyway_using_subcommand resume" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand resume" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand resume" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand resume" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand resume" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand serve" -l nbd -d 'Where clients connect: unix:PATH or tcp:127.0.0.1:PORT' -r
complete -c keyway -n "__fish_keyway_using_subcommand serve" -l tls-certificates -d 'Speak TLS, with the certificates in this folder (ca-cert.pem, server-cert.pem, server-key.pem)' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand serve" -l vhost-user -d 'A disk for a virtual machine, on a unix socket at this path (vhost-user-blk)' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand serve" -l nvme-tcp -d 'An NVMe drive for the kernel\'s own driver (NVMe/TCP): 127.0.0.1:PORT' -r
complete -c keyway -n "__fish_keyway_using_subcommand serve" -l nvme-secret -d 'Let in only hosts that prove to know a secret (DH-HMAC-CHAP), and listen on other addresses than loopback if told to' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand serve" -l password-file -d 'Read the password of the volume from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand serve" -l password-fd -d 'Read the password of the volume from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand serve" -l keyfile -d 'A keyfile of the volume' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand serve" -l pim -d 'The PIM of the volume' -r
complete -c keyway -n "__fish_keyway_using_subcommand serve" -l recovery-password -d 'The recovery password: its 48 digits, or a file that holds it' -r
complete -c keyway -n "__fish_keyway_using_subcommand serve" -l startup-key -d 'The startup key\'s file, or a folder in which the volume\'s one is looked for' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand serve" -l tpm -d 'Ask this machine\'s TPM for the key, or another one: a device\'s path, `swtpm:host=HOST,port=N`, `swtpm:path=SOCKET`' -r
complete -c keyway -n "__fish_keyway_using_subcommand serve" -l pin-file -d 'Read the PIN of the TPM\'s protector from FILE' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand serve" -l pin-fd -d 'Read that PIN from the open descriptor N' -r
complete -c keyway -n "__fish_keyway_using_subcommand serve" -l format -d 'Only look for this format' -r -f -a "veracrypt\t'VeraCrypt'
truecrypt\t'TrueCrypt'
bitlocker\t'BitLocker'"
complete -c keyway -n "__fish_keyway_using_subcommand serve" -l hash -d 'Only try this key derivation\'s hash: sha512, sha256, blake2s, whirlpool, streebog, ripemd160, sha1, argon2id' -r -f -a "sha512\t''
sha256\t''
whirlpool\t''
blake2s\t''
ripemd160\t''
streebog\t''
argon2id\t''
sha1\t''"
complete -c keyway -n "__fish_keyway_using_subcommand serve" -l header -d 'Which copy of the header to use' -r -f -a "auto\t'The primary one, and where that does not open, the backup'
primary\t'Only the one at the beginning'
backup\t'Only the one at the end'"
complete -c keyway -n "__fish_keyway_using_subcommand serve" -l partition -d 'VOLUME is a disk, and this partition of it is meant' -r
complete -c keyway -n "__fish_keyway_using_subcommand serve" -l system-header -d 'VOLUME is one partition of an encrypted system: its drive, the drive\'s image, or the 512 bytes of its header' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand serve" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand serve" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand serve" -l any-local-user -d 'Let every user of this machine connect to a loopback port, who can then read the volume and write to it'
complete -c keyway -n "__fish_keyway_using_subcommand serve" -l read-only -d 'Refuse every write'
complete -c keyway -n "__fish_keyway_using_subcommand serve" -l allow-discards -d 'Pass discards (TRIM) on to the medium: keeps an SSD fast and a file sparse, and shows which parts are unused'
complete -c keyway -n "__fish_keyway_using_subcommand serve" -l background -d 'Return as soon as it serves, and serve on until `keyway close`'
complete -c keyway -n "__fish_keyway_using_subcommand serve" -l require-sandbox -d 'Refuse where this kernel lacks a layer of the sandbox (`keyway doctor`)'
complete -c keyway -n "__fish_keyway_using_subcommand serve" -l dry-run -d 'Print what would be done, and do nothing'
complete -c keyway -n "__fish_keyway_using_subcommand serve" -l try-variants -d 'Try a wrong password in other spellings and as of other keyboard layouts, too'
complete -c keyway -n "__fish_keyway_using_subcommand serve" -l system -d 'The volume is an encrypted system partition or drive'
complete -c keyway -n "__fish_keyway_using_subcommand serve" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand serve" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand serve" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand serve" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand serve" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand bench" -l cipher -d 'Only this cipher: VeraCrypt\'s ciphers and cascades, outermost first, or BitLocker\'s aes-xts-128, aes-cbc-128-elephant and so on' -r -f -a "aes\t''
serpent\t''
twofish\t''
aes-twofish\t''
aes-twofish-serpent\t''
serpent-aes\t''
serpent-twofish-aes\t''
twofish-serpent\t''
camellia\t''
kuznyechik\t''
camellia-kuznyechik\t''
camellia-serpent\t''
kuznyechik-aes\t''
kuznyechik-twofish\t''
kuznyechik-serpent-camellia\t''
aes-xts-256\t''
aes-xts-128\t''
aes-cbc-256\t''
aes-cbc-128\t''
aes-cbc-256-elephant\t''
aes-cbc-128-elephant\t''"
complete -c keyway -n "__fish_keyway_using_subcommand bench" -l kernel -d 'Only this kernel: portable, sse, avx2, avx512, neon, or all' -r -f -a "portable\t''
sse\t''
avx2\t''
avx512\t''
neon\t''
all\t''"
complete -c keyway -n "__fish_keyway_using_subcommand bench" -l buffer -d 'Bytes ciphered at a time, several separated by commas' -r -f -a "4K\t''
64K\t''
1M\t''
10M\t''
100M\t''
all\t''"
complete -c keyway -n "__fish_keyway_using_subcommand bench" -l threads -d 'Threads that cipher at once, each its own buffer, several numbers separated by commas' -r
complete -c keyway -n "__fish_keyway_using_subcommand bench" -l time -d 'Milliseconds for all turns of one measurement' -r
complete -c keyway -n "__fish_keyway_using_subcommand bench" -l html -d 'Write a report with bar charts to this file as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand bench" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand bench" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand bench" -l no-kdf -d 'Leave out the key derivations'
complete -c keyway -n "__fish_keyway_using_subcommand bench" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand bench" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand bench" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand bench" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand bench" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and not __fish_seen_subcommand_from run compare study report models record replay" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand lab; and not __fish_seen_subcommand_from run compare study report models record replay" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand lab; and not __fish_seen_subcommand_from run compare study report models record replay" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and not __fish_seen_subcommand_from run compare study report models record replay" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and not __fish_seen_subcommand_from run compare study report models record replay" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and not __fish_seen_subcommand_from run compare study report models record replay" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and not __fish_seen_subcommand_from run compare study report models record replay" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and not __fish_seen_subcommand_from run compare study report models record replay" -f -a "run" -d 'Measure one target'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and not __fish_seen_subcommand_from run compare study report models record replay" -f -a "compare" -d 'Measure targets against a baseline, taking turns'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and not __fish_seen_subcommand_from run compare study report models record replay" -f -a "study" -d 'Measure what published articles claim of encryption, with a verdict for each claim'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and not __fish_seen_subcommand_from run compare study report models record replay" -f -a "report" -d 'Draw what was measured, on one machine or several, as one HTML page'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and not __fish_seen_subcommand_from run compare study report models record replay" -f -a "models" -d 'List the modelled drives, each beside what was published of it'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and not __fish_seen_subcommand_from run compare study report models record replay" -f -a "record" -d 'Take down the requests of an open volume into a trace: where and when, never the bytes'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and not __fish_seen_subcommand_from run compare study report models record replay" -f -a "replay" -d 'Make a trace\'s requests again, on a modelled drive or on a file or device'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from run" -l target -d 'What is measured: plain, veracrypt:CIPHER, bitlocker:CIPHER, hardware:PATH, or a path' -r
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from run" -l drive -d 'The drive: model:NAME, a folder (a file is made in it and removed), or a file or device whose bytes may be lost' -r
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from run" -l path -d 'How requests reach the volumes' -r -f -a "auto\t'As `open` would attach them here; in this process on a modelled drive'
in-process\t'The engine is called in this process'
fuse\t'Through the file of a FUSE mount'
fuse-loop\t'Through a loop device on that file (root)'
ublk\t'Through a block device of the ublk driver'
nbd\t'Through an NBD server and a client of our own'"
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from run" -l workload -d 'A workload\'s name, or the file that describes one' -r
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from run" -l size -d 'Touch so many bytes instead of the workload\'s own' -r
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from run" -l seconds -d 'Make each run this long, in seconds' -r
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from run" -l runs -d 'Make so many runs' -r
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from run" -l scale -d 'Of workloads that copy files or make volumes, this part of the files and bytes: 0.01 for a hundredth' -r
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from run" -l delta -d 'A change by less than this is none, in percent: 3, and 1 for drives that encrypt by themselves, unless given' -r
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from run" -l minutes -d 'Measure for so many minutes at most' -r
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from run" -l html -d 'Write a report with charts: one HTML file that needs nothing else' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from run" -l save -d 'Keep everything that was measured, for `lab report`' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from run" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from run" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from run" -l list -d 'Name the workloads that are shipped, and do nothing'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from run" -l quick -d 'Short runs without rests: a first look, in a minute instead of a quarter of an hour'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from run" -l reads-only -d 'Leave out everything that writes'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from run" -l verify -d 'Read back what was written and compare it, after each turn'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from run" -l buffered -d 'Go through the page cache where a file is read: what many benchmarks do by mistake'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from run" -l no-bare -d 'Do not measure the drive without Keyway\'s code between as well'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from run" -l wide -d 'Tell all that is known of each test, in lines of more than 80 columns'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from run" -l destroy-data -d 'Overwrite the file or device that is named as the drive, and what other programs attach'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from run" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from run" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from run" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from run" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from compare" -l baseline -d 'What the others are held against' -r
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from compare" -l with -d 'What is compared with it: plain, veracrypt:CIPHER, bitlocker:CIPHER, hardware:PATH, or a path' -r
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from compare" -l entrant -d 'Another program beside them: COMMAND attaches it on $DRIVE or in $FOLDER, and prints where the device, file or folder is' -r
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from compare" -l detach -d 'The command that takes it down again ($DEVICE is what it printed), where it isn\'t enough to end it' -r
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from compare" -l resume -d 'Go on with what --save kept: what is missing is measured, and what is undecided measured on' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from compare" -l drive -d 'The drive: model:NAME, a folder (a file is made in it and removed), or a file or device whose bytes may be lost' -r
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from compare" -l path -d 'How requests reach the volumes' -r -f -a "auto\t'As `open` would attach them here; in this process on a modelled drive'
in-process\t'The engine is called in this process'
fuse\t'Through the file of a FUSE mount'
fuse-loop\t'Through a loop device on that file (root)'
ublk\t'Through a block device of the ublk driver'
nbd\t'Through an NBD server and a client of our own'"
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from compare" -l workload -d 'A workload\'s name, or the file that describes one' -r
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from compare" -l size -d 'Touch so many bytes instead of the workload\'s own' -r
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from compare" -l seconds -d 'Make each run this long, in seconds' -r
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from compare" -l runs -d 'Make so many runs' -r
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from compare" -l scale -d 'Of workloads that copy files or make volumes, this part of the files and bytes: 0.01 for a hundredth' -r
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from compare" -l delta -d 'A change by less than this is none, in percent: 3, and 1 for drives that encrypt by themselves, unless given' -r
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from compare" -l minutes -d 'Measure for so many minutes at most' -r
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from compare" -l html -d 'Write a report with charts: one HTML file that needs nothing else' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from compare" -l save -d 'Keep everything that was measured, for `lab report`' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from compare" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from compare" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from compare" -l quick -d 'Short runs without rests: a first look, in a minute instead of a quarter of an hour'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from compare" -l reads-only -d 'Leave out everything that writes'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from compare" -l verify -d 'Read back what was written and compare it, after each turn'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from compare" -l buffered -d 'Go through the page cache where a file is read: what many benchmarks do by mistake'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from compare" -l no-bare -d 'Do not measure the drive without Keyway\'s code between as well'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from compare" -l wide -d 'Tell all that is known of each test, in lines of more than 80 columns'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from compare" -l destroy-data -d 'Overwrite the file or device that is named as the drive, and what other programs attach'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from compare" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from compare" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from compare" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from compare" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from compare" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from study" -l html -d 'Where the report goes [default: study.html, or the next free name]' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from study" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from study" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from study" -l all -d 'All of them, in less than a quarter of an hour'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from study" -l list -d 'Name the articles, and do nothing'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from study" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from study" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from study" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from study" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from study" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from report" -l html -d 'Where the page goes [default: report.html, or the next free name]' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from report" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from report" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from report" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from report" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from report" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from report" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from report" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from models" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from models" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from models" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from models" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from models" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from models" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from models" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from record" -s o -l output -d 'The trace\'s file' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from record" -l seconds -d 'End after this time' -r
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from record" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from record" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from record" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from record" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from record" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from record" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from record" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from replay" -l drive -d 'A modelled drive' -r
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from replay" -l on -d 'A file or device instead' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from replay" -l with -d 'Encrypt in between, as a VeraCrypt volume with this cipher would' -r
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from replay" -l depth -d 'Requests in flight, for traces that do not tell (fio\'s)' -r
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from replay" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from replay" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from replay" -l think -d 'Keep the pauses of whoever was recorded'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from replay" -l fold -d 'Put requests past the volume\'s end somewhere inside it'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from replay" -l simulated -d 'Of a modelled drive: simulated time, exact and at once, which knows no cipher\'s cost'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from replay" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from replay" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from replay" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from replay" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand lab; and __fish_seen_subcommand_from replay" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand doctor" -l minutes -d 'Measure for so many minutes at most: 1, unless given' -r
complete -c keyway -n "__fish_keyway_using_subcommand doctor" -l progress -d 'Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere' -r -f -a "none\t'Not at all'
line\t'A line every ten seconds'
json\t'A JSON object every second, each in a line'"
complete -c keyway -n "__fish_keyway_using_subcommand doctor" -l log -d 'Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one as well' -r -F
complete -c keyway -n "__fish_keyway_using_subcommand doctor" -l measure -d 'Measure what encryption costs where DRIVE is read, and keep that with its date'
complete -c keyway -n "__fish_keyway_using_subcommand doctor" -l json -d 'Print the answer as one JSON document'
complete -c keyway -n "__fish_keyway_using_subcommand doctor" -l yes -d 'Do what destroys data without asking'
complete -c keyway -n "__fish_keyway_using_subcommand doctor" -s v -l verbose -d 'Tell more, such as how a volume is attached and why so'
complete -c keyway -n "__fish_keyway_using_subcommand doctor" -s q -l quiet -d 'Tell the result, warnings and errors alone: no progress, no remarks'
complete -c keyway -n "__fish_keyway_using_subcommand doctor" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c keyway -n "__fish_keyway_using_subcommand close" -f -a "(keyway status --json 2>/dev/null | string replace -rf '^ *\"(?:volume|device|mountpoint)\": \"([^\"\\\\]*)\",?$' '\$1')"
complete -c keyway -n "__fish_keyway_using_subcommand status" -f -a "(keyway status --json 2>/dev/null | string replace -rf '^ *\"(?:volume|device|mountpoint)\": \"([^\"\\\\]*)\",?$' '\$1')"
complete -c keyway -n "__fish_keyway_using_subcommand close" -a "(keyway favourite list --json 2>/dev/null | string replace -rf '^ *\"name\": \"([^\"\\\\]*)\",?$' '\$1')"
complete -c keyway -n "__fish_keyway_using_subcommand status" -a "(keyway favourite list --json 2>/dev/null | string replace -rf '^ *\"name\": \"([^\"\\\\]*)\",?$' '\$1')"
complete -c keyway -n "__fish_keyway_using_subcommand open" -a "(keyway favourite list --json 2>/dev/null | string replace -rf '^ *\"name\": \"([^\"\\\\]*)\",?$' '\$1')"
complete -c keyway -n "__fish_keyway_using_subcommand info" -a "(keyway favourite list --json 2>/dev/null | string replace -rf '^ *\"name\": \"([^\"\\\\]*)\",?$' '\$1')"
complete -c keyway -n "__fish_keyway_using_subcommand cat" -a "(keyway favourite list --json 2>/dev/null | string replace -rf '^ *\"name\": \"([^\"\\\\]*)\",?$' '\$1')"
complete -c keyway -n "__fish_keyway_using_subcommand ls" -a "(keyway favourite list --json 2>/dev/null | string replace -rf '^ *\"name\": \"([^\"\\\\]*)\",?$' '\$1')"
complete -c keyway -n "__fish_keyway_using_subcommand get" -a "(keyway favourite list --json 2>/dev/null | string replace -rf '^ *\"name\": \"([^\"\\\\]*)\",?$' '\$1')"
complete -c keyway -n "__fish_keyway_using_subcommand put" -a "(keyway favourite list --json 2>/dev/null | string replace -rf '^ *\"name\": \"([^\"\\\\]*)\",?$' '\$1')"
complete -c keyway -n "__fish_keyway_using_subcommand favourite; and __fish_seen_subcommand_from remove" -a "(keyway favourite list --json 2>/dev/null | string replace -rf '^ *\"name\": \"([^\"\\\\]*)\",?$' '\$1')"
