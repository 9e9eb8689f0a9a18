#!/bin/bash
# Does a range query scale with nodes? Makes the run folders of that part of ../ycsb.md: workload E on one, two and three
# nodes of the lab, with records placed by the hash of their keys (local: each scan asks every part) and in ranges of
# keys (global: each scan asks the parts of its range), at equal total and at equal data per node.
#
#   placement.sh DIR [ENGINE …]     such as: placement.sh runs/placement valkey
#
# RECORDS is the total, and a node's share where shares are equal (there: Valkey's 30000, Cassandra's 6000). A folder
# that is there already is kept.
set -u
dir=$1
shift
: "${BAROGRAPH:=barograph}" "${RECORDS:=30000}" "${SECONDS_OF_RUN:=8}" "${THREADS:=4}"
engines=("$@")
[ $# = 0 ] && engines=(valkey cassandra)
mkdir -p "$dir"

# layout ENGINE PLACEMENT: its name there
layout() { case $1-$2 in valkey-local) echo columns ;; cassandra-local) echo hash ;; *) echo clustered ;; esac }

for engine in "${engines[@]}"; do
	for nodes in 1 2 3; do
		lab=$dir/$engine.lab options=(--profile memory) own='prefix=6' # "user" and two digits are a range
		[ "$engine" = cassandra ] && options=() own='prefix=6&replication=1&conditional=false'
		"$BAROGRAPH" lab up "$engine" --lab-dir "$lab" --nodes "$nodes" "${options[@]}" >"$dir/log" 2>&1 || { tail -3 "$dir/log" >&2; exit 1; }
		url=$("$BAROGRAPH" lab url "$engine" --lab-dir "$lab" | sed 's/replication=[0-9]*&\?//')
		case $url in *\?) url+=$own ;; *\?*) url+="&$own" ;; *) url+="?$own" ;; esac
		sizes=(total)
		[ "$nodes" = 1 ] || sizes=(total share)
		for size in "${sizes[@]}"; do
			n=$RECORDS
			[ "$size" = share ] && n=$((RECORDS * nodes))
			for placement in $(shuf -e local global); do
				out=$dir/$engine$nodes-$placement-$size
				[ -e "$out/run.json" ] && continue
				mix=(--engine "$url" --lab-dir "$lab" --layout "$(layout "$engine" "$placement")" -P workloade -p recordcount="$n" -p table="$placement$size")
				"$BAROGRAPH" ycsb load "${mix[@]}" --threads 8 >>"$dir/log" 2>&1 &&
					"$BAROGRAPH" ycsb run "${mix[@]}" --threads "$THREADS" -p operationcount=0 -p warmup=2 -p maxexecutiontime="$SECONDS_OF_RUN" --out "$out" >>"$dir/log" 2>&1
				echo "$engine, $nodes nodes, $placement, $size: status $?"
			done
		done
		"$BAROGRAPH" lab down "$engine" --lab-dir "$lab" >>"$dir/log" 2>&1
	done
done
