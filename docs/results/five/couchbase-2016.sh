# The steps of run.sh couchbase-2016: workloads A and E over rising clients, with the records placed by the hash of the
# key (local) and in ranges of keys (global), and updates of a part of a document next to updates of all of it.

# The numbers of clients that the article names.
clients=42,84,140,210,250

# placed ENGINE OUT RECORDS OPERATIONS REPS CLIENTS LAYOUTS WORKLOAD OPTIONS-OF-THE-URL runs a workload at $rate
# operations a second (0 = no limit).
rate=0
placed() {
	url=$(barograph lab url "$1" --lab-dir "$lab" | sed 's/replication=[0-9]*&\{0,1\}//')
	case $url in *\?) url=$url$9 ;; *\?*) url="$url&$9" ;; *) url="$url?$9" ;; esac
	measure ycsb sweep --engine "$url" --lab-dir "$lab" --layout "$7" --load -P "$8" -p recordcount="$3" -p operationcount="$4" \
		-p table="$(echo "$2" | tr - _)" -p batchsize=100 --threads "$6" --target "$rate" --reps "$5" --out "$out/$2"
}

valkey_placements() {
	rm -rf "$out/valkey-a" "$out/valkey-e" "$out/valkey-two" "$out/valkey-one"
	up valkey --nodes 3 --profile memory
	placed valkey valkey-a "$(small 30000 10000)" "$(small 100000 20000)" 6 $clients columns,clustered workloada prefix=6
	placed valkey valkey-e "$(small 30000 10000)" "$(small 10000 1500)" 6 $clients columns,clustered workloade prefix=6
	barograph lab down valkey --lab-dir "$lab"
	# two nodes, to project from two and three to the original's nine
	up valkey --nodes 2 --profile memory
	placed valkey valkey-two "$(small 30000 10000)" "$(small 10000 1500)" 6 84 columns,clustered workloade prefix=6
	barograph lab down valkey --lab-dir "$lab"
	# one node, to test such a line: one and two must predict three
	up valkey --nodes 1 --profile memory
	placed valkey valkey-one "$(small 30000 10000)" "$(small 10000 1500)" 6 84 columns,clustered workloade prefix=6
	barograph lab down valkey --lab-dir "$lab"
}

# The same throughput in both placements, with few clients: a rate that both sustain.
valkey_rate() {
	rm -rf "$out/valkey-rate"
	up valkey --nodes 3 --profile memory
	rate=$(small 400 300)
	placed valkey valkey-rate "$(small 30000 10000)" "$(small 4000 1500)" 6 42 columns,clustered workloade prefix=6
	rate=0
	barograph lab down valkey --lab-dir "$lab"
}

cassandra_placements() {
	rm -rf "$out/cassandra-a" "$out/cassandra-e"
	up cassandra --nodes 3
	placed cassandra cassandra-a "$(small 6000 2000)" "$(small 20000 2000)" "$(small 6 2)" "$(small $clients 42,250)" hash,clustered workloada 'prefix=6&replication=1&conditional=false'
	placed cassandra cassandra-e "$(small 6000 2000)" "$(small 4000 300)" "$(small 6 2)" "$(small $clients 42,250)" hash,clustered workloade 'prefix=6&replication=1&conditional=false'
	barograph lab down cassandra --lab-dir "$lab"
}

# Reads and updates of one value inside a document, and of all of it. FerretDB keeps its documents in SQLite, which refuses
# some of the updates of 42 clients: "database is locked".
parts_of_documents() {
	engine=$1
	rm -rf "$out/parts-$engine"
	up "$engine" --profile default
	measure ycsb sweep --engine "lab:$engine" --lab-dir "$lab" --layout document --load --workloads subdocument,wholedocument \
		-p recordcount="$(small 10000 500)" -p operationcount="$2" -p batchsize=100 --threads "$3" --reps 6 --out "$out/parts-$engine"
	barograph lab down "$engine" --lab-dir "$lab"
}

# One node of AsterixDB, which places documents by the hash of the key only.
asterixdb_alone() {
	rm -rf "$out/asterixdb-a" "$out/asterixdb-e"
	up asterixdb
	for letter in a e; do
		measure ycsb sweep --engine lab:asterixdb --lab-dir "$lab" --load -P workload$letter -p recordcount="$(small 2000 300)" \
			-p operationcount="$(small 500 60)" -p table="$letter" --threads "$(small 42,250 42)" --reps "$(small 6 2)" --out "$out/asterixdb-$letter"
	done
	barograph lab down asterixdb --lab-dir "$lab"
}

step valkey valkey_placements
step rate valkey_rate
step parts parts_of_documents postgres "$(small 20000 3000)" 42
step parts-mongodb parts_of_documents mongodb "$(small 300 100)" 2
step cassandra cassandra_placements
step asterixdb asterixdb_alone
