#!/bin/sh
# A river forecast centre's first hour: a feed goes into an IHFS by a service, which is killed and started again, then
# out of it as CSV; the first alarms are looked at.
#
#   docs/centre.sh [FOLDER]
#
# run from a clone. What is made is left in FOLDER, a new one. IHFS names a database that has the tables; else one is made
# on a lab's PostgreSQL (barograph lab install --yes postgres). BAROGRAPH names the program (default: it is built). The feed
# is synthetic, a product of 35 values every two minutes for a day; FEED names a file or folder of yours instead.
set -eu
clone=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:-$(mktemp -d)}
mkdir -p "$folder/spool"
folder=$(cd "$folder" && pwd)
barograph=${BAROGRAPH:-$folder/barograph}
[ -n "${BAROGRAPH:-}" ] || (cd "$clone" && go build -o "$barograph" ./cmd/barograph)
cd "$folder"
barograph() { "$barograph" "$@"; }
service=
lab=
trap '[ -z "$service" ] || kill "$service" 2>/dev/null; [ -z "$lab" ] || barograph lab down postgres --lab-dir lab' EXIT
says() { printf '\n== %s\n' "$*"; }

says 'The feed, and the database'
if [ -z "${FEED:-}" ]; then
	FEED=feed/shef
	barograph synth shef --out feed --messages 600 --per-day 720 --mean 35 --offices 12 --since "$(date -u -d '-2 days' +%F)" >synth.txt
fi
if [ -z "${IHFS:-}" ]; then
	barograph lab up postgres --lab-dir lab >lab.txt
	lab=up
	IHFS=$(barograph lab url postgres --lab-dir lab)
	psql=$(ls /usr/lib/postgresql/*/bin/psql | tail -1)
	"$psql" -q "$IHFS" -f "$clone/river/testdata/ihfs.sql"
	# A centre's own has its stations and its ingest filter; here they are what the feed has.
	barograph shef decode --format csv --out values.csv "$FEED" 2>decode.txt || [ $? -eq 4 ]
	awk -F, 'NR > 1 && !seen[$1]++ { print $1 ",1" }' values.csv >location.csv
	awk -F, 'NR > 1 { pe = substr($3, 1, 2); ts = substr($3, 4, 2); e = substr($3, 6, 1); k = $1 "," pe "," $6 "," ts "," e; if (!seen[k]++) print k ",1,T,F,F" }' values.csv >ingestfilter.csv
	"$psql" -q "$IHFS" -c '\copy location from location.csv csv' -c '\copy ingestfilter from ingestfilter.csv csv'
fi
printf '%s\n' "$IHFS" >url # a password is no argument of a command
chmod 600 url

says 'pqact.conf: the fields are partitioned by tabs'
printf 'IDS|DDPLUS\t^(S[RX]US|FGUS).. (....) .*\n\tPIPE\t%s shef serve --spool %s/spool --engine @%s/url -\n' "$barograph" "$folder" "$folder" | tee pqact.conf
says '/etc/systemd/system/barograph-shef.service'
cat <<UNIT | tee barograph-shef.service
[Unit]
Description=SHEF products into IHFS
After=network-online.target postgresql.service
[Service]
User=ldm
Type=notify
ExecStart=$barograph shef serve --spool $folder/spool --engine @$folder/url --metrics 127.0.0.1:9464
ExecReload=/bin/kill -HUP \$MAINPID
Restart=always
RestartSec=10
[Install]
WantedBy=multi-user.target
UNIT

# waits until a command says yes, two minutes at most
wait_for() {
	for _ in $(seq 600); do
		if eval "$1"; then return 0; fi
		sleep 0.2
	done
	echo "centre.sh: waited two minutes for: $1" >&2
	exit 1
}
posted() { [ -z "${psql:-}" ] || "$psql" -At "$IHFS" -c 'SELECT (SELECT count(*) FROM height) + (SELECT count(*) FROM discharge)'; }
waiting() { find spool -maxdepth 1 -type f ! -name '.*' | wc -l; }

says 'The service, fed as LDM does, and killed in the middle'
if [ -d "$FEED" ]; then cat "$FEED"/*; else cat "$FEED"; fi >feed.txt
mkfifo pipe
"$barograph" shef serve --spool spool --engine @url - <pipe >first.log 2>first.err &
service=$!
exec 3>pipe
head -c "$(($(wc -c <feed.txt) / 2))" feed.txt >&3 &
wait_for '[ "$(grep -c msg first.log)" -ge 20 ]'
kill -9 "$service"
wait "$service" 2>/dev/null || true
service=
exec 3>&-
echo "killed: $(posted) values of height and discharge are there, $(waiting) products wait"

says 'Started again: what waits is posted, and the feed again from its beginning, as LDM sends it after a crash'
"$barograph" shef serve --spool spool --engine @url --metrics 127.0.0.1:0 - <feed.txt >second.log 2>second.err &
service=$!
wait_for 'grep -q http:// second.err'
metrics=$(sed -n 's/.*\(http:[^ ]*\).*/\1/p' second.err)
wait_for '[ "$(grep -c msg second.log)" -ge 300 ] || ! kill -0 $service'
says "The first alarms, from $metrics"
curl -s "$metrics" | grep -E '^barograph_shef_(database_up|failed_total|spool_files|spool_oldest_timestamp_seconds|values_lost_total|products_total|products_doubled_total) ' || true
wait "$service"
service=
echo "$(waiting) products wait, $(find spool/failed -type f 2>/dev/null | wc -l) files failed"

says 'All of it once more by hand: nothing changes'
barograph shef post --engine @url "$FEED" || [ $? -eq 4 ]

says 'Out again as CSV'
barograph shef export --to csv --out river.csv --engine @url
