# The steps of run.sh cluster: one archive in a file, in a server, in a cluster of three nodes and on an object store.
tar -xf "$DATA"/met/vsdb/vxingest_*.tar.xz -C "$out"
ecm=vsdb_data/anom/00Z/ecm
[ -d seed ] || barograph synth vsdb --preset seed --out seed >last.txt
files=$(small seed/vsdb_data "$ecm")
[ -d days ] || barograph synth vsdb --since 2019-03-01 --until "2019-03-$(small 10 03)" --models gfs --stattypes anom --out days >last.txt
# shellcheck disable=SC2154 # run.sh sets lab and out
engines="--lab-dir $lab --engine duckdb --engine lab:postgres --engine lab:cassandra --design document"
servers() {
	up postgres --profile tuned
	up cassandra --nodes 3 --profile tuned
}

# The same files and the same questions: those that are derived from the files.
same() {
	servers
	# shellcheck disable=SC2086 # options are words
	measure met "$files" --flavour epoch-range --flavour keys --reps "$(small 7 2)" --time-limit "$(small 4m 20s)" $engines --out same
}
step same same

# A series that grows.
growing() {
	barograph lab down --lab-dir "$lab" >/dev/null 2>&1 || true # a server reports the size of all its archives together
	servers
	# shellcheck disable=SC2086 # options are words
	measure growth "$ecm" --days "$(small 1,2,4,8,16 1,2,4)" --predict "$(small 64 8)" --reps "$(small 7 2)" --time-limit "$(small 1m 20s)" $engines \
		--flavour epoch-range --flavour keys --case dieoff_sal1l2_hgt --out growth
}
step growth growing
barograph lab down --lab-dir "$lab" >/dev/null

# Parquet on an object store, read by an embedded engine and by a distributed one.
lake() {
	up trino
	measure scan lake "$files" --engine duckdb --engine "@$lab/trino/url" --partition-by variable --mb 8 --reps "$(small 5 2)" --out lake
	barograph lab down --lab-dir "$lab" >/dev/null
}
step lake lake

# A node is killed during the load and during the questions: the only one, and one of three.
step fault1 measure faults days --engine postgres --nodes 1 --kills 1 --out fault1
step fault3 measure faults days --engine cassandra --nodes 3 --kills 1 --out fault3
