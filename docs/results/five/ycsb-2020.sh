# The steps of run.sh ycsb-2020: the mix of the SQL study of 2020 on four physical variants in each of two servers.
ddl=$here/five/ycsb-2020

# mixed ENGINE OUT OPTION… runs the mix on all variants of an engine.
mixed() {
	engine=$1 to=$2
	shift 2
	for file in "$ddl/$engine"/*.sql; do set -- "$@" --ddl "$engine=$file"; done
	measure ycsb sweep --engine "lab:$engine" --lab-dir "$lab" --load -P "$ddl/workload.properties" -p seed=1 "$@" --out "$out/$to"
}

# scanned NAME SCHEMA WHEN prints how a scan of the mean length reads a table.
scanned() {
	psql -Atq -v ON_ERROR_STOP=1 "$url" -c "EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, SUMMARY OFF)
		SELECT * FROM $2.usertable WHERE ycsb_key >= 'user4' ORDER BY ycsb_key FETCH FIRST 500 ROWS ONLY" |
		awk -v name="$1" -v when="$3" '/Buffers:/ && !pages { match($0, /hit=[0-9]+/); pages = substr($0, RSTART + 4, RLENGTH - 4)
				if (match($0, /read=[0-9]+/)) pages += substr($0, RSTART + 5, RLENGTH - 5) }
			/Scan using/ { if (!n++) { sub(/^[ >-]*/, ""); sub(/ using.*/, ""); access = $0 } }
			END { print name "." when ".pages", pages; print name "." when ".access", access; print name "." when ".scans", n }'
}

# described prints the bytes of PostgreSQL's variants, and how they are scanned as the runs left them and after a vacuum.
described() {
	url=$(barograph lab url postgres --lab-dir "$lab")
	for file in "$ddl"/postgres/*.sql; do
		name=$(basename "$file" .sql)
		schema=$(psql -Atq "$url" -c "SELECT nspname FROM pg_namespace WHERE nspname LIKE '%${name}_sql_%'")
		psql -Atq -v ON_ERROR_STOP=1 "$url" -c "SELECT '$name.rows ' || count(*) FROM $schema.usertable" \
			-c "SELECT '$name.table ' || sum(pg_table_size(oid)) FROM pg_class WHERE relkind = 'r' AND relnamespace = '$schema'::regnamespace" \
			-c "SELECT '$name.index ' || sum(pg_indexes_size(oid)) FROM pg_class WHERE relkind = 'r' AND relnamespace = '$schema'::regnamespace"
		psql -Atq "$url" -c "ANALYZE $schema.usertable"
		scanned "$name" "$schema" before
		psql -Atq "$url" -c "VACUUM ANALYZE $schema.usertable"
		scanned "$name" "$schema" after
	done
}

postgres_variants() {
	rm -rf "$out/postgres" "$out/waits"
	up postgres
	mixed postgres postgres --threads 20 --reps 6 -p recordcount="$(small 100000 20000)" -p operationcount="$(small 10000 2000)"
	described >"$out/plans.facts"
	# a longer run of each variant, on newly loaded tables: the sessions over time
	mixed postgres waits --client-overhead=false --replace --threads 20 --reps 1 -p recordcount="$(small 100000 20000)" -p operationcount=0 -p maxexecutiontime="$(small 30 5)"
	barograph lab down postgres --lab-dir "$lab"
}

mariadb_variants() {
	rm -rf "$out/mariadb"
	up mariadb --profile observed
	mixed mariadb mariadb --client-overhead=false --threads 20 --reps 6 -p recordcount="$(small 100000 20000)" -p operationcount="$(small 10000 2000)"
	barograph lab down mariadb --lab-dir "$lab"
}

# What the study did not measure: other numbers of threads.
threads() {
	rm -rf "$out/threads"
	up postgres
	measure ycsb sweep --engine lab:postgres --lab-dir "$lab" --load -P "$ddl/workload.properties" -p seed=1 --client-overhead=false \
		--ddl "postgres=$ddl/postgres/heap.sql" --threads 1,5,20,80 --reps 6 \
		-p recordcount="$(small 100000 20000)" -p operationcount="$(small 10000 2000)" --out "$out/threads"
	barograph lab down postgres --lab-dir "$lab"
}

step postgres postgres_variants
step mariadb mariadb_variants
# The same mix with the field in a column and inside a JSONB document.
documents() {
	rm -rf "$out/documents"
	up postgres
	measure ycsb sweep --engine lab:postgres --lab-dir "$lab" --layout columns,document --load -P "$ddl/workload.properties" -p seed=1 --client-overhead=false \
		--threads 20 --reps 6 -p recordcount="$(small 100000 20000)" -p operationcount="$(small 10000 2000)" --out "$out/documents"
	barograph lab down postgres --lab-dir "$lab"
}

step threads threads
step documents documents
