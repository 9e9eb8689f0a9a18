package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/engine/all"
)

// plotsDrawn are plots of every supported template, from the real files: the template, the fixed
// values, and the rest of the plot. A scorecard is missing, because it needs two models and the day
// has one.
var plotsDrawn = []struct{ name, template, fix, rest string }{
	{"series", "series_plot", "model=GFS fcst_lev=P500", curves + byLeads + sums},
	{"bar", "bar_plot", "model=GFS fcst_lev=P500", curves + byLeads + sums},
	{"box", "box_plot", "model=GFS fcst_lev=P500", curves + byLeads + `<calc_stat><calc_sl1l2>true</calc_sl1l2></calc_stat>`},
	{"contour", "contour_plot", "model=GFS vx_mask=NHX", `<dep><dep1><fcst_var name="TMP"><stat>RMSE</stat></fcst_var></dep1></dep><series1><field name="fcst_lev"><val>P1000</val><val>P500</val><val>P850</val></field></series1>` + byLeads + sums},
	{"taylor", "taylor_plot", "model=GFS fcst_lev=P500", curves},
	{"performance", "performance", "fcst_var=edr", `<series1><field name="model"><val>GTG</val></field></series1><indep name="fcst_thresh"/><agg_stat><agg_ctc>true</agg_ctc></agg_stat>`},
	{"roc", "roc", "fcst_var=WIND_ENS_FREQ_ge5 obs_thresh=>=5", ensemble("_prob") + `<roc_calc><roc_pct>true</roc_pct></roc_calc>`},
	{"reliability", "rely", "fcst_var=WIND_ENS_FREQ_ge5", ensemble("_prob") + `<agg_stat><agg_pct>true</agg_pct></agg_stat>`},
	{"rhist", "rhist", "fcst_var=HGT", ensemble("")},
	{"phist", "phist", "fcst_var=HGT", ensemble("")},
	{"relp", "relp", "fcst_var=HGT", ensemble("")},
	{"eclv", "eclv", "fcst_var=edr", `<series1><field name="model"><val>GTG</val></field></series1>`},
	{"spread skill", "ens_ss", "fcst_var=HGT", ensemble("")},
	{"objects", "bar_plot", "fcst_rad=2", `<dep><dep1><fcst_var name="APCP_06"><stat>CNT_FAA</stat></fcst_var></dep1></dep><series1><field name="model"><val>FCST</val></field></series1><indep name="fcst_lead"/>`},
}

const (
	curves  = `<dep><dep1><fcst_var name="TMP"><stat>RMSE</stat></fcst_var></dep1></dep><series1><field name="vx_mask"><val>NHX</val><val>SHX</val></field></series1>`
	byLeads = `<indep name="fcst_lead"/>`
	sums    = `<agg_stat><agg_sl1l2>true</agg_sl1l2><boot_repl>1000</boot_repl><boot_random_seed>1</boot_random_seed><boot_ci>perc</boot_ci></agg_stat><plot_ci>c("boot","boot","boot")</plot_ci>`
)

func ensemble(kind string) string {
	return `<series1><field name="model"><val>RRFS_GEFS_GF.SPP.SPPT` + kind + `</val></field></series1>`
}

// BenchmarkPlots measures the complete command from plot XML to picture, for each template, with
// intervals of 1,000 replicates where METviewer has them. It uses DuckDB, or the engine's URL in
// BAROGRAPH_PLOTS (MariaDB: under the normalized design).
func BenchmarkPlots(b *testing.B) {
	root := os.Getenv("BAROGRAPH_DATA")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared", "data")
	}
	stat := filepath.Join(root, "met", "stat")
	packed, _ := filepath.Glob(filepath.Join(stat, "g2g*.tar.xz"))
	if packed == nil {
		b.Skip("no real files: set BAROGRAPH_DATA to a folder with met/stat")
	}
	dir := b.TempDir()
	if out, err := exec.CommandContext(b.Context(), "tar", "-C", dir, "-xf", packed[0]).CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	engine := os.Getenv("BAROGRAPH_PLOTS")
	if engine == "" {
		engine = "duckdb:" + filepath.Join(dir, "a.db")
	}
	command := func(args ...string) string {
		var out, errs bytes.Buffer
		if status := execute(b.Context(), &env{args: args, stdin: strings.NewReader(""), stdout: &out, stderr: &errs, engines: all.Registry()}); status != 0 {
			b.Fatalf("barograph %s: status %d\n%s", strings.Join(args, " "), status, errs.String())
		}
		return errs.String()
	}
	command("load", dir, filepath.Join(stat, "ensemble"), filepath.Join(stat, "point_stat_prob"), filepath.Join(stat, "misc"), "--engine", engine, "--design", "normalized", "--on-conflict", "last")
	for _, p := range plotsDrawn {
		file, picture := filepath.Join(dir, "plot.xml"), filepath.Join(dir, "plot.svg")
		b.Run(p.name, func(b *testing.B) {
			if err := os.WriteFile(file, []byte(plotSpec(p.template, p.fix, p.rest)), 0o600); err != nil {
				b.Fatal(err)
			}
			var took []time.Duration
			for b.Loop() {
				start := time.Now()
				if output := command("ask", file, "--engine", engine, "--design", "normalized", "--plot", picture, "--out", filepath.Join(dir, "rows")); !strings.Contains(output, "plot written") {
					b.Fatalf("nothing was drawn:\n%s", output)
				}
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1e3, "ms-median")
		})
	}
}

// plotSpec writes a plot_spec; fix lists names and values as field=value.
func plotSpec(template, fix, rest string) string {
	var fields strings.Builder
	for f := range strings.FieldsSeq(fix) {
		name, value, _ := strings.Cut(f, "=")
		fmt.Fprintf(&fields, `<field name="%s"><set name="%s"><val>%s</val></set></field>`, name, name, strings.ReplaceAll(value, ">", "&gt;"))
	}
	return "<plot_spec><plot><template>" + template + ".R_tmpl</template><plot_fix>" + fields.String() + "</plot_fix>" + rest + "</plot></plot_spec>"
}
