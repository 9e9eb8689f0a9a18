#!/bin/bash
# How often a server of the lab flushes for 1,000 acknowledged writes, counted by strace: for engines that cannot run on
# the disk that forgets (lab up --frail-disks). It shows no power loss, and has no times: strace stops the server at
# every call. See ../ycsb.md.
#
#   flushes.sh DIR ENGINE PROFILE [RECORDS]     such as: flushes.sh /tmp/flushes cassandra tuned 1000
#
# Needs strace, and the right to trace (root).
set -eu
dir=$1 engine=$2 profile=$3 records=${4:-1000}
: "${BAROGRAPH:=barograph}"
mkdir -p "$dir"
"$BAROGRAPH" lab up "$engine" --lab-dir "$dir/lab" --profile "$profile" >"$dir/log" 2>&1
trap '"$BAROGRAPH" lab down "$engine" --lab-dir "$dir/lab" >>"$dir/log" 2>&1' EXIT
url=$("$BAROGRAPH" lab url "$engine" --lab-dir "$dir/lab")
mix=(--engine "$url" -P workloada -p readproportion=0 -p updateproportion=1 -p recordcount="$records")
"$BAROGRAPH" ycsb load "${mix[@]}" >>"$dir/log" 2>&1
traced=()
for pid in $("$BAROGRAPH" lab status --json --lab-dir "$dir/lab" | grep -oE '"pid": *[0-9]+' | grep -oE '[0-9]+$'); do traced+=(-p "$pid"); done
strace -f -e trace=fsync,fdatasync,msync,sync_file_range -o "$dir/calls" "${traced[@]}" 2>>"$dir/log" &
tracer=$!
sleep 2
said=$("$BAROGRAPH" ycsb run "${mix[@]}" -p operationcount="$records" --threads 4 2>>"$dir/log")
kill -INT $tracer
wait $tracer || true
writes=$(grep -oE '\[UPDATE\], Return=OK, [0-9]+|\[UPDATE\], Operations, [0-9]+' <<<"$said" | head -1 | grep -oE '[0-9]+$')
for call in fsync fdatasync msync sync_file_range; do
	# a call that was interrupted by another thread's has two lines
	n=$(grep -cE " $call\(" "$dir/calls" || true)
	awk -v e="$engine ($profile)" -v c=$call -v n="$n" -v w="$writes" 'BEGIN {printf "%s: %s %d for %d acknowledged updates, %.0f by 1,000; power loss not shown\n", e, c, n, w, n/w*1000}'
done
