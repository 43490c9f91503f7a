#!/bin/sh
# The commands of two installations, built for different processors, say the same of a profile, and the first one's Python module reads it.
# Usage: same_reports.sh PREFIX OTHER_PREFIX SOURCE_FOLDER
set -e
folder=$(mktemp -d)
cd "$folder"
mpicc.openmpi -O2 "$3/tests/portability/exchange.c" -o exchange
code=0
mpirun.openmpi --allow-run-as-root --oversubscribe -n 2 env LD_PRELOAD="$1/lib/libprofile.so" LIBPROFILE_OUTPUT=profile ./exchange >output 2>&1 || code=$?
[ $code -eq 3 ] || { cat output >&2; exit 1; }
same() {
    "$1/bin/libprofile" $3 >first
    "$2/bin/libprofile" $3 >second
    cmp first second
}
same "$1" "$2" "report profile"
same "$1" "$2" "report profile --format json --series"
same "$1" "$2" "diagnose profile"
PYTHONPATH=$1/lib/python3 python3 -c 'import libprofile; print(libprofile.open("profile"))'
rm -r "$folder"
