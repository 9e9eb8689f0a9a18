# Sourced by check-cost.sh and client-cost.sh, which write lines "WHO CPU-by-operation operations/s" to $work/all.
# median COLUMN A B: of the rounds' ratios A to B, with its distribution-free interval of at least 95 %. Fewer than six
# rounds have none: then the range of all rounds.
median() {
	paste <(grep "^$2 " "$work/all" | cut -d' ' -f"$1") <(grep "^$3 " "$work/all" | cut -d' ' -f"$1") | awk '{print $1/$2}' | sort -n | awk '
		{a[NR] = $1}
		END {
			n = NR; k = 1; below = term = 0.5 ^ n
			for (i = 1; i < n; i++) { term *= (n - i + 1) / i; below += term; if (2 * below > 0.05) break; k++ }
			m = n % 2 ? a[(n + 1) / 2] : (a[n / 2] + a[n / 2 + 1]) / 2
			printf "%.3f (%s %.3f to %.3f)", m, n < 6 ? "range" : "95 % interval", a[k], a[n + 1 - k]
		}'
}
