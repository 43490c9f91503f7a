# Shared by scripts/demo and scripts/test; to be sourced, with `set -euo pipefail`, from the root of the repository.
# shellcheck shell=bash

say() { printf '\n==> %s\n' "$*"; }

# need_packages GROUP...: makes sure that the Debian packages of the groups (scripts/packages) are installed. Calls apt
# only when one is missing. Without the right to install, prints the command for someone who has it, and ends.
need_packages() {
    if ! command -v dpkg-query >/dev/null; then
        echo "Not a Debian machine: going on with what is installed (scripts/packages lists what is needed)." >&2
        return
    fi
    local groups=" $* " group package installed missing=()
    installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' | sed -n 's/^installed //p')
    while read -r group package _; do
        [[ $groups == *" $group "* ]] || continue
        local one found=
        for one in ${package//|/ }; do # any of them will do; the first is installed
            ! grep -qxF -- "$one" <<<"$installed" || found=$one
        done
        [[ -n $found ]] || missing+=("${package%%|*}")
    done < <(grep -v '^#' scripts/packages)
    [[ ${#missing[@]} -gt 0 ]] || return 0

    local as_root=()
    if [[ $(id -u) -ne 0 ]]; then
        if ! command -v sudo >/dev/null || ! sudo -n true 2>/dev/null; then
            echo "Debian packages are missing. Please have them installed, then start this script again:" >&2
            echo "apt-get install --no-install-recommends ${missing[*]}" >&2
            exit 1
        fi
        as_root=(sudo -n)
    fi
    say "Installing Debian packages: ${missing[*]}"
    "${as_root[@]}" apt-get update -q </dev/null
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -q -y --no-install-recommends "${missing[@]}" </dev/null
}

# build_and_install TARGET...: builds the targets in build/release and installs into build/install.
build_and_install() {
    say "Building in build/release"
    mkdir -p build
    cmake --preset release >build/configure.log || { cat build/configure.log >&2; exit 1; }
    cmake --build --preset release --parallel "$(nproc)" --target "$@"
    cmake --install build/release >build/install.log || { cat build/install.log >&2; exit 1; }
}

# pack FOLDER GENERATOR: a package of what was built in that folder.
pack() {
    (cd "$1" && cpack -G "$2" >pack.log) || { cat "$1/pack.log" >&2; exit 1; }
}

# mpirun_openmpi ARGS...: Open MPI's launcher made fit for any machine: as root (containers), with more ranks than
# cores (waiting ranks then yield), and where one process may not read another's memory (containers again).
mpirun_openmpi() {
    local options=(--oversubscribe --mca mpi_yield_when_idle 1 --mca btl_vader_single_copy_mechanism none)
    [[ $(id -u) -ne 0 ]] || options+=(--allow-run-as-root)
    mpirun.openmpi "${options[@]}" "$@" </dev/null
}
