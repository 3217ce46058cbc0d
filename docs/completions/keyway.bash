_keyway_paths() {
    local IFS=$'\n'
    COMPREPLY=($(compgen -f "$1"))
    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
        compopt -o filenames
    fi
}

_keyway_favourites() {
    keyway favourite list --json 2>/dev/null | sed -n 's/^ *"name": "\([^"\\]*\)",\{0,1\}$/\1/p'
}

_keyway_volumes() {
    _keyway_paths "$1"
    local IFS=$'\n'
    COMPREPLY+=($(compgen -W "$(_keyway_favourites)" -- "$1"))
}

_keyway_open() {
    local IFS=$'\n'
    local open="$(keyway status --json 2>/dev/null |
        sed -n 's/^ *"\(volume\|device\|mountpoint\)": "\([^"\\]*\)",\{0,1\}$/\2/p')"
    COMPREPLY=($(compgen -W "${open}" -- "$1") $(compgen -W "$(_keyway_favourites)" -- "$1"))
    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
        compopt -o filenames 2>/dev/null
    fi
}

_keyway() {
    local i cur prev opts cmd
    COMPREPLY=()
    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
        cur="$2"
    else
        cur="${COMP_WORDS[COMP_CWORD]}"
    fi
    prev="$3"
    cmd=""
    opts=""

    for i in "${COMP_WORDS[@]:0:COMP_CWORD}"
    do
        case "${cmd},${i}" in
            ",$1")
                cmd="keyway"
                ;;
            keyway,bench)
                cmd="keyway__subcmd__bench"
                ;;
            keyway,cat)
                cmd="keyway__subcmd__cat"
                ;;
            keyway,close)
                cmd="keyway__subcmd__close"
                ;;
            keyway,create)
                cmd="keyway__subcmd__create"
                ;;
            keyway,decrypt)
                cmd="keyway__subcmd__decrypt"
                ;;
            keyway,demo)
                cmd="keyway__subcmd__demo"
                ;;
            keyway,doctor)
                cmd="keyway__subcmd__doctor"
                ;;
            keyway,drive)
                cmd="keyway__subcmd__drive"
                ;;
            keyway,encrypt)
                cmd="keyway__subcmd__encrypt"
                ;;
            keyway,erase)
                cmd="keyway__subcmd__erase"
                ;;
            keyway,favourite)
                cmd="keyway__subcmd__favourite"
                ;;
            keyway,get)
                cmd="keyway__subcmd__get"
                ;;
            keyway,header)
                cmd="keyway__subcmd__header"
                ;;
            keyway,info)
                cmd="keyway__subcmd__info"
                ;;
            keyway,lab)
                cmd="keyway__subcmd__lab"
                ;;
            keyway,ls)
                cmd="keyway__subcmd__ls"
                ;;
            keyway,open)
                cmd="keyway__subcmd__open"
                ;;
            keyway,pause)
                cmd="keyway__subcmd__pause"
                ;;
            keyway,protector)
                cmd="keyway__subcmd__protector"
                ;;
            keyway,put)
                cmd="keyway__subcmd__put"
                ;;
            keyway,resize)
                cmd="keyway__subcmd__resize"
                ;;
            keyway,resume)
                cmd="keyway__subcmd__resume"
                ;;
            keyway,serve)
                cmd="keyway__subcmd__serve"
                ;;
            keyway,status)
                cmd="keyway__subcmd__status"
                ;;
            keyway__subcmd__drive,block)
                cmd="keyway__subcmd__drive__subcmd__block"
                ;;
            keyway__subcmd__drive,emulate)
                cmd="keyway__subcmd__drive__subcmd__emulate"
                ;;
            keyway__subcmd__drive,erase)
                cmd="keyway__subcmd__drive__subcmd__erase"
                ;;
            keyway__subcmd__drive,info)
                cmd="keyway__subcmd__drive__subcmd__info"
                ;;
            keyway__subcmd__drive,list)
                cmd="keyway__subcmd__drive__subcmd__list"
                ;;
            keyway__subcmd__drive,lock)
                cmd="keyway__subcmd__drive__subcmd__lock"
                ;;
            keyway__subcmd__drive,mbr)
                cmd="keyway__subcmd__drive__subcmd__mbr"
                ;;
            keyway__subcmd__drive,range)
                cmd="keyway__subcmd__drive__subcmd__range"
                ;;
            keyway__subcmd__drive,reset)
                cmd="keyway__subcmd__drive__subcmd__reset"
                ;;
            keyway__subcmd__drive,revert)
                cmd="keyway__subcmd__drive__subcmd__revert"
                ;;
            keyway__subcmd__drive,setup)
                cmd="keyway__subcmd__drive__subcmd__setup"
                ;;
            keyway__subcmd__drive,store)
                cmd="keyway__subcmd__drive__subcmd__store"
                ;;
            keyway__subcmd__drive,unlock)
                cmd="keyway__subcmd__drive__subcmd__unlock"
                ;;
            keyway__subcmd__drive,user)
                cmd="keyway__subcmd__drive__subcmd__user"
                ;;
            keyway__subcmd__drive__subcmd__mbr,disable)
                cmd="keyway__subcmd__drive__subcmd__mbr__subcmd__disable"
                ;;
            keyway__subcmd__drive__subcmd__mbr,done)
                cmd="keyway__subcmd__drive__subcmd__mbr__subcmd__done"
                ;;
            keyway__subcmd__drive__subcmd__mbr,enable)
                cmd="keyway__subcmd__drive__subcmd__mbr__subcmd__enable"
                ;;
            keyway__subcmd__drive__subcmd__mbr,read)
                cmd="keyway__subcmd__drive__subcmd__mbr__subcmd__read"
                ;;
            keyway__subcmd__drive__subcmd__mbr,status)
                cmd="keyway__subcmd__drive__subcmd__mbr__subcmd__status"
                ;;
            keyway__subcmd__drive__subcmd__mbr,undone)
                cmd="keyway__subcmd__drive__subcmd__mbr__subcmd__undone"
                ;;
            keyway__subcmd__drive__subcmd__mbr,write)
                cmd="keyway__subcmd__drive__subcmd__mbr__subcmd__write"
                ;;
            keyway__subcmd__drive__subcmd__range,disable)
                cmd="keyway__subcmd__drive__subcmd__range__subcmd__disable"
                ;;
            keyway__subcmd__drive__subcmd__range,enable)
                cmd="keyway__subcmd__drive__subcmd__range__subcmd__enable"
                ;;
            keyway__subcmd__drive__subcmd__range,list)
                cmd="keyway__subcmd__drive__subcmd__range__subcmd__list"
                ;;
            keyway__subcmd__drive__subcmd__range,remove)
                cmd="keyway__subcmd__drive__subcmd__range__subcmd__remove"
                ;;
            keyway__subcmd__drive__subcmd__range,set)
                cmd="keyway__subcmd__drive__subcmd__range__subcmd__set"
                ;;
            keyway__subcmd__drive__subcmd__store,read)
                cmd="keyway__subcmd__drive__subcmd__store__subcmd__read"
                ;;
            keyway__subcmd__drive__subcmd__store,write)
                cmd="keyway__subcmd__drive__subcmd__store__subcmd__write"
                ;;
            keyway__subcmd__drive__subcmd__user,allow)
                cmd="keyway__subcmd__drive__subcmd__user__subcmd__allow"
                ;;
            keyway__subcmd__drive__subcmd__user,alone)
                cmd="keyway__subcmd__drive__subcmd__user__subcmd__alone"
                ;;
            keyway__subcmd__drive__subcmd__user,disable)
                cmd="keyway__subcmd__drive__subcmd__user__subcmd__disable"
                ;;
            keyway__subcmd__drive__subcmd__user,enable)
                cmd="keyway__subcmd__drive__subcmd__user__subcmd__enable"
                ;;
            keyway__subcmd__drive__subcmd__user,forbid)
                cmd="keyway__subcmd__drive__subcmd__user__subcmd__forbid"
                ;;
            keyway__subcmd__drive__subcmd__user,list)
                cmd="keyway__subcmd__drive__subcmd__user__subcmd__list"
                ;;
            keyway__subcmd__drive__subcmd__user,move-in)
                cmd="keyway__subcmd__drive__subcmd__user__subcmd__move__subcmd__in"
                ;;
            keyway__subcmd__drive__subcmd__user,password)
                cmd="keyway__subcmd__drive__subcmd__user__subcmd__password"
                ;;
            keyway__subcmd__favourite,add)
                cmd="keyway__subcmd__favourite__subcmd__add"
                ;;
            keyway__subcmd__favourite,list)
                cmd="keyway__subcmd__favourite__subcmd__list"
                ;;
            keyway__subcmd__favourite,remove)
                cmd="keyway__subcmd__favourite__subcmd__remove"
                ;;
            keyway__subcmd__header,backup)
                cmd="keyway__subcmd__header__subcmd__backup"
                ;;
            keyway__subcmd__header,check)
                cmd="keyway__subcmd__header__subcmd__check"
                ;;
            keyway__subcmd__header,repair)
                cmd="keyway__subcmd__header__subcmd__repair"
                ;;
            keyway__subcmd__header,restore)
                cmd="keyway__subcmd__header__subcmd__restore"
                ;;
            keyway__subcmd__lab,compare)
                cmd="keyway__subcmd__lab__subcmd__compare"
                ;;
            keyway__subcmd__lab,models)
                cmd="keyway__subcmd__lab__subcmd__models"
                ;;
            keyway__subcmd__lab,record)
                cmd="keyway__subcmd__lab__subcmd__record"
                ;;
            keyway__subcmd__lab,replay)
                cmd="keyway__subcmd__lab__subcmd__replay"
                ;;
            keyway__subcmd__lab,report)
                cmd="keyway__subcmd__lab__subcmd__report"
                ;;
            keyway__subcmd__lab,run)
                cmd="keyway__subcmd__lab__subcmd__run"
                ;;
            keyway__subcmd__lab,study)
                cmd="keyway__subcmd__lab__subcmd__study"
                ;;
            keyway__subcmd__protector,add)
                cmd="keyway__subcmd__protector__subcmd__add"
                ;;
            keyway__subcmd__protector,change)
                cmd="keyway__subcmd__protector__subcmd__change"
                ;;
            keyway__subcmd__protector,list)
                cmd="keyway__subcmd__protector__subcmd__list"
                ;;
            keyway__subcmd__protector,recovery)
                cmd="keyway__subcmd__protector__subcmd__recovery"
                ;;
            keyway__subcmd__protector,remove)
                cmd="keyway__subcmd__protector__subcmd__remove"
                ;;
            keyway__subcmd__protector,resume)
                cmd="keyway__subcmd__protector__subcmd__resume"
                ;;
            keyway__subcmd__protector,suspend)
                cmd="keyway__subcmd__protector__subcmd__suspend"
                ;;
            *)
                ;;
        esac
    done

    case "${cmd}" in
        keyway)
            opts="-v -q -h -V --json --yes --verbose --quiet --progress --log --help --version demo create open close favourite status info cat ls get put protector header erase drive encrypt resize decrypt pause resume serve bench lab doctor"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 1 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__bench)
            opts="-v -q -h --cipher --kernel --buffer --threads --time --no-kdf --html --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --cipher)
                    COMPREPLY=($(compgen -W "aes serpent twofish aes-twofish aes-twofish-serpent serpent-aes serpent-twofish-aes twofish-serpent camellia kuznyechik camellia-kuznyechik camellia-serpent kuznyechik-aes kuznyechik-twofish kuznyechik-serpent-camellia aes-xts-256 aes-xts-128 aes-cbc-256 aes-cbc-128 aes-cbc-256-elephant aes-cbc-128-elephant" -- "${cur}"))
                    return 0
                    ;;
                --kernel)
                    COMPREPLY=($(compgen -W "portable sse avx2 avx512 neon all" -- "${cur}"))
                    return 0
                    ;;
                --buffer)
                    COMPREPLY=($(compgen -W "4K 64K 1M 10M 100M all" -- "${cur}"))
                    return 0
                    ;;
                --threads)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --time)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --html)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__cat)
            if [[ ${cur} != -* && ${prev} =~ ^(open|info|cat|ls|get|put)$ ]] ; then
                _keyway_volumes "${cur}"
                return 0
            fi
            opts="-v -q -h --offset --length --require-sandbox --password-file --password-fd --keyfile --pim --try-variants --recovery-password --startup-key --tpm --pin-file --pin-fd --format --hash --header --partition --system --system-header --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --offset)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --length)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --keyfile)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --pim)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --recovery-password)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --startup-key)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --tpm)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --pin-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --pin-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "veracrypt truecrypt bitlocker" -- "${cur}"))
                    return 0
                    ;;
                --hash)
                    COMPREPLY=($(compgen -W "sha512 sha256 whirlpool blake2s ripemd160 streebog argon2id sha1" -- "${cur}"))
                    return 0
                    ;;
                --header)
                    COMPREPLY=($(compgen -W "auto primary backup" -- "${cur}"))
                    return 0
                    ;;
                --partition)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --system-header)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__close)
            if [[ ${cur} != -* && ! ${prev} =~ ^--(log|progress|journal|partition)$ ]] ; then
                _keyway_open "${cur}"
                return 0
            fi
            opts="-v -q -h --all --if-open --exit-code --dry-run --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__create)
            opts="-v -q -h --size --hidden --format --cipher --hash --outer-hash --filesystem --label --quick --force --dry-run --password-file --password-fd --keyfile --pim --hidden-password-file --hidden-password-fd --hidden-keyfile --hidden-pim --to-go --recovery-file --no-recovery-password --no-password --startup-key-out --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hidden)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "veracrypt bitlocker" -- "${cur}"))
                    return 0
                    ;;
                --cipher)
                    COMPREPLY=($(compgen -W "aes serpent twofish aes-twofish aes-twofish-serpent serpent-aes serpent-twofish-aes twofish-serpent camellia kuznyechik camellia-kuznyechik camellia-serpent kuznyechik-aes kuznyechik-twofish kuznyechik-serpent-camellia aes-xts-256 aes-xts-128 aes-cbc-256 aes-cbc-128 aes-cbc-256-elephant aes-cbc-128-elephant" -- "${cur}"))
                    return 0
                    ;;
                --hash)
                    COMPREPLY=($(compgen -W "sha512 sha256 whirlpool blake2s streebog argon2id" -- "${cur}"))
                    return 0
                    ;;
                --outer-hash)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --filesystem)
                    COMPREPLY=($(compgen -W "ext4 exfat ntfs fat btrfs xfs none" -- "${cur}"))
                    return 0
                    ;;
                --label)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --keyfile)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --pim)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hidden-password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --hidden-password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hidden-keyfile)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --hidden-pim)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --recovery-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --startup-key-out)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__decrypt)
            opts="-v -q -h --password-file --password-fd --keyfile --pim --try-variants --recovery-password --startup-key --tpm --pin-file --pin-fd --format --hash --header --journal --full-journal --skip-unreadable --limit --online --mount --require-sandbox --dry-run --hardware --drive-hash --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --keyfile)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --pim)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --recovery-password)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --startup-key)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --tpm)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --pin-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --pin-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "veracrypt truecrypt bitlocker" -- "${cur}"))
                    return 0
                    ;;
                --hash)
                    COMPREPLY=($(compgen -W "sha512 sha256 whirlpool blake2s ripemd160 streebog argon2id sha1" -- "${cur}"))
                    return 0
                    ;;
                --header)
                    COMPREPLY=($(compgen -W "auto primary backup" -- "${cur}"))
                    return 0
                    ;;
                --journal)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --skip-unreadable)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --limit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --mount)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --drive-hash)
                    COMPREPLY=($(compgen -W "sedutil plain sedutil-sha512" -- "${cur}"))
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__demo)
            opts="-v -q -h --report --minutes --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --report)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --minutes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__doctor)
            opts="-v -q -h --measure --minutes --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --minutes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__drive)
            opts="-v -q -h --json --yes --verbose --quiet --progress --log --help list info setup lock unlock erase revert block reset range user mbr store emulate"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__drive__subcmd__block)
            opts="-v -q -h --dry-run --until-hardware-reset --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__drive__subcmd__emulate)
            opts="-v -q -h --size --block-size --profile --fault --nvme-tcp --any-local-user --vhost-user-scsi --nqn --nvme-secret --dry-run --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --block-size)
                    COMPREPLY=($(compgen -W "512 4096" -- "${cur}"))
                    return 0
                    ;;
                --profile)
                    COMPREPLY=($(compgen -W "opal2 opalite pyrite1 pyrite2 ruby enterprise samsung-850-evo kioxia-xg8" -- "${cur}"))
                    return 0
                    ;;
                --fault)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --nvme-tcp)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --vhost-user-scsi)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --nqn)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --nvme-secret)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__drive__subcmd__erase)
            opts="-v -q -h --range --dry-run --as --password-file --password-fd --hash --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --range)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --as)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hash)
                    COMPREPLY=($(compgen -W "sedutil plain sedutil-sha512" -- "${cur}"))
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__drive__subcmd__info)
            opts="-v -q -h --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__drive__subcmd__list)
            opts="-v -q -h --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__drive__subcmd__lock)
            opts="-v -q -h --dry-run --range --as --password-file --password-fd --hash --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --range)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --as)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hash)
                    COMPREPLY=($(compgen -W "sedutil plain sedutil-sha512" -- "${cur}"))
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__drive__subcmd__mbr)
            opts="-v -q -h --json --yes --verbose --quiet --progress --log --help status enable disable done undone write read"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__drive__subcmd__mbr__subcmd__disable)
            opts="-v -q -h --dry-run --as --password-file --password-fd --hash --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --as)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hash)
                    COMPREPLY=($(compgen -W "sedutil plain sedutil-sha512" -- "${cur}"))
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__drive__subcmd__mbr__subcmd__done)
            opts="-v -q -h --dry-run --as --password-file --password-fd --hash --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --as)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hash)
                    COMPREPLY=($(compgen -W "sedutil plain sedutil-sha512" -- "${cur}"))
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__drive__subcmd__mbr__subcmd__enable)
            opts="-v -q -h --dry-run --as --password-file --password-fd --hash --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --as)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hash)
                    COMPREPLY=($(compgen -W "sedutil plain sedutil-sha512" -- "${cur}"))
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__drive__subcmd__mbr__subcmd__read)
            opts="-v -q -h --length --dry-run --as --password-file --password-fd --hash --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --length)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --as)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hash)
                    COMPREPLY=($(compgen -W "sedutil plain sedutil-sha512" -- "${cur}"))
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__drive__subcmd__mbr__subcmd__status)
            opts="-v -q -h --as --password-file --password-fd --hash --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --as)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hash)
                    COMPREPLY=($(compgen -W "sedutil plain sedutil-sha512" -- "${cur}"))
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__drive__subcmd__mbr__subcmd__undone)
            opts="-v -q -h --dry-run --as --password-file --password-fd --hash --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --as)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hash)
                    COMPREPLY=($(compgen -W "sedutil plain sedutil-sha512" -- "${cur}"))
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__drive__subcmd__mbr__subcmd__write)
            opts="-v -q -h --dry-run --as --password-file --password-fd --hash --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --as)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hash)
                    COMPREPLY=($(compgen -W "sedutil plain sedutil-sha512" -- "${cur}"))
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__drive__subcmd__range)
            opts="-v -q -h --json --yes --verbose --quiet --progress --log --help list set enable disable remove"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__drive__subcmd__range__subcmd__disable)
            opts="-v -q -h --dry-run --as --password-file --password-fd --hash --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --as)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hash)
                    COMPREPLY=($(compgen -W "sedutil plain sedutil-sha512" -- "${cur}"))
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__drive__subcmd__range__subcmd__enable)
            opts="-v -q -h --dry-run --as --password-file --password-fd --hash --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --as)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hash)
                    COMPREPLY=($(compgen -W "sedutil plain sedutil-sha512" -- "${cur}"))
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__drive__subcmd__range__subcmd__list)
            opts="-v -q -h --as --password-file --password-fd --hash --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --as)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hash)
                    COMPREPLY=($(compgen -W "sedutil plain sedutil-sha512" -- "${cur}"))
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__drive__subcmd__range__subcmd__remove)
            opts="-v -q -h --dry-run --as --password-file --password-fd --hash --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --as)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hash)
                    COMPREPLY=($(compgen -W "sedutil plain sedutil-sha512" -- "${cur}"))
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__drive__subcmd__range__subcmd__set)
            opts="-v -q -h --start --length --dry-run --as --password-file --password-fd --hash --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --start)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --length)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --as)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hash)
                    COMPREPLY=($(compgen -W "sedutil plain sedutil-sha512" -- "${cur}"))
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__drive__subcmd__reset)
            opts="-v -q -h --dry-run --tper --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__drive__subcmd__revert)
            opts="-v -q -h --dry-run --psid --keep-data --password-file --password-fd --hash --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --psid)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hash)
                    COMPREPLY=($(compgen -W "sedutil plain sedutil-sha512" -- "${cur}"))
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__drive__subcmd__setup)
            opts="-v -q -h --dry-run --recovery-sheet --admin-password-file --admin-password-fd --leave-unlocked --single-user --password-file --password-fd --hash --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --recovery-sheet)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --admin-password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --admin-password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hash)
                    COMPREPLY=($(compgen -W "sedutil plain sedutil-sha512" -- "${cur}"))
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__drive__subcmd__store)
            opts="-v -q -h --json --yes --verbose --quiet --progress --log --help read write"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__drive__subcmd__store__subcmd__read)
            opts="-v -q -h --length --as --password-file --password-fd --hash --offset --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --length)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --as)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hash)
                    COMPREPLY=($(compgen -W "sedutil plain sedutil-sha512" -- "${cur}"))
                    return 0
                    ;;
                --offset)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__drive__subcmd__store__subcmd__write)
            opts="-v -q -h --dry-run --as --password-file --password-fd --hash --offset --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --as)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hash)
                    COMPREPLY=($(compgen -W "sedutil plain sedutil-sha512" -- "${cur}"))
                    return 0
                    ;;
                --offset)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__drive__subcmd__unlock)
            opts="-v -q -h --read-only --for-resume --by-kernel --dry-run --range --as --password-file --password-fd --hash --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --range)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --as)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hash)
                    COMPREPLY=($(compgen -W "sedutil plain sedutil-sha512" -- "${cur}"))
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__drive__subcmd__user)
            opts="-v -q -h --json --yes --verbose --quiet --progress --log --help list password enable disable allow forbid alone move-in"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__drive__subcmd__user__subcmd__allow)
            opts="-v -q -h --range --dry-run --as --password-file --password-fd --hash --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --range)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --as)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hash)
                    COMPREPLY=($(compgen -W "sedutil plain sedutil-sha512" -- "${cur}"))
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__drive__subcmd__user__subcmd__alone)
            opts="-v -q -h --dry-run --range --password-file --password-fd --hash --new-password-file --new-password-fd --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --range)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hash)
                    COMPREPLY=($(compgen -W "sedutil plain sedutil-sha512" -- "${cur}"))
                    return 0
                    ;;
                --new-password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --new-password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__drive__subcmd__user__subcmd__disable)
            opts="-v -q -h --dry-run --as --password-file --password-fd --hash --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --as)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hash)
                    COMPREPLY=($(compgen -W "sedutil plain sedutil-sha512" -- "${cur}"))
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__drive__subcmd__user__subcmd__enable)
            opts="-v -q -h --range --dry-run --as --password-file --password-fd --hash --new-password-file --new-password-fd --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --range)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --as)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hash)
                    COMPREPLY=($(compgen -W "sedutil plain sedutil-sha512" -- "${cur}"))
                    return 0
                    ;;
                --new-password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --new-password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__drive__subcmd__user__subcmd__forbid)
            opts="-v -q -h --range --dry-run --as --password-file --password-fd --hash --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --range)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --as)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hash)
                    COMPREPLY=($(compgen -W "sedutil plain sedutil-sha512" -- "${cur}"))
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__drive__subcmd__user__subcmd__list)
            opts="-v -q -h --as --password-file --password-fd --hash --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --as)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hash)
                    COMPREPLY=($(compgen -W "sedutil plain sedutil-sha512" -- "${cur}"))
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__drive__subcmd__user__subcmd__move__subcmd__in)
            opts="-v -q -h --dry-run --range --hash --new-password-file --new-password-fd --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --range)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hash)
                    COMPREPLY=($(compgen -W "sedutil plain sedutil-sha512" -- "${cur}"))
                    return 0
                    ;;
                --new-password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --new-password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__drive__subcmd__user__subcmd__password)
            opts="-v -q -h --dry-run --as --password-file --password-fd --hash --new-password-file --new-password-fd --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --as)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hash)
                    COMPREPLY=($(compgen -W "sedutil plain sedutil-sha512" -- "${cur}"))
                    return 0
                    ;;
                --new-password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --new-password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__encrypt)
            opts="-v -q -h --format --cipher --hash --reencrypt --try-variants --grow --used-space-only --free-space --journal --full-journal --skip-unreadable --limit --online --mount --require-sandbox --dry-run --password-file --password-fd --keyfile --pim --new-password-file --new-password-fd --new-keyfile --new-pim --to-go --recovery-file --no-recovery-password --no-password --startup-key-out --recovery-password --startup-key --tpm --pin-file --pin-fd --hardware --drive-hash --recovery-sheet --admin-password-file --admin-password-fd --leave-unlocked --single-user --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --format)
                    COMPREPLY=($(compgen -W "veracrypt bitlocker" -- "${cur}"))
                    return 0
                    ;;
                --cipher)
                    COMPREPLY=($(compgen -W "aes serpent twofish aes-twofish aes-twofish-serpent serpent-aes serpent-twofish-aes twofish-serpent camellia kuznyechik camellia-kuznyechik camellia-serpent kuznyechik-aes kuznyechik-twofish kuznyechik-serpent-camellia aes-xts-256 aes-xts-128 aes-cbc-256 aes-cbc-128 aes-cbc-256-elephant aes-cbc-128-elephant" -- "${cur}"))
                    return 0
                    ;;
                --hash)
                    COMPREPLY=($(compgen -W "sha512 sha256 whirlpool blake2s streebog argon2id" -- "${cur}"))
                    return 0
                    ;;
                --free-space)
                    COMPREPLY=($(compgen -W "leave fill trim" -- "${cur}"))
                    return 0
                    ;;
                --journal)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --skip-unreadable)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --limit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --mount)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --keyfile)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --pim)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --new-password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --new-password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --new-keyfile)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --new-pim)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --recovery-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --startup-key-out)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --recovery-password)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --startup-key)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --tpm)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --pin-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --pin-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --drive-hash)
                    COMPREPLY=($(compgen -W "sedutil plain sedutil-sha512" -- "${cur}"))
                    return 0
                    ;;
                --recovery-sheet)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --admin-password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --admin-password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__erase)
            opts="-v -q -h --dry-run --password-file --password-fd --keyfile --pim --try-variants --recovery-password --startup-key --tpm --pin-file --pin-fd --format --hash --header --partition --system --system-header --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --keyfile)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --pim)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --recovery-password)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --startup-key)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --tpm)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --pin-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --pin-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "veracrypt truecrypt bitlocker" -- "${cur}"))
                    return 0
                    ;;
                --hash)
                    COMPREPLY=($(compgen -W "sha512 sha256 whirlpool blake2s ripemd160 streebog argon2id sha1" -- "${cur}"))
                    return 0
                    ;;
                --header)
                    COMPREPLY=($(compgen -W "auto primary backup" -- "${cur}"))
                    return 0
                    ;;
                --partition)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --system-header)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__favourite)
            opts="-v -q -h --json --yes --verbose --quiet --progress --log --help add list remove"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__favourite__subcmd__add)
            opts="-v -q -h --name --for-all --at-boot --force --mount-options --attach --read-only --allow-discards --cache --protect-hidden --close-when-idle --foreground --require-sandbox --dry-run --password-file --password-fd --keyfile --pim --try-variants --recovery-password --startup-key --tpm --pin-file --pin-fd --format --hash --header --partition --system --system-header --protect-password-file --protect-password-fd --protect-keyfile --protect-pim --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --name)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --mount-options)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --attach)
                    COMPREPLY=($(compgen -W "auto fuse files nbd vhost-user ublk dm-crypt" -- "${cur}"))
                    return 0
                    ;;
                --close-when-idle)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --keyfile)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --pim)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --recovery-password)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --startup-key)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --tpm)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --pin-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --pin-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "veracrypt truecrypt bitlocker" -- "${cur}"))
                    return 0
                    ;;
                --hash)
                    COMPREPLY=($(compgen -W "sha512 sha256 whirlpool blake2s ripemd160 streebog argon2id sha1" -- "${cur}"))
                    return 0
                    ;;
                --header)
                    COMPREPLY=($(compgen -W "auto primary backup" -- "${cur}"))
                    return 0
                    ;;
                --partition)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --system-header)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --protect-password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --protect-password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --protect-keyfile)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --protect-pim)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__favourite__subcmd__list)
            opts="-v -q -h --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__favourite__subcmd__remove)
            if [[ ${cur} != -* ]] ; then
                COMPREPLY=($(compgen -W "$(_keyway_favourites)" -- "${cur}"))
                return 0
            fi
            opts="-v -q -h --for-all --dry-run --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__get)
            if [[ ${cur} != -* && ${prev} =~ ^(open|info|cat|ls|get|put)$ ]] ; then
                _keyway_volumes "${cur}"
                return 0
            fi
            opts="-v -q -h --force --skip-existing --require-sandbox --dry-run --password-file --password-fd --keyfile --pim --try-variants --recovery-password --startup-key --tpm --pin-file --pin-fd --format --hash --header --partition --system --system-header --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --keyfile)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --pim)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --recovery-password)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --startup-key)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --tpm)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --pin-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --pin-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "veracrypt truecrypt bitlocker" -- "${cur}"))
                    return 0
                    ;;
                --hash)
                    COMPREPLY=($(compgen -W "sha512 sha256 whirlpool blake2s ripemd160 streebog argon2id sha1" -- "${cur}"))
                    return 0
                    ;;
                --header)
                    COMPREPLY=($(compgen -W "auto primary backup" -- "${cur}"))
                    return 0
                    ;;
                --partition)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --system-header)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__header)
            opts="-v -q -h --json --yes --verbose --quiet --progress --log --help backup restore repair check"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__header__subcmd__backup)
            opts="-v -q -h --hidden --dry-run --password-file --password-fd --keyfile --pim --try-variants --recovery-password --startup-key --tpm --pin-file --pin-fd --format --hash --header --partition --system --system-header --hidden-password-file --hidden-password-fd --hidden-keyfile --hidden-pim --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --keyfile)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --pim)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --recovery-password)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --startup-key)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --tpm)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --pin-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --pin-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "veracrypt truecrypt bitlocker" -- "${cur}"))
                    return 0
                    ;;
                --hash)
                    COMPREPLY=($(compgen -W "sha512 sha256 whirlpool blake2s ripemd160 streebog argon2id sha1" -- "${cur}"))
                    return 0
                    ;;
                --header)
                    COMPREPLY=($(compgen -W "auto primary backup" -- "${cur}"))
                    return 0
                    ;;
                --partition)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --system-header)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --hidden-password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --hidden-password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hidden-keyfile)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --hidden-pim)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__header__subcmd__check)
            opts="-v -q -h --password-file --password-fd --keyfile --pim --try-variants --recovery-password --startup-key --tpm --pin-file --pin-fd --format --hash --header --partition --system --system-header --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --keyfile)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --pim)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --recovery-password)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --startup-key)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --tpm)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --pin-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --pin-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "veracrypt truecrypt bitlocker" -- "${cur}"))
                    return 0
                    ;;
                --hash)
                    COMPREPLY=($(compgen -W "sha512 sha256 whirlpool blake2s ripemd160 streebog argon2id sha1" -- "${cur}"))
                    return 0
                    ;;
                --header)
                    COMPREPLY=($(compgen -W "auto primary backup" -- "${cur}"))
                    return 0
                    ;;
                --partition)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --system-header)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__header__subcmd__repair)
            opts="-v -q -h --dry-run --password-file --password-fd --keyfile --pim --try-variants --recovery-password --startup-key --tpm --pin-file --pin-fd --format --hash --header --partition --system --system-header --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --keyfile)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --pim)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --recovery-password)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --startup-key)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --tpm)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --pin-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --pin-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "veracrypt truecrypt bitlocker" -- "${cur}"))
                    return 0
                    ;;
                --hash)
                    COMPREPLY=($(compgen -W "sha512 sha256 whirlpool blake2s ripemd160 streebog argon2id sha1" -- "${cur}"))
                    return 0
                    ;;
                --header)
                    COMPREPLY=($(compgen -W "auto primary backup" -- "${cur}"))
                    return 0
                    ;;
                --partition)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --system-header)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__header__subcmd__restore)
            opts="-v -q -h --force --dry-run --password-file --password-fd --keyfile --pim --try-variants --recovery-password --startup-key --tpm --pin-file --pin-fd --format --hash --header --partition --system --system-header --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --keyfile)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --pim)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --recovery-password)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --startup-key)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --tpm)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --pin-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --pin-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "veracrypt truecrypt bitlocker" -- "${cur}"))
                    return 0
                    ;;
                --hash)
                    COMPREPLY=($(compgen -W "sha512 sha256 whirlpool blake2s ripemd160 streebog argon2id sha1" -- "${cur}"))
                    return 0
                    ;;
                --header)
                    COMPREPLY=($(compgen -W "auto primary backup" -- "${cur}"))
                    return 0
                    ;;
                --partition)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --system-header)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__info)
            if [[ ${cur} != -* && ${prev} =~ ^(open|info|cat|ls|get|put)$ ]] ; then
                _keyway_volumes "${cur}"
                return 0
            fi
            opts="-v -q -h --ask --journal --password-file --password-fd --keyfile --pim --try-variants --recovery-password --startup-key --tpm --pin-file --pin-fd --format --hash --header --partition --system --system-header --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --journal)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --keyfile)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --pim)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --recovery-password)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --startup-key)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --tpm)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --pin-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --pin-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "veracrypt truecrypt bitlocker" -- "${cur}"))
                    return 0
                    ;;
                --hash)
                    COMPREPLY=($(compgen -W "sha512 sha256 whirlpool blake2s ripemd160 streebog argon2id sha1" -- "${cur}"))
                    return 0
                    ;;
                --header)
                    COMPREPLY=($(compgen -W "auto primary backup" -- "${cur}"))
                    return 0
                    ;;
                --partition)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --system-header)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__lab)
            opts="-v -q -h --json --yes --verbose --quiet --progress --log --help run compare study report models record replay"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__lab__subcmd__compare)
            opts="-v -q -h --baseline --with --entrant --detach --resume --drive --path --workload --quick --size --seconds --runs --scale --reads-only --verify --buffered --no-bare --delta --minutes --wide --destroy-data --html --save --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --baseline)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --with)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --entrant)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --detach)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --resume)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --drive)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --path)
                    COMPREPLY=($(compgen -W "auto in-process fuse fuse-loop ublk nbd" -- "${cur}"))
                    return 0
                    ;;
                --workload)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --seconds)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --runs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --scale)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --delta)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --minutes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --html)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --save)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__lab__subcmd__models)
            opts="-v -q -h --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__lab__subcmd__record)
            opts="-o -v -q -h --output --seconds --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --output)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                -o)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --seconds)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__lab__subcmd__replay)
            opts="-v -q -h --drive --on --with --think --depth --fold --simulated --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --drive)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --on)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --with)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --depth)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__lab__subcmd__report)
            opts="-v -q -h --html --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --html)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__lab__subcmd__run)
            opts="-v -q -h --target --list --drive --path --workload --quick --size --seconds --runs --scale --reads-only --verify --buffered --no-bare --delta --minutes --wide --destroy-data --html --save --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --target)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --drive)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --path)
                    COMPREPLY=($(compgen -W "auto in-process fuse fuse-loop ublk nbd" -- "${cur}"))
                    return 0
                    ;;
                --workload)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --seconds)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --runs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --scale)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --delta)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --minutes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --html)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --save)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__lab__subcmd__study)
            opts="-v -q -h --all --list --html --json --yes --verbose --quiet --progress --log --help bitlocker-990-pro edrive-2013 veracrypt-ciphers hard-disk"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --html)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__ls)
            if [[ ${cur} != -* && ${prev} =~ ^(open|info|cat|ls|get|put)$ ]] ; then
                _keyway_volumes "${cur}"
                return 0
            fi
            opts="-r -v -q -h --recursive --require-sandbox --password-file --password-fd --keyfile --pim --try-variants --recovery-password --startup-key --tpm --pin-file --pin-fd --format --hash --header --partition --system --system-header --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --keyfile)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --pim)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --recovery-password)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --startup-key)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --tpm)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --pin-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --pin-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "veracrypt truecrypt bitlocker" -- "${cur}"))
                    return 0
                    ;;
                --hash)
                    COMPREPLY=($(compgen -W "sha512 sha256 whirlpool blake2s ripemd160 streebog argon2id sha1" -- "${cur}"))
                    return 0
                    ;;
                --header)
                    COMPREPLY=($(compgen -W "auto primary backup" -- "${cur}"))
                    return 0
                    ;;
                --partition)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --system-header)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__open)
            if [[ ${cur} != -* && ${prev} =~ ^(open|info|cat|ls|get|put)$ ]] ; then
                _keyway_volumes "${cur}"
                return 0
            fi
            opts="-v -q -h --mount-options --attach --read-only --allow-discards --cache --protect-hidden --close-when-idle --foreground --require-sandbox --dry-run --password-file --password-fd --keyfile --pim --try-variants --recovery-password --startup-key --tpm --pin-file --pin-fd --format --hash --header --partition --system --system-header --protect-password-file --protect-password-fd --protect-keyfile --protect-pim --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --mount-options)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --attach)
                    COMPREPLY=($(compgen -W "auto fuse files nbd vhost-user ublk dm-crypt" -- "${cur}"))
                    return 0
                    ;;
                --close-when-idle)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --keyfile)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --pim)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --recovery-password)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --startup-key)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --tpm)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --pin-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --pin-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "veracrypt truecrypt bitlocker" -- "${cur}"))
                    return 0
                    ;;
                --hash)
                    COMPREPLY=($(compgen -W "sha512 sha256 whirlpool blake2s ripemd160 streebog argon2id sha1" -- "${cur}"))
                    return 0
                    ;;
                --header)
                    COMPREPLY=($(compgen -W "auto primary backup" -- "${cur}"))
                    return 0
                    ;;
                --partition)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --system-header)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --protect-password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --protect-password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --protect-keyfile)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --protect-pim)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__pause)
            opts="-v -q -h --journal --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --journal)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__protector)
            opts="-v -q -h --json --yes --verbose --quiet --progress --log --help list add remove change recovery suspend resume"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__protector__subcmd__add)
            opts="-v -q -h --to --dry-run --password-file --password-fd --keyfile --pim --try-variants --recovery-password --startup-key --tpm --pin-file --pin-fd --format --hash --header --partition --system --system-header --new-password-file --new-password-fd --new-keyfile --new-pim --new-tpm --pcrs --new-pin-file --new-pin-fd --json --yes --verbose --quiet --progress --log --help password recovery-password startup-key tpm tpm-pin tpm-startup-key tpm-pin-startup-key"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --to)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --keyfile)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --pim)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --recovery-password)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --startup-key)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --tpm)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --pin-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --pin-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "veracrypt truecrypt bitlocker" -- "${cur}"))
                    return 0
                    ;;
                --hash)
                    COMPREPLY=($(compgen -W "sha512 sha256 whirlpool blake2s ripemd160 streebog argon2id sha1" -- "${cur}"))
                    return 0
                    ;;
                --header)
                    COMPREPLY=($(compgen -W "auto primary backup" -- "${cur}"))
                    return 0
                    ;;
                --partition)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --system-header)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --new-password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --new-password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --new-keyfile)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --new-pim)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --new-tpm)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --pcrs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --new-pin-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --new-pin-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__protector__subcmd__change)
            opts="-v -q -h --dry-run --password-file --password-fd --keyfile --pim --try-variants --recovery-password --startup-key --tpm --pin-file --pin-fd --format --hash --header --partition --system --system-header --new-hash --new-no-keyfiles --new-no-password --id --to --new-password-file --new-password-fd --new-keyfile --new-pim --new-tpm --pcrs --new-pin-file --new-pin-fd --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --keyfile)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --pim)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --recovery-password)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --startup-key)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --tpm)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --pin-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --pin-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "veracrypt truecrypt bitlocker" -- "${cur}"))
                    return 0
                    ;;
                --hash)
                    COMPREPLY=($(compgen -W "sha512 sha256 whirlpool blake2s streebog argon2id" -- "${cur}"))
                    return 0
                    ;;
                --header)
                    COMPREPLY=($(compgen -W "auto primary backup" -- "${cur}"))
                    return 0
                    ;;
                --partition)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --system-header)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --new-hash)
                    COMPREPLY=($(compgen -W "sha512 sha256 whirlpool blake2s streebog argon2id" -- "${cur}"))
                    return 0
                    ;;
                --id)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --to)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --new-password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --new-password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --new-keyfile)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --new-pim)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --new-tpm)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --pcrs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --new-pin-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --new-pin-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__protector__subcmd__list)
            opts="-v -q -h --password-file --password-fd --keyfile --pim --try-variants --recovery-password --startup-key --tpm --pin-file --pin-fd --format --hash --header --partition --system --system-header --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --keyfile)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --pim)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --recovery-password)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --startup-key)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --tpm)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --pin-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --pin-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "veracrypt truecrypt bitlocker" -- "${cur}"))
                    return 0
                    ;;
                --hash)
                    COMPREPLY=($(compgen -W "sha512 sha256 whirlpool blake2s ripemd160 streebog argon2id sha1" -- "${cur}"))
                    return 0
                    ;;
                --header)
                    COMPREPLY=($(compgen -W "auto primary backup" -- "${cur}"))
                    return 0
                    ;;
                --partition)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --system-header)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__protector__subcmd__recovery)
            opts="-v -q -h --id --to --password-file --password-fd --keyfile --pim --try-variants --recovery-password --startup-key --tpm --pin-file --pin-fd --format --hash --header --partition --system --system-header --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --id)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --to)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --keyfile)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --pim)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --recovery-password)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --startup-key)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --tpm)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --pin-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --pin-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "veracrypt truecrypt bitlocker" -- "${cur}"))
                    return 0
                    ;;
                --hash)
                    COMPREPLY=($(compgen -W "sha512 sha256 whirlpool blake2s ripemd160 streebog argon2id sha1" -- "${cur}"))
                    return 0
                    ;;
                --header)
                    COMPREPLY=($(compgen -W "auto primary backup" -- "${cur}"))
                    return 0
                    ;;
                --partition)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --system-header)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__protector__subcmd__remove)
            opts="-v -q -h --dry-run --password-file --password-fd --keyfile --pim --try-variants --recovery-password --startup-key --tpm --pin-file --pin-fd --format --hash --header --partition --system --system-header --last --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --keyfile)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --pim)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --recovery-password)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --startup-key)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --tpm)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --pin-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --pin-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "veracrypt truecrypt bitlocker" -- "${cur}"))
                    return 0
                    ;;
                --hash)
                    COMPREPLY=($(compgen -W "sha512 sha256 whirlpool blake2s ripemd160 streebog argon2id sha1" -- "${cur}"))
                    return 0
                    ;;
                --header)
                    COMPREPLY=($(compgen -W "auto primary backup" -- "${cur}"))
                    return 0
                    ;;
                --partition)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --system-header)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__protector__subcmd__resume)
            opts="-v -q -h --dry-run --password-file --password-fd --keyfile --pim --try-variants --recovery-password --startup-key --tpm --pin-file --pin-fd --format --hash --header --partition --system --system-header --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --keyfile)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --pim)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --recovery-password)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --startup-key)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --tpm)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --pin-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --pin-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "veracrypt truecrypt bitlocker" -- "${cur}"))
                    return 0
                    ;;
                --hash)
                    COMPREPLY=($(compgen -W "sha512 sha256 whirlpool blake2s ripemd160 streebog argon2id sha1" -- "${cur}"))
                    return 0
                    ;;
                --header)
                    COMPREPLY=($(compgen -W "auto primary backup" -- "${cur}"))
                    return 0
                    ;;
                --partition)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --system-header)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__protector__subcmd__suspend)
            opts="-v -q -h --dry-run --password-file --password-fd --keyfile --pim --try-variants --recovery-password --startup-key --tpm --pin-file --pin-fd --format --hash --header --partition --system --system-header --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --keyfile)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --pim)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --recovery-password)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --startup-key)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --tpm)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --pin-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --pin-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "veracrypt truecrypt bitlocker" -- "${cur}"))
                    return 0
                    ;;
                --hash)
                    COMPREPLY=($(compgen -W "sha512 sha256 whirlpool blake2s ripemd160 streebog argon2id sha1" -- "${cur}"))
                    return 0
                    ;;
                --header)
                    COMPREPLY=($(compgen -W "auto primary backup" -- "${cur}"))
                    return 0
                    ;;
                --partition)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --system-header)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__put)
            if [[ ${cur} != -* && ${prev} =~ ^(open|info|cat|ls|get|put)$ ]] ; then
                _keyway_volumes "${cur}"
                return 0
            fi
            opts="-v -q -h --force --skip-existing --skip-unfit --to --protect-hidden --require-sandbox --dry-run --password-file --password-fd --keyfile --pim --try-variants --recovery-password --startup-key --tpm --pin-file --pin-fd --format --hash --header --partition --system --system-header --protect-password-file --protect-password-fd --protect-keyfile --protect-pim --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --to)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --keyfile)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --pim)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --recovery-password)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --startup-key)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --tpm)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --pin-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --pin-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "veracrypt truecrypt bitlocker" -- "${cur}"))
                    return 0
                    ;;
                --hash)
                    COMPREPLY=($(compgen -W "sha512 sha256 whirlpool blake2s ripemd160 streebog argon2id sha1" -- "${cur}"))
                    return 0
                    ;;
                --header)
                    COMPREPLY=($(compgen -W "auto primary backup" -- "${cur}"))
                    return 0
                    ;;
                --partition)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --system-header)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --protect-password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --protect-password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --protect-keyfile)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --protect-pim)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__resize)
            opts="-v -q -h --size --quick --keep-filesystem --dry-run --password-file --password-fd --keyfile --pim --try-variants --recovery-password --startup-key --tpm --pin-file --pin-fd --format --hash --header --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --keyfile)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --pim)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --recovery-password)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --startup-key)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --tpm)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --pin-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --pin-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "veracrypt truecrypt bitlocker" -- "${cur}"))
                    return 0
                    ;;
                --hash)
                    COMPREPLY=($(compgen -W "sha512 sha256 whirlpool blake2s ripemd160 streebog argon2id sha1" -- "${cur}"))
                    return 0
                    ;;
                --header)
                    COMPREPLY=($(compgen -W "auto primary backup" -- "${cur}"))
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__resume)
            opts="-v -q -h --try-variants --full-journal --skip-unreadable --limit --online --mount --require-sandbox --dry-run --password-file --password-fd --keyfile --pim --new-password-file --new-password-fd --new-keyfile --new-pim --recovery-password --startup-key --tpm --pin-file --pin-fd --journal --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --skip-unreadable)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --limit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --mount)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --keyfile)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --pim)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --new-password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --new-password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --new-keyfile)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --new-pim)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --recovery-password)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --startup-key)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --tpm)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --pin-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --pin-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --journal)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__serve)
            opts="-v -q -h --nbd --tls-certificates --vhost-user --nvme-tcp --any-local-user --read-only --allow-discards --background --nvme-secret --require-sandbox --dry-run --password-file --password-fd --keyfile --pim --try-variants --recovery-password --startup-key --tpm --pin-file --pin-fd --format --hash --header --partition --system --system-header --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --nbd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --tls-certificates)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --vhost-user)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --nvme-tcp)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --nvme-secret)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --password-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --keyfile)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --pim)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --recovery-password)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --startup-key)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --tpm)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --pin-file)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --pin-fd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "veracrypt truecrypt bitlocker" -- "${cur}"))
                    return 0
                    ;;
                --hash)
                    COMPREPLY=($(compgen -W "sha512 sha256 whirlpool blake2s ripemd160 streebog argon2id sha1" -- "${cur}"))
                    return 0
                    ;;
                --header)
                    COMPREPLY=($(compgen -W "auto primary backup" -- "${cur}"))
                    return 0
                    ;;
                --partition)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --system-header)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        keyway__subcmd__status)
            if [[ ${cur} != -* && ! ${prev} =~ ^--(log|progress|journal|partition)$ ]] ; then
                _keyway_open "${cur}"
                return 0
            fi
            opts="-v -q -h --partition --exit-code --journal --json --yes --verbose --quiet --progress --log --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --partition)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --journal)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "none line json" -- "${cur}"))
                    return 0
                    ;;
                --log)
                    _keyway_paths "${cur}"
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
    esac
}

if [[ "${BASH_VERSINFO[0]}" -eq 4 && "${BASH_VERSINFO[1]}" -ge 4 || "${BASH_VERSINFO[0]}" -gt 4 ]]; then
    complete -F _keyway -o nosort -o bashdefault -o default keyway
else
    complete -F _keyway -o bashdefault -o default keyway
fi
