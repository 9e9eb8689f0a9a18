package main

import (
	"bytes"
	"context"
	"fmt"
	neturl "net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/all"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
)

// calls counts the calls of archives.
type calls struct{ queries, catalogs, subsets int }

type countedArchives struct {
	archive.Database
	n *calls
}

func (c countedArchives) Open(ctx context.Context, n design.Name) (archive.Archive, error) {
	a, err := c.Database.Open(ctx, n)
	return countedArchive{a, c.n}, err
}

type countedArchive struct {
	archive.Archive
	n *calls
}

func (c countedArchive) Ask(ctx context.Context, q *archive.Query, to *answer.Builder) error {
	c.n.queries++
	return c.Archive.Ask(ctx, q, to)
}

func (c countedArchive) Catalog(ctx context.Context, subset string) (*design.Catalog, error) {
	c.n.catalogs++
	return c.Archive.Catalog(ctx, subset)
}

func (c countedArchive) Subsets(ctx context.Context) ([]string, error) {
	c.n.subsets++
	return c.Archive.Subsets(ctx)
}

// TestPlotsWithoutRecords: the archive has no record for any of a plot's 720 questions. Then ask
// runs no query, reads the catalog once, and prints one line for each line type.
func TestPlotsWithoutRecords(t *testing.T) {
	dir := t.TempDir()
	data, url := filepath.Join(dir, "data"), "sqlite:"+filepath.Join(dir, "a.db")
	must(t, "synth", "vsdb", "--since", "2024-01-01", "--models", "gfs", "--stattypes", "anom", "--out", data)
	must(t, "load", data, "--engine", url)
	var n calls
	drivers := slices.Clone(all.Registry())
	for i := range drivers {
		open := drivers[i].Open
		drivers[i].Open = func(ctx context.Context, u *neturl.URL, o engine.Options) (*engine.Engine, error) {
			e, err := open(ctx, u, o)
			if err == nil {
				e.Abilities = slices.Insert(e.Abilities, 0, any(countedArchives{archive.DatabaseOf(e), &n}))
			}
			return e, err
		}
	}
	var masks, hours strings.Builder
	for i := range 15 {
		fmt.Fprintf(&masks, `<set name="m%d"><val>M%d</val></set>`, i, i)
	}
	for h := range 24 {
		fmt.Fprintf(&hours, `<set name="h%d"><val>%02d</val></set>`, h, h)
	}
	spec := filepath.Join(dir, "plots.xml")
	text := `<plot_spec><plot><template>series_plot.R_tmpl</template><dep><dep1><fcst_var name="TMP"><stat>ANOM_CORR</stat><stat>CSI</stat></fcst_var></dep1></dep>
		<indep name="fcst_lead"><val>240000</val></indep><agg_stat><agg_sal1l2>true</agg_sal1l2><agg_ctc>true</agg_ctc></agg_stat>
		<plot_fix><field name="vx_mask">` + masks.String() + `</field><field name="init_hour">` + hours.String() + `</field></plot_fix></plot></plot_spec>`
	if err := os.WriteFile(spec, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ask := func(more ...string) (status int, lines []string) {
		var out, errs bytes.Buffer
		n = calls{}
		args := append([]string{"ask", spec, "--engine", url, "--plot", filepath.Join(dir, "p.svg")}, more...)
		status = execute(t.Context(), &env{args: args, stdout: &out, stderr: &errs, engines: drivers})
		return status, strings.Split(strings.TrimSpace(out.String()+errs.String()), "\n")
	}
	status, lines := ask()
	if status != fault.Incomplete || len(lines) != 2 || !strings.HasPrefix(lines[0], "barograph: 360 of 720 questions, line type CTC: no record matches") || !strings.Contains(lines[1], "360 of 720 questions, line type SAL1L2") {
		t.Errorf("status %d, %d lines: %.500s", status, len(lines), lines)
	}
	if n.queries != 0 || n.catalogs > 1 || n.subsets > 2 {
		t.Errorf("%+v", n)
	}
	ask("--where", "vx_mask=G2/NHX", "--where", "fcst_var=HGT")
	if n.queries == 0 { // these questions have records, so ask queries the archive
		t.Error("no question was asked")
	}
}
