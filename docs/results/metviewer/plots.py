"""METviewer plot_specs of every template, about real data, for compare.py.

Each is METviewer's published spec of a series plot with other fields, values, statistics and formatting lists."""
import xml.etree.ElementTree as ET

LEADS = [f"{h}0000" for h in range(12, 121, 12)]
MASKS = ["CONUS", "NHX", "SHX", "TRO"]
G2G = dict(db="mv_g2g", series={"vx_mask": MASKS}, indep=("fcst_lead", LEADS), fix={"fcst_lev": ["P500"]})
TMP = dict(G2G, dep1={"TMP": ["ME", "RMSE"]})
VSDB = dict(db="mv_vsdb", series={"model": ["ECM", "GFS"]}, indep=("fcst_lead", [str(h) for h in range(0, 241, 12)]),
            fix={"fcst_lev": ["P500"], "vx_mask": ["G2/NHX"]}, dep1={"HGT": ["ANOM_CORR"]}, agg="agg_sal1l2")
WIND = dict(db="mv_reg", series={"vx_mask": ["DTC165", "DTC166"]}, indep=("fcst_thresh", ["<5", ">=5"]),
            fix={"fcst_lev": ["Z10"], "model": ["FCST"], "interp_mthd": ["NEAREST"], "interp_pnts": ["1"]})
ENS = dict(db="mv_ens", series={"vx_mask": ["CONUS", "FULL"]}, fix={"fcst_var": ["REFC"], "fcst_lev": ["L0"]})
PROB = dict(db="mv_prob", fix={"fcst_var": ["TMP_ENS_FREQ_ge273"], "fcst_lev": ["Z2"], "fcst_thresh": ["==0.10000"], "obs_thresh": [">=273"]},
            series={"obtype": ["ADPSFC"]})
VALID = [f"2024-10-31 {h}:00:00" for h in ("00", "12")]

PLOTS = {
    "series": dict(TMP, template="series_plot", agg="agg_sl1l2", dep2={"TMP": ["FBAR"]}),
    "series-difference": dict(TMP, template="series_plot", agg="agg_sl1l2", dep1={"TMP": ["RMSE"]}, event_equal=True,
                              difference='list(c("NHX TMP RMSE","SHX TMP RMSE","DIFF"),c("NHX TMP RMSE","SHX TMP RMSE","RATIO"),'
                                         'c("NHX TMP RMSE","SHX TMP RMSE","SS"))', derived=3),
    "series-two-fields": dict(TMP, template="series_plot", agg="agg_sl1l2", dep1={"TMP": ["RMSE"]}, event_equal=True, fix={}, derived=1,
                              series={"vx_mask": ["NHX", "SHX"], "fcst_lev": ["P500", "P850"]}, difference='list(c("NHX P500 TMP RMSE","SHX P500 TMP RMSE","DIFF"))'),
    "series-anomaly": dict(VSDB, template="series_plot"),
    "series-models": dict(VSDB, template="series_plot", event_equal=True, derived=1, difference='list(c("ECM HGT ANOM_CORR","GFS HGT ANOM_CORR","DIFF"))'),
    "series-group": dict(TMP, template="series_plot", agg="agg_sl1l2", series={"vx_mask": ["CONUS", "NHX:SHX"]}),
    "series-bootstrap": dict(TMP, template="series_plot", agg="agg_sl1l2", dep1={"TMP": ["RMSE"]}, boot=500, ci="boot"),
    "series-file": dict(WIND, template="series_plot", dep1={"WIND": ["CSI", "FBIAS"]}),
    "series-records": dict(TMP, template="series_plot", calc="calc_sl1l2"),
    "series-records-groups": dict(TMP, template="series_plot", calc="calc_sl1l2", series={"vx_mask": ["CONUS", "NHX:SHX", "NHX:TRO"]}),
    "series-vector": dict(G2G, template="series_plot", dep1={"UGRD_VGRD": ["VL1L2_BIAS", "VL1L2_RMSVE", "VL1L2_SPEED_ERR"]}, agg="agg_vl1l2"),
    "series-counts": dict(WIND, template="series_plot", dep1={"WIND": ["ACC", "CSI", "FBIAS", "GSS", "PODY"]}, agg="agg_ctc"),
    "series-hours": dict(TMP, template="series_plot", agg="agg_sl1l2", indep=("valid_hour", ["0", "12"])),
    "series-times": dict(TMP, template="series_plot", agg="agg_sl1l2", indep=("fcst_valid_beg", VALID)),
    "series-levels": dict(TMP, template="series_plot", agg="agg_sl1l2", fix={"fcst_lead": ["240000"]},
                          indep=("fcst_lev", ["P1000", "P850", "P500", "P250", "P100"])),
    "series-ensemble": dict(ENS, template="series_plot", dep1={"REFC": ["ECNT_CRPS", "ECNT_RMSE", "ECNT_SPREAD"]}, agg="agg_ecnt",
                            indep=("fcst_lead", [f"{h:d}0000" for h in range(3, 37, 3)]), fix={"fcst_lev": ["L0"]}),
    "series-probability": dict(PROB, template="series_plot", dep1={"TMP_ENS_FREQ_ge293": ["PSTD_RELIABILITY", "PSTD_ROC_AUC", "PSTD_UNCERTAINTY"]}, agg="agg_pct",
                               indep=("fcst_lead", [f"{h:d}0000" for h in range(6, 37, 6)]), fix={"fcst_lev": ["Z2"]}),
    "series-probability-sure": dict(PROB, template="series_plot", dep1={"TMP_ENS_FREQ_ge273": ["PSTD_RELIABILITY", "PSTD_ROC_AUC", "PSTD_UNCERTAINTY"]}, agg="agg_pct",
                                    indep=("fcst_lead", [f"{h:d}0000" for h in range(6, 37, 6)]), fix={"fcst_lev": ["Z2"]}),
    "series-spread-skill": dict(ENS, template="series_plot", dep1={"REFC": ["SSVAR_RMSE", "SSVAR_Spread"]}, agg="agg_ssvar",
                                indep=("fcst_lead", [f"{h:d}0000" for h in range(3, 37, 3)]), fix={"fcst_lev": ["L0"]}),
    "bar": dict(TMP, template="bar_plot", agg="agg_sl1l2", dep1={"TMP": ["RMSE"]}),
    "box": dict(TMP, template="box_plot", calc="calc_sl1l2", dep1={"TMP": ["RMSE"]}, fix={}),
    "box-file": dict(WIND, template="box_plot", dep1={"WIND": ["CSI"]}, fix={"fcst_lev": ["Z10"], "model": ["FCST"]}),
    "contour": dict(TMP, template="contour_plot", agg="agg_sl1l2", dep1={"TMP": ["ME"]}, fix={"vx_mask": ["NHX"]},
                    series={"fcst_lev": ["P1000", "P850", "P500", "P250", "P100"]}),
    "contour-levels": dict(TMP, template="contour_plot", agg="agg_sl1l2", dep1={"TMP": ["ME"]}, fix={"fcst_lead": ["240000"]},
                           indep=("fcst_lev", ["P1000", "P850", "P500", "P250", "P100"])),
    "equivalence": dict(TMP, template="series_plot", calc="calc_sl1l2", dep1={"TMP": ["RMSE"]}, event_equal=True, derived=1,
                        series={"vx_mask": ["NHX", "SHX"]}, difference='list(c("NHX TMP RMSE","SHX TMP RMSE","ETB"))'),
    "equivalence-sums": dict(TMP, template="series_plot", agg="agg_sl1l2", dep1={"TMP": ["RMSE"]}, event_equal=True, derived=1,
                             series={"vx_mask": ["NHX", "SHX"]}, difference='list(c("NHX TMP RMSE","SHX TMP RMSE","ETB"))'),
    "performance": dict(WIND, template="performance", fix=dict(WIND["fix"], fcst_var=["WIND"]), agg="agg_ctc"),
    "taylor": dict(TMP, template="taylor_plot", agg="agg_sl1l2", dep1={"TMP": ["FBAR", "FSTDEV", "OBAR", "OSTDEV", "PR_CORR", "RMSE"]},
                   indep=None, fix={"fcst_lev": ["P500"], "fcst_lead": ["240000"]}),
    "roc": dict(PROB, template="roc", indep=None, roc="roc_pct"),
    "rely": dict(PROB, template="rely", indep=None, agg="agg_pct"),
    "rhist": dict(ENS, template="rhist", indep=None),
    "phist": dict(ENS, template="phist", indep=None),
    "relp": dict(ENS, template="relp", indep=None),
    "ens_ss": dict(ENS, template="ens_ss", indep=None),
    "eclv": dict(WIND, template="eclv", indep=None, fix=dict(WIND["fix"], fcst_var=["WIND"], fcst_thresh=[">=5"])),
    "eclv-counts": dict(WIND, template="eclv", indep=None, agg="agg_ctc", fix=dict(WIND["fix"], fcst_var=["WIND"], fcst_thresh=[">=5"])),
    "revision_series": dict(TMP, template="revision_series_plot", calc="calc_sl1l2", dep1={"TMP": ["ME"]}, indep=("fcst_valid_beg", VALID)),
    "revision_box": dict(TMP, template="revision_box_plot", calc="calc_sl1l2", dep1={"TMP": ["ME"]}, indep=("fcst_valid_beg", VALID)),
}

COLORS = ["#ff0000FF", "#0000ffFF", "#008000FF", "#800080FF", "#ff8000FF", "#00a0a0FF", "#808080FF", "#000000FF"]


def curves(plot):
    if plot["template"] == "contour_plot":
        return 1
    n = sum(map(len, plot.get("dep1", {"": [0]}).values())) + sum(map(len, plot.get("dep2", {}).values()))
    if not plot.get("dep1") or plot["template"] == "taylor_plot":
        n = 2 if plot["template"] == "ens_ss" else 1
    for values in plot["series"].values():
        n *= len(values)
    return n + plot.get("derived", 0)


def spec(name, plot, base, host, user, password, folder, metviewer):
    """Returns the text of the plot_spec."""
    root = ET.parse(base).getroot()

    def put(path, text):
        node = root.find(path)
        if node is None:
            parent, _, tag = path.rpartition("/")
            node = ET.SubElement(root.find(parent), tag)
        node.text = text
        return node

    def fill(path, fields, sets=False):
        node = root.find(path)
        for child in list(node):
            node.remove(child)
        for i, (field, values) in enumerate(fields.items()):
            parent = ET.SubElement(node, "field", {"name": field, "equalize": "false"} if sets else {"name": field})
            if sets:
                parent = ET.SubElement(parent, "set", name=f"{field}_{i}")
            for v in values:
                ET.SubElement(parent, "val").text = v

    for key, text in dict(host=host, database=plot["db"], user=user, password=password, management_system="mariadb").items():
        put("connection/" + key, text)
    for key, text in dict(r_tmpl=metviewer + "/R_tmpl", r_work=metviewer + "/R_work", plots=folder, data=folder, scripts=folder).items():
        put("folders/" + key, text)
    put("plot/template", plot["template"] + ".R_tmpl")
    for axis in ("dep1", "dep2"):
        node = root.find("plot/dep/" + axis)
        for child in list(node):
            node.remove(child)
        for variable, stats in plot.get(axis, {}).items():
            parent = ET.SubElement(node, "fcst_var", name=variable)
            for s in stats:
                ET.SubElement(parent, "stat").text = s
    if not plot.get("dep1"):  # the template determines what is drawn
        root.find("plot").remove(root.find("plot/dep"))
    fill("plot/series1", plot["series"])
    fill("plot/series2", plot["series"] if plot.get("dep2") else {})
    fill("plot/plot_fix", plot["fix"], sets=True)
    node = root.find("plot/indep")
    for child in list(node):
        node.remove(child)
    if plot.get("indep"):
        node.set("name", plot["indep"][0])
        for v in plot["indep"][1]:
            ET.SubElement(node, "val", label=v, plot_val="").text = v
    else:
        root.find("plot").remove(node)
    agg = root.find("plot/agg_stat")
    agg.remove(agg.find("agg_sl1l2"))
    if plot.get("agg"):
        put("plot/agg_stat/" + plot["agg"], "true")
        put("plot/agg_stat/boot_repl", str(plot.get("boot", 1)))
        put("plot/agg_stat/boot_random_seed", "1")
        put("plot/agg_stat/boot_ci", "perc")
    else:
        root.find("plot").remove(agg)
    if plot.get("calc"):
        ET.SubElement(root.find("plot"), "calc_stat")
        put("plot/calc_stat/" + plot["calc"], "true")
    if plot.get("roc"):
        ET.SubElement(root.find("plot"), "roc_calc")
        for key in ("roc_pct", "roc_ctc"):
            put("plot/roc_calc/" + key, str(key == plot["roc"]).lower())
    if plot["template"] == "rely":
        put("plot/rely_event_hist", "true")
    if plot["template"].startswith("revision"):
        ET.SubElement(root.find("plot"), "revis_stat")
        for key in ("revision_ac", "revision_run"):  # METcalcpy's test fails for a box of few revisions
            put("plot/revis_stat/" + key, str(plot["template"] == "revision_series_plot").lower())
    axes = [" ".join(x for stats in plot.get(axis, {}).values() for x in stats) for axis in ("dep1", "dep2")]
    for key, text in dict(y1_label=axes[0], y2_label=axes[1], data_file=name + ".data", plot_file=name + ".png", r_file=name + ".R", title=name,
                          listdiffseries1=plot.get("difference", "list()")).items():
        put("plot/tmpl/" + key, text)
    put("plot/event_equal", str(plot.get("event_equal", False)).lower())
    n = curves(plot)
    put("plot/dump_points1", "true")
    put("plot/y2_lim", "c()")
    for key, value in dict(plot_ci=f'"{plot.get("ci", "none")}"', show_signif="FALSE", plot_disp="TRUE", pch="20", type='"b"', lty="1",
                           lwd="1", con_series="1", legend='""').items():
        put("plot/" + key, "c(" + ",".join([value] * n) + ")")
    put("plot/colors", "c(" + ",".join(f'"{COLORS[i % len(COLORS)]}"' for i in range(n)) + ")")
    put("plot/order_series", "c(" + ",".join(str(i + 1) for i in range(n)) + ")")
    return ET.tostring(root, encoding="unicode")
