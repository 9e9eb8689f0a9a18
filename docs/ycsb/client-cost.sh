#!/bin/bash
# What the client itself costs beside pgbench (reads of one record of ten columns by its key, prepared) and
# redis-benchmark (HGETALL of such records, all present): both in turn, in random order, against one server of the lab.
# Prints the client's CPU (user and system of the whole process, with its start) and operations/s of every round,
# and the medians of the rounds' ratios. See ../ycsb.md.
#
#   BAROGRAPH=./barograph ROUNDS=5 docs/ycsb/client-cost.sh [LABS]
#
# Needs the packages postgresql, redis-server and redis-tools.
set -eu
: "${BAROGRAPH:=barograph}" "${RECORDS:=50000}" "${THREADS:=16}" "${ROUNDS:=5}" "${OPERATIONS:=100000}" "${PGBENCH:=pgbench}" "${PSQL:=psql}"
work=$(mktemp -d)
labs=${1:-$work/labs}
trap '"$BAROGRAPH" lab down postgres --dir "$labs" >/dev/null 2>&1; "$BAROGRAPH" lab down valkey --dir "$labs" >/dev/null 2>&1; rm -rf "$work"' EXIT
for e in postgres valkey; do "$BAROGRAPH" lab up "$e" --dir "$labs" >/dev/null; done
pg=$("$BAROGRAPH" lab url postgres --dir "$labs") vk=$("$BAROGRAPH" lab url valkey --dir "$labs")
# keys of twelve digits, which redis-benchmark can draw
mix=(-P workloadc -p recordcount="$RECORDS" -p insertorder=ordered -p zeropadding=12 -p requestdistribution=uniform)
for url in "$pg" "$vk"; do "$BAROGRAPH" ycsb load --engine "$url" "${mix[@]}" -p batchsize=500 --threads 4 >/dev/null; done
fields=$(seq -s, 0 9 | sed 's/\([0-9]\)/field\1/g')
printf '\\set k random(0, %s)\nSELECT %s FROM usertable WHERE ycsb_key = %s || lpad(:k::text, 12, %s);\n' $((RECORDS - 1)) "$fields" "'user'" "'0'" >"$work/read.sql"
"$PSQL" -qAt "$pg" -c 'VACUUM ANALYZE usertable' -c CHECKPOINT

# part URL N: 1 user, 2 password, 3 host, 4 port of scheme://user:password@host:port/…
part() { sed -E 's|^[a-z]+://([^:@]*):?([^@]*)@([^:/]*):([0-9]+).*|\'"$2"'|' <<<"$1"; }
# timed WHO COMMAND…: adds "WHO µs-of-CPU-by-operation operations/s" to the list
timed() {
	local who=$1 TIMEFORMAT='%U %S'
	shift
	{ time "$@" >"$work/out" 2>"$work/err"; } 2>"$work/time" || { echo "$who failed:" >&2; tail -3 "$work/err" >&2; exit 1; }
	local rate
	rate=$(tr '\r' '\n' <"$work/out" | grep -oE 'Throughput\(ops/sec\), [0-9.]+|^tps = [0-9.]+|[0-9.]+ requests per second|throughput summary: [0-9.]+' | tail -1 | grep -oE '[0-9]+(\.[0-9]+)?' | head -1)
	awk -v who="$who" -v n="$OPERATIONS" -v rate="$rate" '{printf "%s %.2f %.0f\n", who, ($1+$2)/n*1e6, rate}' "$work/time" | tee -a "$work/all"
}
export PGPASSWORD REDISCLI_AUTH
PGPASSWORD=$(part "$pg" 2) REDISCLI_AUTH=$(part "$vk" 2)
redis=(-h "$(part "$vk" 3)" -p "$(part "$vk" 4)")
key=$(redis-cli "${redis[@]}" --no-auth-warning --scan --pattern '*user000000000001') # as it is stored
[ -n "$key" ] || { echo 'no record of the load is found in Valkey' >&2; exit 1; }
for ((round = 1; round <= ROUNDS; round++)); do
	for who in $(shuf -e ours-postgres pgbench ours-valkey redis-benchmark); do
		case $who in
		ours-*) url=$pg; [ "$who" = ours-valkey ] && url=$vk
			timed "$who" "$BAROGRAPH" ycsb run --engine "$url" "${mix[@]}" -p operationcount="$OPERATIONS" --threads "$THREADS" ;;
		pgbench) timed "$who" "$PGBENCH" -n -h "$(part "$pg" 3)" -p "$(part "$pg" 4)" -U "$(part "$pg" 1)" -M prepared -f "$work/read.sql" \
			-c "$THREADS" -j 2 -t $((OPERATIONS / THREADS)) postgres ;;
		redis-benchmark) timed "$who" redis-benchmark "${redis[@]}" -a "$REDISCLI_AUTH" -c "$THREADS" -n "$OPERATIONS" -r "$RECORDS" HGETALL "${key%000000000001}__rand_int__" ;;
		esac
	done
done
# median COLUMN A B: of the rounds' ratios A to B
median() { paste <(grep "^$2 " "$work/all" | cut -d' ' -f"$1") <(grep "^$3 " "$work/all" | cut -d' ' -f"$1") | awk '{print $1/$2}' | sort -n | awk '{a[NR]=$1} END {printf "%.2f (%.2f to %.2f)", NR%2 ? a[(NR+1)/2] : (a[NR/2]+a[NR/2+1])/2, a[1], a[NR]}'; }
echo "CPU by operation, barograph to pgbench:         $(median 2 ours-postgres pgbench)"
echo "operations/s,     barograph to pgbench:         $(median 3 ours-postgres pgbench)"
echo "CPU by operation, barograph to redis-benchmark: $(median 2 ours-valkey redis-benchmark)"
echo "operations/s,     barograph to redis-benchmark: $(median 3 ours-valkey redis-benchmark)"
