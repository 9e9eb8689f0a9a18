# The steps of run.sh disks-2019: both experiments of the article on throttled disks, and on plain folders of one disk.
tables=$out/tpcds
documents=$out/documents
star=$lab/star

data() {
	rm -rf "$tables" "$documents"
	barograph synth tpcds --sf "$(small 1 0.5)" --out "$tables"
	barograph synth tpcds --sf "$(small 0.5 0.1)" --documents --out "$documents"
}

# disks COUNT MB/S makes throttled disks; the old ones are removed.
disks() {
	barograph lab down --lab-dir "$lab" >/dev/null 2>&1 || true
	mkdir -p "$lab"
	barograph lab disks --lab-dir "$lab" --count "$1" --size "$(small 4096 1024)" --profile custom --read-mbps "$2" --write-mbps 200 >"$out/disks.txt"
}

# scanned EXPERIMENT OUT DATA OPTION…
scanned() {
	experiment=$1 to=$2 data=$3
	shift 3
	rm -rf "${out:?}/$to"
	measure scan "$experiment" --lab-dir "$lab" --data "$data" "$@" --out "$out/$to"
}

six_duckdb() { # a thread that waits for a disk reads from no other: twice as many workers as disks
	disks 6 2
	scanned experiment2 duckdb2 "$tables" --engine "duckdb:$star.db" --disks --queries scan --workers 12 --reps 0 --cold "$(small 10 6)"
}

six_postgres() {
	disks 6 "$(small 20 30)"
	scanned experiment2 postgres2 "$tables" --lab postgres --profile default --setting shared_buffers=64MB --disks --queries scan --cold-restart=false --reps 0 --cold "$(small 10 6)"
}

six_asterixdb() {
	disks 6 10
	scanned experiment2 asterixdb2 "$documents" --lab asterixdb --profile tuned --setting storage.buffercache.size=16MB --cold-restart=false --disks --queries scan --reps 0 --cold "$(small 6 3)"
}

six_trino() {
	disks 6 1
	scanned experiment2 trino2 "$tables" --lab trino --profile tuned --disks --queries scan --workers 12 --reps 0 --cold "$(small 6 3)"
}

six_clickhouse() {
	disks 6 2
	scanned experiment2 clickhouse2 "$tables" --engine "clickhouse:$star.ch" --disks --queries scan --workers 12 --reps 0 --cold "$(small 10 6)"
}

# Without a limit: six folders of one disk.
plain() {
	mkdir -p "$lab/plain/1" "$lab/plain/2" "$lab/plain/3" "$lab/plain/4" "$lab/plain/5" "$lab/plain/6"
	scanned experiment2 plain2 "$tables" --engine "duckdb:$star-plain.db" --paths "$lab/plain/1,$lab/plain/2,$lab/plain/3,$lab/plain/4,$lab/plain/5,$lab/plain/6" \
		--queries scan --workers 12 --reps 0 --cold "$(small 10 6)"
}

# Experiment 1: two and eight partitions on one fast disk.
one_disk() {
	disks 1 540
	scanned experiment1 duckdb1 "$tables" --engine "duckdb:$star.db" --disks=1 --partitions 2,8 --queries q3,scan --reps 10 --cold "$(small 10 6)"
	scanned experiment1 postgres1 "$tables" --lab postgres --profile default --disks=1 --partitions 2,8 --queries q3,scan --reps 10 --cold-restart=false --cold "$(small 10 6)"
}

one_disk_clickhouse_trino() {
	disks 1 540
	scanned experiment1 clickhouse1 "$tables" --engine "clickhouse:$star.ch" --disks=1 --partitions 2,8 --queries q3,scan --reps 10 --cold "$(small 10 6)"
	scanned experiment1 trino1 "$tables" --lab trino --profile tuned --disks=1 --partitions 2,8 --queries q3,scan --reps 10 --cold "$(small 6 3)"
}

one_disk_asterixdb() {
	disks 1 540
	scanned experiment1 asterixdb1 "$documents" --lab asterixdb --profile tuned --disks=1 --partitions 2,8 --queries q3,scan --reps "$(small 10 6)" --cold-restart=false --cold "$(small 6 3)"
}

step data data
step six-duckdb six_duckdb
step six-postgres six_postgres
step one-disk one_disk
step one-disk-clickhouse-trino one_disk_clickhouse_trino
step plain plain
step six-clickhouse six_clickhouse
step six-trino six_trino
step six-asterixdb six_asterixdb
step one-disk-asterixdb one_disk_asterixdb
