# The steps of run.sh met-2020. The reserved names of the folders are those that met-2020.md.tmpl reads.
tar -xf "$DATA"/met/vsdb/vxingest_*.tar.xz -C "$out"
day=vsdb_data
ecm=$day/anom/00Z/ecm
[ -d seed ] || barograph synth vsdb --preset seed --out seed >last.txt
last=$(small 30 05)
[ -d month ] || barograph synth vsdb --since 2019-03-01 --until "2019-03-$last" --models gfs --stattypes anom --out month >last.txt
[ -d next ] || barograph synth vsdb --since 2019-03-31 --models gfs --stattypes anom --seed 2 --out next >last.txt
# shellcheck disable=SC2086,SC2154 # $labs is several words; run.sh sets lab and out
reps=$(small 7 2)
cases=$(small noaa test_3,test_6)
limit=$(small 5m 20s)
labs="--lab-dir $lab"
# fresh ENGINE… starts servers without data: a server reports the size of all archives of a design together.
fresh() {
	barograph lab down $labs >/dev/null 2>&1 || true
	up "$@" --profile tuned
}
seven() {
	to=$1
	shift
	# shellcheck disable=SC2086 # options are words
	measure met seed/vsdb_data --case "$cases" --reps "$reps" --time-limit "$limit" --out "$to" $labs "$@"
}

# The seven questions on one node: METviewer's database, the other SQL databases and the embedded engines.
one() {
	fresh mariadb postgres
	seven seven --engine lab:mariadb --engine lab:postgres --engine duckdb --engine sqlite --engine pebble --engine clickhouse \
		--design normalized --design document --design keyvalue
}
step seven one

# The same archives, asked by 1 to 32 clients at once.
clients() {
	fresh mariadb postgres
	measure met seed/vsdb_data --case test_1,test_3 --reps 1 --warmups 0 --out many $labs --engine lab:mariadb --engine lab:postgres --engine duckdb --engine sqlite --engine pebble \
		--design normalized --design document --design keyvalue --flavour metviewer-sql --flavour epoch-range --flavour keys --flavour keys-native \
		--clients 1,2,4,8,16,32 --duration "$(small 5s 300ms)"
}
step many clients

# Document databases, on one node and on three.
document() {
	up "$2" ${4:+--profile "$4"} --nodes "$3"
	seven "$1" --engine "lab:$2" --design document
	barograph lab down $labs >/dev/null
}
# The real day of 2019 and a month.
real() {
	fresh mariadb postgres
	measure met "$day" --reps 2 --warmups 0 --case one_sl1l2_hgt,dieoff_sal1l2_hgt --out day $labs --engine lab:mariadb --engine lab:postgres --engine duckdb --engine sqlite --engine pebble \
		--engine clickhouse --design normalized --design document --design keyvalue --flavour metviewer-sql --flavour epoch-range --flavour keys --flavour keys-native
}
step day real

# A longer series: 1 to 128 days.
growth() {
	fresh mariadb postgres
	measure growth "$ecm" --days "$(small 1,4,16,64 1,2,4)" --predict "$(small 128 8)" --reps "$(small 7 2)" --time-limit "$(small 1m 20s)" --out growth $labs \
		--engine lab:mariadb --engine lab:postgres --engine duckdb --engine sqlite --design normalized --design document \
		--flavour metviewer-sql --flavour epoch-range --flavour keys --case dieoff_sal1l2_hgt
}
step growth growth

# Other data in the same engine: one, two and four copies.
copies() {
	fresh postgres
	measure met seed/vsdb_data --case test_3,test_6 --reps "$reps" --out copies $labs --engine lab:postgres --engine duckdb --design document --subsets 1,2,4
}
step copies copies

# The files of a month, then those of another day.
nightly() {
	fresh mariadb postgres
	for engine in mariadb postgres duckdb sqlite pebble; do
		d=$engine:night.$engine
		design=document
		case $engine in
		mariadb) d=@$lab/mariadb/url design=normalized ;;
		postgres) d=@$lab/postgres/url ;;
		pebble) design=keyvalue ;;
		esac
		for files in month next; do
			before=$(date +%s.%N)
			measure load "$files" --engine "$d" --design "$design" --subset night
			echo "$engine-$files $(echo "$(date +%s.%N) $before" | awk '{ printf "%.2f", $1 - $2 }')"
		done
	done >nightly.new
	for files in month next; do
		echo "$files-bytes $(find $files -name '*.vsdb' -exec cat {} + | wc -c)"
		echo "$files-lines $(find $files -name '*.vsdb' -exec cat {} + | wc -l)"
	done >>nightly.new
	mv nightly.new nightly.facts
	rm -rf night.*
}
step nightly nightly
barograph lab down $labs >/dev/null

step asterixdb document asterixdb asterixdb 1 tuned
step cassandra document cassandra cassandra 1 tuned
step mongodb document mongodb mongodb 1 ''
step asterixdb3 document asterixdb3 asterixdb 3 tuned
step cassandra3 document cassandra3 cassandra 3 tuned

# A node of a cluster of three is killed during the load and during the questions.
step faults measure faults month --engine cassandra --nodes 3 --kills 1 --out faults
