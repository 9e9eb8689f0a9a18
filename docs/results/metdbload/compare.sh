#!/bin/bash
# Loads the same files with METdbLoad, with barograph load and, as the floor,
# with LOAD DATA of ready rows into one throwaway MariaDB, in turn; prints a
# table and what the two databases differ in. See docs/results/metdbload.md.
set -euo pipefail

usage() {
	cat >&2 <<'U'
usage: compare.sh --metdataio DIR --python PROGRAM --files DIR [--runs 3] [--subsets 0] [--work DIR] [--barograph PROGRAM]
  --metdataio  a checkout of dtcenter/METdataio
  --python     a Python that has METdataio's requirements (pandas 1.5.2, numpy 1.24.2, PyMySQL 1.1.1, lxml)
  --files      a folder of .vsdb and .stat files
  --runs       rounds; each loads once with each of the three
  --subsets    after that, load the files this many times with barograph, each into a database of its own
  --work       where to put the server, scripts and logs; removed databases leave nothing behind
U
	exit 2
}

runs=3 subsets=0 work=$(mktemp -d /var/tmp/metdbload.XXXXXX) barograph=barograph metdataio= python= files=
while [ $# -gt 0 ]; do
	[ $# -ge 2 ] || usage
	case $1 in
	--metdataio) metdataio=$(realpath "$2") ;;
	--python) python=$(realpath -s "$2") ;;
	--files) files=$(realpath "$2") ;;
	--runs) runs=$2 ;;
	--subsets) subsets=$2 ;;
	--work) mkdir -p "$2" && work=$(realpath "$2") ;;
	--barograph) barograph=$(realpath "$2") ;;
	*) usage ;;
	esac
	shift 2
done
[ -n "$metdataio" ] && [ -n "$python" ] && [ -n "$files" ] || usage
[ -f "$metdataio/docs/version" ] || { echo "$metdataio/docs/version is missing; METdbLoad reads it" >&2; exit 1; }
schema=$metdataio/METdbLoad/sql/mv_mysql.sql

chmod 755 "$work"
trap '"$barograph" lab --lab-dir "$work/lab" down mariadb > /dev/null' EXIT
"$barograph" lab --lab-dir "$work/lab" up mariadb
status=$("$barograph" --json lab --lab-dir "$work/lab" status mariadb)
url=@$work/lab/mariadb/url
read -r port password pid < <("$python" - "$status" "${url#@}" <<'P'
import json, sys
from urllib.parse import urlsplit
lab, url = json.loads(sys.argv[1])[0], urlsplit(open(sys.argv[2]).read().strip())
print(url.port, url.password, lab["lab"]["nodes"][0]["processes"][0]["pid"])
P
)
export MYSQL_PWD=$password # of the mariadb client
sql() { mariadb --no-defaults --host 127.0.0.1 --port "$port" --user root --local-infile=1 "$@"; }
sql --execute 'SET GLOBAL local_infile = 1'

list=$work/files.txt
find "$files" -type f \( -name '*.vsdb' -o -name '*.stat' \) | sort > "$list"
lines=$(xargs -d '\n' cat < "$list" | grep -cv '^VERSION ' || true)
bytes=$(xargs -d '\n' cat < "$list" | wc -c)
echo "$(wc -l < "$list") files, $lines lines, $((bytes / 1000000)) MB"

# measure NAME COMMAND…: wall, CPU and peak memory of the client, CPU of the server
measure() {
	local name=$1
	shift
	"$python" - "$name" "$pid" "$work/results.tsv" "$work/$name.log" "$@" <<'P'
import os, resource, subprocess, sys, time
name, pid, results, log, *command = sys.argv[1:]
def server():
    f = open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()
    return (int(f[11]) + int(f[12])) / os.sysconf("SC_CLK_TCK")
before, start = server(), time.monotonic()
with open(log, "w") as out:
    code = subprocess.call(command, stdout=out, stderr=subprocess.STDOUT)
wall, spent, u = time.monotonic() - start, server() - before, resource.getrusage(resource.RUSAGE_CHILDREN)
if code not in (0, 4): # 4: barograph quarantined lines
    sys.exit(f"{name} ended with status {code}; see {log}")
with open(results, "a") as out:
    print(name, f"{wall:.3f}", f"{u.ru_utime + u.ru_stime:.3f}", f"{spent:.3f}", f"{u.ru_maxrss / 1024:.0f}", sep="\t", file=out)
P
}

fresh() {
	sql --execute "DROP DATABASE IF EXISTS $1; CREATE DATABASE $1"
	sql "$1" < "$schema"
}

spec() {
	cat <<S
<load_spec><connection><management_system>mysql</management_system><host>127.0.0.1:$port</host><database>mv_metdbload</database>
<user>root</user><password>$password</password></connection>
<verbose>false</verbose><insert_size>1</insert_size><stat_header_db_check>true</stat_header_db_check>
<mode_header_db_check>false</mode_header_db_check><drop_indexes>false</drop_indexes><apply_indexes>false</apply_indexes>
<load_stat>true</load_stat><load_mode>false</load_mode><load_mtd>false</load_mtd><load_mpr>true</load_mpr>
<load_orank>true</load_orank><force_dup_file>false</force_dup_file>
<load_files>$(sed 's|.*|<file>&</file>|' "$list")</load_files></load_spec>
S
}

metdbload() {
	fresh mv_metdbload
	spec > "$work/spec.xml"
	mkdir -p "$work/tmp"
	(cd "$metdataio/METdbLoad/ush" && measure METdbLoad "$python" met_db_load.py "$work/spec.xml" "$work/tmp")
}

# ours N loads into the database mv_barographN
ours() {
	sql --execute "DROP DATABASE IF EXISTS mv_barograph$1"
	measure barograph "$barograph" load "$files" --engine "$url" --design normalized --subset "mv_barograph$1"
}

# rows writes what METdbLoad stored as files that LOAD DATA takes as they are.
rows() {
	mkdir -p "$work/rows"
	for table in $(sql -N --execute "SELECT table_name FROM information_schema.tables WHERE table_schema = 'mv_metdbload' AND table_rows > 0
		AND (table_name IN ('stat_header', 'data_file') OR table_name LIKE 'line\_data\_%')"); do
		sql -N --quick --execute "SELECT * FROM mv_metdbload.$table" | sed -E ':a; s/(^|\t)NULL(\t|$)/\1\\N\2/; ta' > "$work/rows/$table"
		echo "LOAD DATA LOCAL INFILE '$work/rows/$table' INTO TABLE $table;"
	done > "$work/floor.sql"
}

floor() {
	fresh mv_floor
	measure floor mariadb --no-defaults --host 127.0.0.1 --port "$port" --user root --local-infile=1 mv_floor --execute "source $work/floor.sql"
}

rm -f "$work/results.tsv"
for round in $(seq "$runs"); do
	metdbload
	ours ""
	[ -f "$work/floor.sql" ] || rows
	floor
done

"$python" - "$work/results.tsv" "$lines" "$bytes" <<'P'
import statistics, sys
runs = {}
for line in open(sys.argv[1]):
    name, *values = line.split("\t")
    runs.setdefault(name, []).append([float(v) for v in values])
lines, size = int(sys.argv[2]), int(sys.argv[3])
print(f"\n{'medians':12}{'runs':>6}{'wall s':>9}{'client CPU s':>14}{'server CPU s':>14}{'both CPU s':>12}{'peak MB':>9}{'lines/s':>11}{'MB/s':>8}")
median = {}
for name, values in runs.items():
    wall, client, server, peak = median[name] = [statistics.median(c) for c in zip(*values)]
    print(f"{name:12}{len(values):6}{wall:9.2f}{client:14.2f}{server:14.2f}{client + server:12.2f}{peak:9.0f}{lines / wall:11.0f}{size / 1e6 / wall:8.2f}")
def ratio(a, b, of):
    return of(median[a]) / of(median[b])
print("barograph is {:.1f} x METdbLoad by wall time, {:.1f} x by CPU; {:.2f} x the floor by wall time, {:.2f} x by CPU".format(
    ratio("METdbLoad", "barograph", lambda m: m[0]), ratio("METdbLoad", "barograph", lambda m: m[1] + m[2]),
    ratio("barograph", "floor", lambda m: m[0]), ratio("barograph", "floor", lambda m: m[1] + m[2])))
P

echo
"$barograph" diff "mariadb://root:$password@127.0.0.1:$port/mv_barograph" "mariadb://root:$password@127.0.0.1:$port/mv_metdbload" --known metdbload --samples 1 || status=$?

if [ "$subsets" -gt 0 ]; then
	: > "$work/results.tsv"
	for n in $(seq "$subsets"); do ours "$n"; done
	printf '\n%6s%9s%14s%14s%11s\n' copy 'wall s' 'client CPU s' 'server CPU s' 'lines/s'
	awk -v lines="$lines" '{ printf "%6d%9.2f%14.2f%14.2f%11.0f\n", NR, $2, $3, $4, lines / $2
		if (NR == 1) { first = $2; cpu = $3 + $4 } wall += $2; both += $3 + $4 }
		END { printf "%d copies: %.0f %% of the rate of the first copy by wall time, %.0f %% by CPU\n", NR, 100 * NR * first / wall, 100 * NR * cpu / both }' "$work/results.tsv"
fi
