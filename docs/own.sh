#!/bin/sh
# Your own tables, your own questions: Parquet files and five SQL files on four engines, from one to eight streams, and the
# advice that follows.
#
#   docs/own.sh [FOLDER]
#
# run from a clone. TABLES is a folder of Parquet or CSV files (default: the star of TPC-DS at the scale SF, 8, which is 1 GB
# of Parquet), QUERIES one of SQL files (default: docs/own), ENGINES what is compared, OWN more options for `barograph scan
# own`. What is made is left in FOLDER, a new one. BAROGRAPH names the program (default: it is built).
set -eu
clone=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:-$(mktemp -d)}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
queries=$(cd "${QUERIES:-$clone/docs/own}" && pwd)
tables=${TABLES:+$(cd "$TABLES" && pwd)}
barograph=${BAROGRAPH:-$folder/barograph}
[ -n "${BAROGRAPH:-}" ] || (cd "$clone" && go build -o "$barograph" ./cmd/barograph)
cd "$folder"
run() {
	printf '\n$ %s\n' "$*"
	shift
	"$barograph" "$@"
}

if [ -z "$tables" ]; then
	tables=tables
	run barograph synth tpcds --sf "${SF:-8}" --out tables
fi
lab=
trap '[ -z "$lab" ] || "$barograph" lab down postgres --lab-dir lab' EXIT
if [ -z "${ENGINES:-}" ]; then
	run barograph lab up postgres --lab-dir lab --profile tuned
	lab=up
	ENGINES="--engine duckdb:duckdb.db --engine clickhouse:clickhouse --engine sqlite:sqlite.db --engine @lab/postgres/url --lab-dir lab"
fi
# shellcheck disable=SC2086 # options are words
run barograph scan own --tables "$tables" --queries "$queries" $ENGINES ${OWN:---streams 1,2,4,8} --out own
