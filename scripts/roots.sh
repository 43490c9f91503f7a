# Folders with other distributions, or for other processors; to be sourced, as root, after common.sh.
# shellcheck shell=bash

roots=${XDG_CACHE_HOME:-$HOME/.cache}/libprofile
readonly roots
readonly mirror=http://deb.debian.org/debian

# make_root NAME SUITE ARCHITECTURE PACKAGES: makes the folder $roots/NAME, unless it has just these packages (a list with commas).
make_root() {
    local name=$1 suite=$2 architecture=$3 wanted=$4 root=$roots/$1
    mkdir -p "$roots"
    [[ ! -e $root/packages || $(cat "$root/packages") != "$wanted" ]] || return 0
    say "Making $root"
    rm -rf --one-file-system "$root" "$root.part"
    # Packages are signed all the same; a mirror may stand still for weeks.
    mmdebstrap --aptopt='Acquire::Check-Valid-Until "false"' --variant=minbase --arch="$architecture" --include="$wanted" \
        "$suite" "$root.part" "$mirror" 2>"$roots/$name.log" ||
        { cat "$roots/$name.log" >&2; exit 1; }
    echo "$wanted" >"$root.part/packages"
    mv "$root.part" "$root"
}

# in_root ROOT COMMAND...: with processes and mounts of its own, so that nothing is left of either. /source is $SOURCE.
in_root() {
    unshare --mount --pid --fork --kill-child bash -c '
        root=$1; shift
        mkdir -p "$root/source" "$root/opt/libprofile"
        mount --bind "$root" "$root" # programs in it can then make namespaces with mounts of their own
        mount -t proc proc "$root/proc"
        mount --rbind /sys "$root/sys"
        mount --rbind /dev "$root/dev"
        mount -t tmpfs tmpfs "$root/tmp"
        mount --bind -o ro "$SOURCE" "$root/source"
        printf "127.0.0.1 localhost %s\n" "$(hostname)" >"$root/etc/hosts"
        exec chroot "$root" "$@"' in_root "$@"
}
