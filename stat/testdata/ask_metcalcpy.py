"""Asks METcalcpy 2.1 (numpy 1.24.2, pandas 1.5.2) for every aggregated statistic: python ask_metcalcpy.py > metcalcpy-2.1.json

Of each line type it aggregates random records and degenerate ones, by METcalcpy's own AggStat. A value is what it
answers: a number, null for NA, or the name of the exception with which the job dies."""
import csv, json, math, random, sys, warnings
import metcalcpy.agg_stat as agg
import pandas as pd

warnings.simplefilter("ignore")
R = random.Random(17)
STATS = sys.argv[1] if len(sys.argv) > 1 else "../../../shared/data/met/metviewer_statistics.tsv"
TYPES = {"nbrcnt": "nbr_cnt", "nbrctc": "nbr_ctc"}
BINS, CATS = [0.05, 0.2, 0.4, 0.65, 0.9], 3


def table(n):
    a = sorted(R.randrange(n + 1) for _ in range(3))
    return a[0], a[1] - a[0], a[2] - a[1], n - a[2]


def sums(n):
    f = [R.gauss(8, 4) for _ in range(n)]
    o = [x + R.gauss(.5, 2) for x in f]
    m = lambda g: sum(g(x, y) for x, y in zip(f, o)) / n
    return m(lambda x, y: x), m(lambda x, y: y), m(lambda x, y: x * y), m(lambda x, y: x * x), m(lambda x, y: y * y), m(lambda x, y: abs(x - y))


def wind(n):
    (a, b, c, d, e, _), (g, h, i, j, k, _) = sums(n), sums(n)
    return a, -g, b, -h, c + i, d + j, e + k, .9 * math.sqrt(d + j), .9 * math.sqrt(e + k)


def row(t, n):
    u = R.random
    if t in ("ctc", "nbrctc"):
        return dict(zip("fy_oy fy_on fn_oy fn_on".split(), table(n)), **({"ec_value": .5} if t == "ctc" else {}))
    if t == "sl1l2":
        return dict(zip("fbar obar fobar ffbar oobar mae".split(), sums(n)))
    if t == "sal1l2":
        return dict(zip("fabar oabar foabar ffabar ooabar mae".split(), sums(n)))
    if t == "vl1l2":
        return dict(zip("ufbar vfbar uobar vobar uvfobar uvffbar uvoobar f_speed_bar o_speed_bar".split(), wind(n)))
    if t == "val1l2":
        return dict(zip("ufabar vfabar uoabar voabar uvfoabar uvffabar uvooabar fa_speed_bar oa_speed_bar".split(), wind(n)))
    if t == "grad":
        return {k: 1 + u() for k in "fgbar ogbar mgbar egbar".split()}
    if t == "nbrcnt":
        return {k: .1 + .8 * u() for k in "fbs fss afss ufss f_rate o_rate".split()}
    if t == "ssvar":
        return dict(zip("fbar obar fobar ffbar oobar".split(), sums(n)), bin_n=n, total=3 * n, var_mean=u())
    if t == "rps":
        return dict(n_prob=5, **{k: .1 + .6 * u() for k in "rps_rel rps_res rps_unc rps rpss rpss_smpl rps_comp".split()})
    if t == "ecnt":
        g = R.randrange(n + 1)
        return dict({k: .5 + u() for k in """crps crpss ign me rmse spread me_oerr rmse_oerr spread_oerr spread_plus_oerr crpscl crps_emp
            crpscl_emp crpss_emp crps_emp_fair spread_md mae mae_oerr bias_ratio""".split()}, n_ge_obs=g, me_ge_obs=1 + u(), n_lt_obs=n - g, me_lt_obs=-1 - u())
    if t == "pct":
        r, left = {}, n
        for i, c in enumerate(BINS):
            k = left if i + 1 == len(BINS) else R.randrange(left // 2 + 1)
            left -= k
            y = R.randrange(k + 1)
            r |= {f"thresh_i_{i}": c, f"oy_i_{i}": y, f"on_i_{i}": k - y}
        return r
    r, left = {"n_cat": CATS, "ec_value": 0}, n
    for i in range(CATS * CATS):
        k = left if i + 1 == CATS * CATS else R.randrange(left // 2 + 1)
        left -= k
        r |= {f"i_value_{i}": i // CATS + 1, f"j_value_{i}": i % CATS + 1, f"fi_oj_{i}": k}
    return r


def records(t, case):
    rows = []
    for i in range(1 if case == "one" else 5):
        n = 1 if case == "single pair" else R.randrange(10, 400)
        rows.append({"total": n} | row(t, n))
    if case == "zeros":
        rows = [{k: v if k in ("total", "bin_n", "n_cat", "ec_value", "n_prob") or "value" in k or "thresh" in k else 0 for k, v in r.items()} for r in rows]
    if case == "missing":  # one record lacks its first sums
        for k in [k for k in rows[0] if k not in ("total", "bin_n", "n_cat", "ec_value", "n_prob") and "value" not in k and "thresh" not in k][:2]:
            rows[0][k] = None
    return rows


def ask(t, rows, name):
    head = {"model": "A", "fcst_lead": 10000, "fcst_var": "TMP", "stat_name": name, "stat_value": None}
    frame = pd.DataFrame([head | {"fcst_valid_beg": f"2019-01-0{i + 1} 00:00:00"} | r for i, r in enumerate(rows)])
    frame.to_csv("/tmp/metcalcpy.tsv", sep="\t", na_rep="NA", index=False)
    a = agg.AggStat(dict(agg_stat_input="/tmp/metcalcpy.tsv", series_val_1={"model": ["A"]}, series_val_2={}, indy_var="fcst_lead", indy_vals=["10000"],
        list_stat_1=[name], fcst_var_val_1={"TMP": [name]}, derived_series_1=[], num_iterations=1, num_threads=1, method="perc", alpha=.05,
        random_seed=None, event_equal="False", line_type=TYPES.get(t, t)))
    try:
        if t == "pct":
            a.column_names = list(a.column_names) + ["T", "oy_total", "o_bar"]
            a.column_names = pd.Index(a.column_names).values
        v = a._proceed_with_axis("1")["stat_value"][0]
        return None if v is None or math.isnan(v) else float(v)
    except Exception as e:
        return type(e).__name__


names = {}
for r in csv.DictReader(open(STATS), delimiter="\t"):
    names.setdefault(r["agg_type"], []).append(r["name"])
names["val1l2"] += ["VCNT_ANOM_CORR", "VCNT_ANOM_CORR_UNCNTR"]  # METviewer's menu has them under vl1l2
names["nbrctc"].append("NBR_CTC_TOTAL")
cases = []
for t, ns in names.items():
    for case in ("random", "random", "random", "one", "single pair", "zeros", "missing"):
        rows = records(t, case)
        cases.append({"type": t.upper(), "case": case, "columns": list(rows[0]), "rows": [list(r.values()) for r in rows], "values": {n: ask(t, rows, n) for n in ns}})
print("[" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases) + "]")
