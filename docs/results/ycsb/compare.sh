#!/bin/bash
# Runs barograph, go-ycsb, YCSB and pgbench in turn, in random order, against
# one PostgreSQL: CPU of the client and throughput on C, A and E. See ../ycsb.md.
#
#   BAROGRAPH=./barograph GO_YCSB=…/go-ycsb YCSB_CP=core.jar:jdbc.jar:postgresql.jar \
#   URL=postgres://postgres@127.0.0.1:5432 docs/results/ycsb/compare.sh
#
# Four databases are made and dropped: cmp_ours, cmp_go, cmp_ycsb, cmp_pgbench.
set -eu
: "${BAROGRAPH:=barograph}" "${GO_YCSB:=go-ycsb}" "${YCSB_CP:?class path of YCSB}" "${URL:?URL of a server, without a database}"
: "${RECORDS:=50000}" "${THREADS:=16}" "${ROUNDS:=3}" "${PGBENCH:=pgbench}" "${PSQL:=psql}"
user=$(sed 's|.*//\([^@]*\)@.*|\1|' <<<"$URL") host=$(sed 's|.*@\([^:]*\):.*|\1|' <<<"$URL") port=$(sed 's|.*:||' <<<"$URL")
sql() { "$PSQL" -qAt -v ON_ERROR_STOP=1 "$URL/$1" -c "$2"; }
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
for d in ours go ycsb pgbench; do sql postgres "DROP DATABASE IF EXISTS cmp_$d"; sql postgres "CREATE DATABASE cmp_$d"; done

# The keys of go-ycsb are its own; YCSB reads what barograph loaded.
for d in ours ycsb; do "$BAROGRAPH" ycsb load --engine "$URL/cmp_$d" -P workloada -p recordcount="$RECORDS" -p batchsize=500 >/dev/null; done
go=(-p pg.host="$host" -p pg.port="$port" -p pg.user="$user" -p pg.db=cmp_go -p pg.sslmode=disable)
mix() { case $1 in a) echo "-p readproportion=0.5 -p updateproportion=0.5" ;; c) echo "-p readproportion=1 -p updateproportion=0" ;;
  e) echo "-p readproportion=0 -p updateproportion=0 -p scanproportion=0.95 -p insertproportion=0.05 -p maxscanlength=100" ;; esac; }
common="-p requestdistribution=zipfian"
"$GO_YCSB" load pg -p workload=core -p recordcount="$RECORDS" -p threadcount=10 -p batch.size=500 "${go[@]}" >/dev/null # with 16 threads it loads another number of records
sql cmp_pgbench "CREATE TABLE t (ycsb_key varchar(255) COLLATE \"C\" PRIMARY KEY, $(seq -s, 0 9 | sed 's/\([0-9]\)/field\1 text/g'))"
sql cmp_pgbench "INSERT INTO t SELECT 'user'||n, $(yes "repeat('x',100)" | head -10 | paste -sd,) FROM generate_series(1,$RECORDS) n"
printf '\\set k random_zipfian(1, %s, 1.01)\nSELECT %s FROM t WHERE ycsb_key = %s || :k::text;\n' "$RECORDS" "$(seq -s, 0 9 | sed 's/\([0-9]\)/field\1/g')" "'user'" >"$work/read.sql"
for d in ours go ycsb pgbench; do sql cmp_$d "VACUUM ANALYZE"; done
sql postgres CHECKPOINT

# timed NAME COMMAND…: CPU seconds of the client and what it says of its rate.
timed() {
  local name=$1; shift
  local TIMEFORMAT='%U %S %R'
  { time "$@" >"$work/out" 2>"$work/err"; } 2>"$work/time" || echo "$name FAILED"
  awk -v name="$name" '{printf "%-12s cpu %.3f s  wall %.2f s  ", name, $1+$2, $3}' "$work/time"
  grep -hoE 'Throughput\(ops/sec\), [0-9.]+|^tps = [0-9.]+|^TOTAL.*OPS: [0-9.]+' "$work/out" | tail -1 || echo
}
rows() { sql "$1" "SELECT count(*) FROM usertable"; }
for ((round = 1; round <= ROUNDS; round++)); do
  for step in c:100000 a:20000 e:5000; do
    w=${step%%:*} n=${step##*:} mixed="$(mix "$w") $common"
    for who in $(shuf -e ours go ycsb pgbench); do
      case $who in # shellcheck disable=SC2086 # the mix is words
      ours) timed "ours-$w" "$BAROGRAPH" ycsb run --engine "$URL/cmp_ours" $mixed -p recordcount="$(rows cmp_ours)" -p operationcount="$n" --threads "$THREADS" ;;
      go) timed "go-ycsb-$w" "$GO_YCSB" run pg -p workload=core $mixed -p recordcount="$(rows cmp_go)" -p operationcount="$n" -p threadcount="$THREADS" "${go[@]}" ;;
      ycsb) timed "ycsb-$w" java -cp "$YCSB_CP" site.ycsb.Client -db site.ycsb.db.JdbcDBClient -p db.driver=org.postgresql.Driver -p db.user="$user" -p db.passwd=x -p db.url="jdbc:postgresql://$host:$port/cmp_ycsb" -t -p workload=site.ycsb.workloads.CoreWorkload $mixed -p recordcount="$(rows cmp_ycsb)" -p operationcount="$n" -p readallfieldsbyname=true -threads "$THREADS" ;;
      pgbench) if [ "$w" = c ]; then timed pgbench-c "$PGBENCH" -n -h "$host" -p "$port" -U "$user" -M prepared -f "$work/read.sql" -c "$THREADS" -j 2 -t $((n / THREADS)) cmp_pgbench; fi ;;
      esac
    done
  done
done
for d in ours go ycsb pgbench; do sql postgres "DROP DATABASE cmp_$d"; done
