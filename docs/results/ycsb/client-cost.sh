#!/bin/bash
# What the client itself costs beside pgbench (reads of one record of ten columns by its key, prepared),
# redis-benchmark (HGETALL of such records, all present; it has one thread, so barograph is also run on one, GOMAXPROCS=1)
# and go-ycsb (C, A and E on PostgreSQL, C on Valkey's hashes): all in turn, in random order, against one server of the lab each.
# Prints the client's CPU (user and system of the whole process, with its start) and operations/s of every round,
# and the medians of the rounds' ratios. See ../ycsb.md.
#
#   BAROGRAPH=./barograph GO_YCSB=…/go-ycsb ROUNDS=5 docs/results/ycsb/client-cost.sh [LABS]
#
# Needs the packages postgresql, redis-server and redis-tools, and go-ycsb, built by whoever runs this (github.com/pingcap/go-ycsb):
# without it that part is left out, and said.
set -eu
# shellcheck source=/dev/null
. "$(dirname "$0")/median.sh"
: "${BAROGRAPH:=barograph}" "${RECORDS:=50000}" "${THREADS:=16}" "${ROUNDS:=5}" "${OPERATIONS:=100000}" "${PGBENCH:=pgbench}" "${PSQL:=psql}" "${GO_YCSB:=go-ycsb}"
work=$(mktemp -d)
labs=${1:-$work/labs}
trap '"$BAROGRAPH" lab down postgres --lab-dir "$labs" >/dev/null 2>&1; "$BAROGRAPH" lab down valkey --lab-dir "$labs" >/dev/null 2>&1; rm -rf "$work"' EXIT
for e in postgres valkey; do "$BAROGRAPH" lab up "$e" --lab-dir "$labs" >/dev/null; done
pg=$("$BAROGRAPH" lab url postgres --lab-dir "$labs") vk=$("$BAROGRAPH" lab url valkey --lab-dir "$labs")
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
	rate=$(tr '\r' '\n' <"$work/out" | grep -oE 'Throughput\(ops/sec\), [0-9.]+|^tps = [0-9.]+|[0-9.]+ requests per second|throughput summary: [0-9.]+|^TOTAL.*OPS: [0-9.]+' | tail -1 | grep -oE '[0-9]+(\.[0-9]+)?' | tail -1)
	awk -v who="$who" -v n="$OPERATIONS" -v rate="$rate" '{printf "%s %.2f %.0f\n", who, ($1+$2)/n*1e6, rate}' "$work/time" | tee -a "$work/all"
}
export PGPASSWORD REDISCLI_AUTH
PGPASSWORD=$(part "$pg" 2) REDISCLI_AUTH=$(part "$vk" 2)
redis=(-h "$(part "$vk" 3)" -p "$(part "$vk" 4)")
key=$(redis-cli "${redis[@]}" --no-auth-warning --scan --pattern '*user000000000001') # as it is stored
[ -n "$key" ] || { echo 'no record of the load is found in Valkey' >&2; exit 1; }
all=(ours-postgres pgbench ours-valkey ours-valkey-one redis-benchmark)
gopg=(pg -p workload=core -p pg.host="$(part "$pg" 3)" -p pg.port="$(part "$pg" 4)" -p pg.user="$(part "$pg" 1)" -p pg.password="$PGPASSWORD" -p pg.db=goycsb -p pg.sslmode=disable)
govk=(redis -p workload=core -p redis.addr="$(part "$vk" 3):$(part "$vk" 4)" -p redis.password="$REDISCLI_AUTH" -p redis.db=1 -p redis.datatype=hash)
if command -v "$GO_YCSB" >/dev/null; then
	all+=({ours,go-ycsb}-{c,a,e} go-ycsb-valkey)
	"$PSQL" -qAt "$pg" -c 'CREATE DATABASE goycsb'
	for to in gopg govk; do declare -n its=$to; "$GO_YCSB" load "${its[@]}" -p recordcount="$RECORDS" -p threadcount=10 -p batch.size=500 >/dev/null; done
	"$PSQL" -qAt "${pg%/postgres*}/goycsb" -c 'VACUUM ANALYZE usertable'
else
	echo "go-ycsb is not found: set GO_YCSB to its path; it is not compared" >&2
fi
# mixed LETTER: the properties of a mix; those of E insert, so that each of its runs has fewer operations
mixed() {
	case $1 in c) echo "-p readproportion=1 -p updateproportion=0" ;; a) echo "-p readproportion=0.5 -p updateproportion=0.5" ;;
	e) echo "-p readproportion=0 -p updateproportion=0 -p scanproportion=0.95 -p insertproportion=0.05 -p maxscanlength=100" ;; esac
}
rows() { "$PSQL" -qAt "$1" -c 'SELECT count(*) FROM usertable'; }
echo "load average at the start: $(cut -d' ' -f1-3 /proc/loadavg)"
OPERATIONS_ALL=$OPERATIONS
for ((round = 1; round <= ROUNDS; round++)); do
	for who in $(shuf -e "${all[@]}"); do
		OPERATIONS=$OPERATIONS_ALL
		case $who in *-a) OPERATIONS=$((OPERATIONS_ALL / 5)) ;; *-e) OPERATIONS=$((OPERATIONS_ALL / 20)) ;; esac
		# shellcheck disable=SC2046 # the mix is words
		case $who in
		ours-postgres) timed "$who" "$BAROGRAPH" ycsb run --engine "$pg" "${mix[@]}" -p operationcount="$OPERATIONS" --threads "$THREADS" ;;
		ours-valkey) timed "$who" "$BAROGRAPH" ycsb run --engine "$vk" "${mix[@]}" -p operationcount="$OPERATIONS" --threads "$THREADS" ;;
		ours-valkey-one) timed "$who" env GOMAXPROCS=1 "$BAROGRAPH" ycsb run --engine "$vk" "${mix[@]}" -p operationcount="$OPERATIONS" --threads "$THREADS" ;;
		ours-?) timed "$who" "$BAROGRAPH" ycsb run --engine "$pg" "${mix[@]}" $(mixed "${who#ours-}") -p recordcount="$(rows "$pg")" -p operationcount="$OPERATIONS" --threads "$THREADS" ;;
		go-ycsb-?) timed "$who" "$GO_YCSB" run "${gopg[@]}" $(mixed "${who#go-ycsb-}") -p requestdistribution=uniform -p recordcount="$(rows "${pg%/postgres*}/goycsb")" -p operationcount="$OPERATIONS" -p threadcount="$THREADS" ;;
		go-ycsb-valkey) timed "$who" "$GO_YCSB" run "${govk[@]}" $(mixed c) -p requestdistribution=uniform -p recordcount="$RECORDS" -p operationcount="$OPERATIONS" -p threadcount="$THREADS" ;;
		pgbench) timed "$who" "$PGBENCH" -n -h "$(part "$pg" 3)" -p "$(part "$pg" 4)" -U "$(part "$pg" 1)" -M prepared -f "$work/read.sql" \
			-c "$THREADS" -j 2 -t $((OPERATIONS / THREADS)) postgres ;;
		redis-benchmark) timed "$who" redis-benchmark "${redis[@]}" -a "$REDISCLI_AUTH" -c "$THREADS" -n "$OPERATIONS" -r "$RECORDS" HGETALL "${key%000000000001}__rand_int__" ;;
		esac
	done
done
echo "load average at the end: $(cut -d' ' -f1-3 /proc/loadavg)"
echo "CPU by operation, barograph to pgbench:         $(median 2 ours-postgres pgbench)"
echo "operations/s,     barograph to pgbench:         $(median 3 ours-postgres pgbench)"
echo "CPU by operation, barograph to redis-benchmark: $(median 2 ours-valkey redis-benchmark)"
echo "   the same, both on one thread:                $(median 2 ours-valkey-one redis-benchmark)"
echo "operations/s,     barograph to redis-benchmark: $(median 3 ours-valkey redis-benchmark)"
if [ ${#all[@]} -gt 5 ]; then
	for x in c a e; do echo "CPU by operation, barograph to go-ycsb, $x:     $(median 2 ours-$x go-ycsb-$x)"; done
	echo "   the same on Valkey, c:                       $(median 2 ours-valkey go-ycsb-valkey)"
fi
