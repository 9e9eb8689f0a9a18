#!/bin/bash
# Records histories of a store one of whose nodes is killed, and started again, while 16 clients read and write
# (docs/ycsb.md); `BAROGRAPH_HISTORIES=DIR go test -run TestPack ./workload/ycsb/history` packs them for its tests.
#
#   histories.sh NAME ENGINE NODES FAULTY COUNT DIR     such as: histories.sh galera mariadb 3 2 50 /tmp/histories
#
# A store that is slow needs longer for 2,000 calls, and starts slowly: SIDE_BY_SIDE recorders, each with clients, keys and a history of its own, then share a kill:
#
#   SIDE_BY_SIDE=9 CLIENTS=8 FIELDS=2 RATE=0.2 KILL_AT=420 SECONDS_OF_RUN=450 histories.sh asterixdb asterixdb 1 1 54 /tmp/histories
set -u
name=$1 engine=$2 nodes=$3 faulty=$4 count=$5 dir=$6
barograph=${BAROGRAPH:-barograph}
labs=$dir/$name.lab
mkdir -p "$dir/$name"
"$barograph" lab up "$engine" --dir "$labs" --nodes "$nodes" --profile tuned || exit
url=$("$barograph" lab url "$engine" --dir "$labs")
props=(-P workloada -p recordcount=1000 -p batchsize=100 -p fieldcount="${FIELDS:-10}")
kill=${KILL_AT:-3} side=${SIDE_BY_SIDE:-1}
"$barograph" ycsb load --engine "$url" --lab-dir "$labs" "${props[@]}" >/dev/null || exit

# What the other recorders call: the kill is not theirs, and they wait until its end.
cat >"$dir/$name.await" <<-END
	#!/bin/sh
	[ "\$1" = kill ] || until "$barograph" ycsb run --engine "$url" ${props[*]} -p operationcount=1 >/dev/null 2>&1; do sleep 3; done
END
chmod +x "$dir/$name.await"

# record I COMMAND: one recorder; with a command the kill is another's.
record() {
	local folder=$dir/$name.run.$1 log=$dir/$name.log.$1
	rm -rf "$folder"
	"$barograph" ycsb run --engine "$url" --lab-dir "$labs" "${props[@]}" --threads 4 --target "${RATE:-20}" -p maxexecutiontime="${SECONDS_OF_RUN:-9}" -p timeout="${TIMEOUT:-5}" \
		--history "${CLIENTS:-16}" --fault "kill:node$faulty@${kill}s,restart:node$faulty@$((kill + 1))s" ${2:+--fault-command "$2"} --out "$folder" >"$log" 2>&1
	local status=$?
	case $status in
	0 | 4) cp "$folder"/histories/*.jsonl.gz "$dir/$name/$1.jsonl.gz" ;; # right, or operations were lost, as they must be
	*) cp "$log" "$dir/$name/$1.status$status" ; cp "$folder"/histories/*.jsonl.gz "$dir/$name/$1.bad.jsonl.gz" ;;
	esac
	rm -rf "$folder"
}

for ((i = 1; i <= count; i += side)); do
	for ((k = 1; k < side; k++)); do
		record $((i + k)) "$dir/$name.await" &
	done
	record "$i" ""
	wait
done
"$barograph" lab down "$engine" --dir "$labs"
