#!/bin/bash
# What the checks of values and writes cost: barograph and a build without them run in turn, in random order, A and C on
# PostgreSQL and Valkey, servers of the lab. With C both read the same table; with A each changes its own. Prints
# operations/s and the client's CPU of every round, and the medians of the rounds' ratios with distribution-free 95 %
# intervals. See ../ycsb.md.
#
#   git apply docs/results/ycsb/unchecked.patch && go build -o unchecked ./cmd/barograph && git checkout study
#   BAROGRAPH=./barograph UNCHECKED=./unchecked ROUNDS=12 docs/results/ycsb/check-cost.sh [LABS]
#
# With TMPDIR=/dev/shm commits do not wait for a disk, which would hide a cost of the client.
set -eu
# shellcheck source=/dev/null
. "$(dirname "$0")/median.sh"
: "${BAROGRAPH:=barograph}" "${UNCHECKED:?a build without checks}" "${RECORDS:=50000}" "${THREADS:=16}" "${ROUNDS:=12}" "${OPERATIONS:=100000}"
work=$(mktemp -d)
labs=${1:-$work/labs}
trap '"$BAROGRAPH" lab down postgres --lab-dir "$labs" >/dev/null 2>&1; "$BAROGRAPH" lab down valkey --lab-dir "$labs" >/dev/null 2>&1; rm -rf "$work"' EXIT
for e in postgres valkey; do "$BAROGRAPH" lab up "$e" --lab-dir "$labs" >/dev/null; done
pg=$("$BAROGRAPH" lab url postgres --lab-dir "$labs") vk=$("$BAROGRAPH" lab url valkey --lab-dir "$labs")
for url in "$pg" "$vk"; do
	for table in checked unchecked usertable; do "$BAROGRAPH" ycsb load --engine "$url" -P workloada -p table="$table" -p recordcount="$RECORDS" -p batchsize=500 --threads 4 >/dev/null; done
done
psql -qAt "$pg" -c 'VACUUM ANALYZE' -c CHECKPOINT

echo "load average at the start: $(cut -d' ' -f1-3 /proc/loadavg)"
for ((round = 1; round <= ROUNDS; round++)); do
	for what in $(shuf -e {checked,unchecked}-{postgres,valkey}-{a,c}); do
		IFS=- read -r table engine mix <<<"$what"
		program=$BAROGRAPH url=$pg n=$OPERATIONS TIMEFORMAT='%U %S'
		[ "$table" = checked ] || program=$UNCHECKED
		[ "$mix" != c ] || table=usertable
		[ "$engine" = postgres ] || url=$vk
		[ "$engine-$mix" != postgres-a ] || n=$((OPERATIONS / 2))
		{ time "$program" ycsb run --engine "$url" -P "workload$mix" -p table="$table" -p recordcount="$RECORDS" -p operationcount="$n" --threads "$THREADS" >"$work/out" 2>"$work/err"; } 2>"$work/time" ||
			{ echo "$what failed:" >&2; tail -3 "$work/err" >&2; exit 1; }
		rate=$(grep -oE 'Throughput\(ops/sec\), [0-9.]+' "$work/out" | grep -oE '[0-9.]+$')
		awk -v what="$what" -v n="$n" -v rate="$rate" '{printf "%s %.2f %.0f\n", what, ($1+$2)/n*1e6, rate}' "$work/time" | tee -a "$work/all"
	done
done
echo "load average at the end: $(cut -d' ' -f1-3 /proc/loadavg)"
for x in {postgres,valkey}-{a,c}; do
	echo "$x, with checks to without: operations/s $(median 3 "checked-$x" "unchecked-$x"), CPU by operation $(median 2 "checked-$x" "unchecked-$x")"
done
