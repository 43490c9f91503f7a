#!/bin/sh
# The commands of two installations, built for different processors, say the same of a profile, and the first one's Python module reads it.
# Usage: same_reports.sh PREFIX OTHER_PREFIX SOURCE_FOLDER
set -e
folder=$(mktemp -d)
cd "$folder"
mpicc.openmpi -O2 "$3/tests/portability/exchange.c" -o exchange
code=0
timeout 300 mpirun.openmpi --allow-run-as-root --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 --mca btl_vader_single_copy_mechanism none \
    -n 2 env LD_PRELOAD="$1/lib/libprofile.so" LIBPROFILE_OUTPUT=profile ./exchange >output 2>&1 </dev/null || code=$?
[ $code -eq 3 ] || { cat output >&2; exit 1; } # its own exit code
for report in "report profile" "report profile --format json --series" "diagnose profile"; do
    timeout 300 "$1/bin/libprofile" $report >first
    timeout 300 "$2/bin/libprofile" $report >second
    cmp first second || { echo "libprofile $report differs" >&2; exit 1; }
done
PYTHONPATH=$1/lib/python3 timeout 300 python3 -c 'import libprofile; print(libprofile.open("profile"))'
rm -r "$folder"
