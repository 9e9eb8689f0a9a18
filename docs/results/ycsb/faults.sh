#!/bin/bash
# Makes the run folders of the table "what a killed node cost" (docs/results/ycsb.md), one for each row that is asked for:
#
#   faults.sh DIR [ROW …]     such as: faults.sh runs/faults postgres galera
#
# ALONE is a command before each run that keeps the machine free, if there is one. A folder that is there already is kept. Rows: postgres postgres-off mariadb galera valkey1 valkey1-default valkey3
# cassandra3 asterixdb3 postgres-power mariadb-power valkey1-power valkey3-power cassandra1-power asterixdb1-power (those of power need root and FUSE).
set -u
dir=$1
shift
barograph=${BAROGRAPH:-barograph}
rows=("$@")
[ $# = 0 ] && rows=(postgres postgres-off mariadb galera valkey1 valkey1-default valkey3 cassandra3 asterixdb3
	postgres-power mariadb-power valkey1-power valkey3-power cassandra1-power asterixdb1-power)

# one ROW ENGINE NODES NODE KEYS RATE FAULTS QUERY UP…: loads a fresh lab, and breaks its node
one() {
	local row=$1 engine=$2 nodes=$3 node=$4 keys=$5 rate=$6 seconds=$7 faults=$8 query=$9
	shift 9
	[ -e "$dir/$row/run.json" ] && return
	rm -rf "${dir:?}/$row"
	local lab=$dir/$row.lab props=(-P workloada -p recordcount="$keys" -p batchsize=100)
	"$barograph" lab up "$engine" --lab-dir "$lab" --nodes "$nodes" "$@" >"$dir/$row.log" 2>&1 || { tail -3 "$dir/$row.log" >&2; return; }
	local url
	url=$("$barograph" lab url "$engine" --lab-dir "$lab")
	[ -n "$query" ] && case $url in *\?*) url+="&$query" ;; *) url+="?$query" ;; esac
	"$barograph" ycsb load --engine "$url" --lab-dir "$lab" "${props[@]}" >>"$dir/$row.log" 2>&1 &&
		${ALONE:-} "$barograph" ycsb run --engine "$url" --lab-dir "$lab" "${props[@]}" --threads 16 --target "$rate" -p maxexecutiontime="$seconds" \
			--fault "${faults//NODE/node$node}" --out "$dir/$row" >>"$dir/$row.log" 2>&1
	echo "$row: status $?"
	"$barograph" lab down "$engine" --lab-dir "$lab" >>"$dir/$row.log" 2>&1
}

mkdir -p "$dir"
kill=kill:NODE@10s,restart:NODE@15s slow=kill:NODE@20s,restart:NODE@30s power=power-off:NODE@10s,power-on:NODE@15s
for row in "${rows[@]}"; do
	case $row in
	postgres | mariadb) one "$row" "$row" 1 1 10000 200 40 "$kill" "" --profile tuned ;;
	postgres-off) one "$row" postgres 1 1 10000 200 40 "$kill" synchronous_commit=off --profile tuned ;;
	galera) one "$row" mariadb 3 2 10000 200 50 "$kill" "" --profile tuned ;;
	valkey1) one "$row" valkey 1 1 10000 200 40 "$kill" "" --profile tuned ;;
	valkey1-default) one "$row" valkey 1 1 10000 200 40 "$kill" "" --profile default ;;
	valkey3) one "$row" valkey 3 2 10000 200 40 "$kill" "" --profile tuned ;;
	cassandra3) one "$row" cassandra 3 2 2000 50 150 "$slow" "" --profile tuned ;;
	asterixdb3) one "$row" asterixdb 3 2 500 10 80 "$slow" "" --profile tuned ;;
	postgres-power | mariadb-power) one "$row" "${row%-power}" 1 1 2000 100 40 "$power" "" --profile tuned --frail-disks ;;
	valkey1-power) one "$row" valkey 1 1 2000 100 40 "$power" "" --profile tuned --frail-disks ;;
	valkey3-power) one "$row" valkey 3 2 2000 100 40 "$power" "" --profile tuned --frail-disks ;;
	cassandra1-power) one "$row" cassandra 1 1 2000 50 80 "${power/15s/20s}" "" --profile tuned --frail-disks ;;
	asterixdb1-power) one "$row" asterixdb 1 1 500 10 60 "$power" "" --profile tuned --frail-disks ;;
	*) echo "no row $row" >&2 ;;
	esac
done
