#!/bin/bash
# Records histories of a store one of whose nodes is killed, and started again, while 16 clients read and write
# (docs/results/ycsb.md); `BAROGRAPH_HISTORIES=DIR go test -run TestPack ./study/ycsb/history` packs them for its tests.
#
#   histories.sh NAME ENGINE NODES FAULTY COUNT DIR     such as: histories.sh galera mariadb 3 2 50 /tmp/histories
#
# A store that is slow needs longer for 2,000 calls, and a machine of its own: SECONDS_OF_RUN=40 KILL_AT=27 RATE=2 histories.sh asterixdb asterixdb 1 1 50 /tmp/histories
set -u
name=$1 engine=$2 nodes=$3 faulty=$4 count=$5 dir=$6
barograph=${BAROGRAPH:-barograph}
labs=$dir/$name.lab
mkdir -p "$dir/$name"
"$barograph" lab up "$engine" --lab-dir "$labs" --nodes "$nodes" --profile tuned || exit
url=$("$barograph" lab url "$engine" --lab-dir "$labs")
props=(-P workloada -p recordcount=1000 -p batchsize=100)
kill=${KILL_AT:-3}
"$barograph" ycsb load --engine "$url" --lab-dir "$labs" "${props[@]}" >/dev/null || exit
for ((i = 1; i <= count; i++)); do
	folder=$dir/$name.run
	rm -rf "$folder"
	"$barograph" ycsb run --engine "$url" --lab-dir "$labs" "${props[@]}" --threads 4 --target "${RATE:-20}" -p maxexecutiontime="${SECONDS_OF_RUN:-9}" \
		--history 16 --fault "kill:node$faulty@${kill}s,restart:node$faulty@$((kill + 1))s" --out "$folder" >"$dir/$name.log" 2>&1
	status=$?
	case $status in
	0 | 4) cp "$folder"/histories/*.jsonl.gz "$dir/$name/$i.jsonl.gz" ;; # right, or operations were lost, as they must be
	*) cp "$dir/$name.log" "$dir/$name/$i.status$status" ; cp "$folder"/histories/*.jsonl.gz "$dir/$name/$i.bad.jsonl.gz" ;;
	esac
done
"$barograph" lab down "$engine" --lab-dir "$labs"
