# The steps of run.sh shef-2006: the tests of the report of 2006 on PostgreSQL as packaged and tuned, then what the
# service of today does with the same feed.

# as_reported PROFILE OUT [FIRST] runs the report's tests in its order, by its algorithm and by the service. It posts as
# many products as the run FIRST, or as many as fit a time.
as_reported() {
	rm -rf "${out:?}/$2"
	messages=${3:+$(sed -n 's/^ *"products": *\([0-9]*\).*/\1/p' "$out/$3/run.json" | head -n 1)}
	[ -z "${3:-}" ] || [ -n "$messages" ] || { echo "$2 needs the run $3" >&2 && return 1; }
	up postgres --profile "$1"
	measure post --engine lab:postgres --lab-dir "$lab" --report2006 "$(small 25m 100s)" ${messages:+--messages "$messages"} --out "$out/$2"
	barograph lab down postgres --lab-dir "$lab"
}

# Every method of today on a part of the backlog, and what reposts cost without maintenance.
today() {
	rm -rf "$out/methods" "$out/bloat"
	up postgres --profile tuned
	measure post --engine lab:postgres --lab-dir "$lab" --test queue --messages "$(small 500 60)" --mean 240.3 --out "$out/methods"
	measure post --engine lab:postgres --lab-dir "$lab" --test bloat --method row-2006,service --messages "$(small 60 40)" --mean 240.3 --reposts 4 --out "$out/bloat"
	barograph lab down postgres --lab-dir "$lab"
}

# The backlog, as far as the time allows, by the service.
backlog() {
	rm -rf "$out/backlog"
	up postgres --profile tuned
	measure post --engine lab:postgres --lab-dir "$lab" --test queue --design array96 --method service --messages "$(small 55338 11000)" --mean 240.3 --out "$out/backlog"
	barograph lab down postgres --lab-dir "$lab"
}

step delivered as_reported default delivered
step tuned as_reported tuned tuned delivered
step today today
step backlog backlog
