#!/bin/sh
# Runs the studies behind a page of docs/results/five.
#
#   docs/results/run.sh met-2020|disks-2019|ycsb-2020|shef-2006|couchbase-2016|cluster|all [FOLDER]
#
# FOLDER (default: runs/NAME) receives the run folders. The same command continues after an interruption: it omits the
# finished steps. A page takes at most 100 minutes on two quiet cores; with SCALE=small it takes about 8 minutes and is
# only a try. BAROGRAPH names the program (default: it is built from the clone). DATA is the folder of real files
# (default: ../shared/data). With LOCK=FILE each step waits for the lock of this file, so that two scripts do not
# measure at once. ONLY="STEP…" runs only these steps. The steps of a page are in docs/results/five/NAME.sh.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
clone=$(cd "$here/../.." && pwd)
cd "$clone"
name=${1:?name a page, or all}
SCALE=${SCALE:-full}
DATA=$(cd "${DATA:-../shared/data}" && pwd)
export SCALE DATA

# seconds_of FOLDER prints how many seconds the finished steps of a page took.
seconds_of() { find "$1/.done" -name '*.seconds' -exec cat {} + 2>/dev/null | awk '{ n += $1 } END { print n + 0 }'; }

if [ "$name" = all ]; then
	sum=0 failed=
	for steps in "$here"/five/*.sh; do
		page=$(basename "$steps" .sh)
		folder=${2:-runs}/$page
		"$here/run.sh" "$page" "$folder" || failed="$failed $page"
		sum=$((sum + $(seconds_of "$folder")))
	done
	echo "all pages: $((sum / 60)) minutes"
	[ -z "$failed" ] || { echo "failed:$failed; the same command tries their missing steps again" >&2 && exit 1; }
	exit
fi

out=${2:-runs/$name}
mkdir -p "$out/.done"
out=$(cd "$out" && pwd)
program=${BAROGRAPH:-$out/.done/barograph}
[ -n "${BAROGRAPH:-}" ] || [ -x "$program" ] || go build -o "$program" ./cmd/barograph
lab=/var/tmp/barograph-five-$name
barograph() { "$program" "$@"; }

# step NAME COMMAND… runs a command once and records how many seconds it took. A command may be a function. The script
# continues after a failed step and fails at its end. The servers that a step starts must not inherit the lock.
failed=
step() {
	if [ -e "$out/.done/$1.seconds" ]; then
		echo "$1: finished before, $(cat "$out/.done/$1.seconds") s"
		return
	fi
	case " ${ONLY:-$1} " in *" $1 "*) ;; *) return ;; esac
	printf '\n== %s\n' "$1"
	(
		[ -z "${LOCK:-}" ] || flock 9
		start=$(date +%s)
		name_of_step=$1
		shift
		"$@" 9>&-
		echo $(($(date +%s) - start)) >"$out/.done/$name_of_step.seconds"
	) 9>"${LOCK:-/dev/null}" &
	wait $! || { failed="$failed $1" && echo "$1 failed" >&2; }
}

# measure COMMAND… runs Barograph. Status 4 means that lines were quarantined, which the run folder reports.
measure() {
	barograph "$@" >"$out/last.txt" || [ $? -eq 4 ] || { tail -20 "$out/last.txt"; return 1; }
}

# up ENGINE… starts servers in a lab of their own and stops them when the script ends.
up() { barograph lab up "$@" --lab-dir "$lab"; }
trap 'exit 130' INT TERM
trap 'barograph lab down --lab-dir "$lab" >/dev/null 2>&1 || true' EXIT

# small FULL SMALL prints its first argument, or its second with SCALE=small.
small() { if [ "$SCALE" = small ]; then echo "$2"; else echo "$1"; fi; }

cd "$out"
# shellcheck source=/dev/null
. "$here/five/$name.sh"
for seconds in "$out/.done"/*.seconds; do
	[ -e "$seconds" ] || continue
	echo "$(basename "$seconds" .seconds) $(cat "$seconds")"
done >"$out/steps.facts"
echo "$name: $(($(seconds_of "$out") / 60)) minutes"
[ -z "$failed" ] || { echo "failed:$failed; the same command tries them again" >&2 && exit 1; }
echo "go run ./internal/pages keep $name $out && docs/results/render.sh $name"
