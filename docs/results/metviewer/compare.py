#!/usr/bin/env python3
"""Compares METviewer with `barograph ask`, for each plot of plots.py, about databases that Barograph loaded into MariaDB.

For each plot METviewer's Java (MVPlots.java) queries MariaDB, METcalcpy aggregates, and METplotpy draws. The script then compares
  data:   METviewer's .data file with `ask --format metviewer`, row by row;
  points: the values that METplotpy wrote when it drew (.points1) with those of `ask --plot`, as sorted tuples;
and prints a table in Markdown, and the first differences of each plot on stderr.

    compare.py --url URL [--barograph PROGRAM] --metviewer DIR --metcalcpy DIR --metplotpy DIR --python ENV --out DIR [PLOT…]

DIR of METviewer has its jar files in lib/ and the classes of java/ in build/; ENV is a Python environment with the
requirements of METcalcpy and METplotpy. README.md says how to make them. A plot that was drawn is not drawn again."""
import argparse
import collections
import csv
import glob
import math
import os
import re
import subprocess
import sys
import urllib.parse

from plots import PLOTS, spec

BASE = "test/user_interface/artifacts/metv_plot_series_TMP_2m_AGG_RMSE.xml"
NUMBER = re.compile(r"-?\d+(\.\d*)?([eE][-+]?\d+)?$")


def number(text):
    """A value of a table: NaN if it is missing."""
    return float(text) if NUMBER.match(text) else math.nan


def metviewer(o, name):
    """Runs METviewer and returns its log."""
    url = urllib.parse.urlsplit(open(o.url[1:]).read().strip() if o.url.startswith("@") else o.url)
    host, home = f"{url.hostname}:{url.port}", os.path.join(o.out, "metviewer")
    os.makedirs(home, exist_ok=True)
    path, log = os.path.join(home, name + ".xml"), os.path.join(home, name + ".log")
    with open(path, "w") as f:
        f.write(spec(name, PLOTS[name], os.path.join(o.metviewer, BASE), host, url.username, url.password, home, o.metviewer))
    if not os.path.exists(os.path.join(home, name + ".done")):
        classes = ":".join(glob.glob(os.path.join(o.metviewer, "lib/*.jar")) + [os.path.join(o.metviewer, "build"), home])
        if not os.path.exists(os.path.join(home, "edu/ucar/metviewer/MVPlots.class")):
            subprocess.run(["javac", "-cp", classes, "-d", home, os.path.join(os.path.dirname(os.path.abspath(__file__)), "MVPlots.java")], check=True)
        with open(log, "w") as f:
            subprocess.run(["java", "-cp", classes, "-Duser.home=" + home, "-Dpython.env=" + o.python, "-Dmetcalcpy.home=" + o.metcalcpy,
                            "-Dmetplotpy.home=" + o.metplotpy, "edu.ucar.metviewer.MVPlots", path], stdout=f, stderr=f)
        if os.path.exists(os.path.join(home, "points.points1")):  # revision_series.py does not use the name of its data
            os.rename(os.path.join(home, "points.points1"), os.path.join(home, name + ".points1"))
        open(os.path.join(home, name + ".done"), "w").close()
    return home, path


def barograph(o, name, path, kind, *flags):
    """Runs ask and returns the header and the rows of all tables that it writes; None if it refuses the format."""
    folder = os.path.join(o.out, "barograph", name)
    os.makedirs(folder, exist_ok=True)
    for old in glob.glob(os.path.join(folder, kind + "*.tsv")):
        os.remove(old)
    out = os.path.join(folder, kind + ".tsv")
    r = subprocess.run([o.barograph, "ask", path, "--engine", o.url, "--design", "normalized", "--format", {"points": "csv"}.get(kind, kind), "--out", out, *flags],
                       capture_output=True, text=True)
    with open(os.path.join(folder, kind + ".log"), "w") as f:
        f.write(f"{r.stderr}exit status {r.returncode}\n")
    tables = [table(x, "," if kind == "points" else "\t") for x in sorted(glob.glob(os.path.join(folder, kind + "*.tsv")))]
    if not tables:
        return None
    return tables[0][0], [row for _, rows in tables for row in rows], tables


def table(path, separator="\t"):
    with open(path, newline="") as f:
        rows = list(csv.reader(f, delimiter=separator))
    return rows[0], [dict(zip(rows[0], row)) for row in rows[1:]]


VALUES = re.compile(r"stat_value|stat_[nb]t?c[lu]|nstats|total|[fou]+bar.*|mae|f[yn]_o[yn]|.*_i|ec_value|n_.*|bin_.*")


def compare_data(theirs, ours, derived_decimals):
    """Compares two tables. It returns the numbers of rows, of rows without data on their side only, and the differences."""
    (head, rows), (our_head, our_rows) = theirs, ours[:2]
    differences = [f"column {c}: only METviewer" for c in head if c not in our_head]  # further columns of Barograph's disturb no reader
    keys = [c for c in head if c in our_head and not VALUES.fullmatch(c)]
    values = [c for c in head if c in our_head and VALUES.fullmatch(c)]

    def grouped(rows):
        found = collections.defaultdict(list)
        for row in rows:
            found[tuple(row[k] for k in keys)].append([number(row[v]) for v in values])
        return {k: sorted(v, key=lambda x: [-math.inf if math.isnan(y) else y for y in x]) for k, v in found.items()}
    a, b = grouped(rows), grouped(our_rows)
    empty = [k for k in a if k not in b and all(math.isnan(y) for x in a[k] for v, y in zip(values, x) if v != "nstats")]
    for k in sorted(set(a) - set(empty) | set(b)):
        if len(a.get(k, [])) != len(b.get(k, [])):
            differences.append(f"{k}: {len(a.get(k, []))} rows, Barograph {len(b.get(k, []))}")
            continue
        derived = any("(" in x and ")" in x for x in k)
        tolerance = 0.51 * 10 ** -(derived_decimals if derived else 7)
        for x, y in zip(a[k], b[k]):
            differences += [f"{k} {v}: {p}, Barograph {q}" for v, p, q in zip(values, x, y) if not same(p, q, tolerance)]
    return len(rows), len(empty), differences


def same(p, q, tolerance):
    return math.isnan(p) and math.isnan(q) or abs(p - q) <= tolerance + 1e-12 * abs(p)


def numbers(line):
    return [float(x) for x in re.split(r"[\s,\[\]]+", line.strip()) if NUMBER.match(x)]


def their_points(template, path):
    """The drawn values as tuples: one value, (x, y), or the three quartiles of a box."""
    lines = [x for x in open(path).read().splitlines() if x.strip()]
    if template in ("performance", "roc"):
        return [tuple(p) for p in dict.fromkeys(tuple(numbers(x)) for x in lines[1:])]  # METplotpy adds (0, 0) to a ROC curve that has it
    if template in ("box_plot", "revision_box_plot"):  # maximum, upper quartile, median, lower quartile, minimum
        quantiles = [numbers(x)[0] for x in lines if NUMBER.match(x.strip())]
        return [tuple(quantiles[i + 1:i + 4]) for i in range(0, len(quantiles), 5)]
    if "#PTS" in lines:
        lines = lines[:lines.index("#PTS")]
    rows = [numbers(x) for x in lines if not re.match(r"[A-Za-z#]", x.strip())]
    if template == "eclv":
        return [(row[1],) for row in rows]
    if template == "rely":
        return [tuple(row[:2]) for row in rows]
    if template == "ens_ss":
        return [tuple(row) for row in rows]
    if template == "contour_plot":
        z = lines[lines.index("Z values (X,Y):") + 1:]
        return [(v,) for x in z for v in numbers(x)]
    if template in ("series_plot", "bar_plot", "equivalence"):
        return [tuple(row[i:i + 3]) for row in rows for i in range(0, len(row), 3)] if template != "bar_plot" else [(v,) for row in rows for v in row]
    return [(v,) for row in rows for v in row]


def our_points(template, tables, ci):
    """The values that Barograph drew, as their_points."""
    points = []
    for _, rows in tables:
        for row in rows:
            x, y, low, high = (number(list(row.values())[i]) for i in (2, 4, 5, 6))
            if template in ("performance", "roc", "rely", "ens_ss"):
                points.append((x, y))
            elif template in ("box_plot", "revision_box_plot"):
                points.append((high, y, low))
            elif template == "series_plot":
                points.append((y, low, high) if ci != "none" else (y, y, y))
            elif template == "equivalence":
                points.append((low, y, high))
            else:
                points.append((y,))
    return points


def compare_points(theirs, ours, tolerance):
    theirs, ours = sorted(x for x in theirs if not math.isnan(x[-1])), sorted(x for x in ours if not math.isnan(x[1 % len(x)]))
    if len(theirs) != len(ours):
        return [f"{len(theirs)} points, Barograph {len(ours)}: {theirs[:3]}, {ours[:3]}"]
    return [f"{p}, Barograph {q}" for p, q in zip(theirs, ours) if not all(same(a, b, tolerance) for a, b in zip(p, q))]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--barograph", default="barograph", help="the program (default: that of the path)")
    for flag in ("url", "metviewer", "metcalcpy", "metplotpy", "python", "out"):
        p.add_argument("--" + flag, required=True)
    p.add_argument("plots", nargs="*", default=list(PLOTS))
    o = p.parse_args()
    print("| plot | template | rows of METviewer's data | equal to `--format metviewer` | points of METplotpy | equal to `--plot` |\n|---|---|---|---|---|---|")
    for name in o.plots:
        plot = PLOTS[name]
        home, path = metviewer(o, name)
        cells, file = [name, f"`{plot['template']}`"], os.path.join(home, name + ".data")
        if not os.path.exists(file):
            cells += ["none", ""]
        else:
            theirs, ours = table(file), barograph(o, name, path, "metviewer")
            if ours is None:
                cells += [str(len(theirs[1])), "refused"]
            else:
                n, empty, differences = compare_data(theirs, ours, 5 if plot.get("boot", 1) == 1 else 7)
                for d in differences[:6]:
                    print(f"{name}: data: {d}", file=sys.stderr)
                cells += [f"{n}, {empty} of them without data" if empty else str(n), "all" if not differences else f"{len(differences)} differences"]
        file = os.path.join(home, name + ".points1")
        template = "equivalence" if name.startswith("equivalence") else plot["template"]
        drawn = barograph(o, name, path, "points", "--plot", os.path.join(o.out, "barograph", name, name + ".png"))
        if not os.path.exists(file):
            cells += ["none", ""]
        elif drawn is None:
            cells += ["", "not drawn"]
        else:
            files = [file] + [x for x in [file[:-1] + "2"] if os.path.exists(x) and plot.get("dep2")]
            theirs = [x for f in files for x in their_points(template, f)]
            ours = our_points(template, drawn[2], plot.get("ci", "none"))
            if template == "rely":  # METplotpy writes the first five points of each curve
                ours = ours[:len(theirs)] if len(plot["series"]) == 1 else ours
            decimals = 4 if template == "performance" else 5 if plot.get("derived") and plot.get("boot", 1) == 1 else 6  # of METplotpy and METcalcpy
            differences = compare_points(theirs, ours, 1.01 * 10 ** -decimals)
            for d in differences[:6]:
                print(f"{name}: points: {d}", file=sys.stderr)
            cells += [str(len(theirs)), "all" if not differences else f"{len(differences)} differences"]
        print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
