package serve_test

import (
	"bytes"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/formats/metviewer"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/results/plot"
	"github.com/barograph/barograph/results/report"
	"github.com/barograph/barograph/serve"
	"github.com/barograph/barograph/study/synth"
)

// TestTaken tests statement 12: the question as YAML and as plot XML draws the picture that the
// page downloads. cmd/barograph tests the shell command.
func TestTaken(t *testing.T) {
	file := loadArchive(t, t.TempDir())
	p := newPage(t, file)
	takenOf(t, p, where, []string{
		"&version=V01", "&axis=fcst_lead&series=model", "&axis=valid_hour&series=model,fcst_lead&fcst_lead=24,48", "&series=model&axis=fcst_lead&event_equal=true&fcst_valid_beg=2024-01-01..2024-01-03/12h",
		"&stat=RMSFA&model=GFS&valid_hour=0,12&fcst_valid_beg=2024-01-01..2024-01-03", "&stat=ANOM_CORR&axis=fcst_valid_beg&fcst_lead=24", "&minus=GFS&series=model",
		"&axis=fcst_lead&series=model&seed=2", "&seed=2", "&picture=box&series=model", "&picture=bar", "&picture=contour&series=model", "&picture=revision&series=model",
	})
	p = newPage(t, loadEnsembles(t, t.TempDir()))
	takenOf(t, p, pictured, []string{"&picture=reliability&series=model", "&picture=roc&model=A", "&picture=eclv"})
	p = newPage(t, p.file)
	takenOf(t, p, "archive=ranks.pebble&line_type=RHIST&fcst_var=APCP", []string{"&picture=rank_histogram&series=model"})
}

// takenOf downloads the questions of a page, closes the page, and draws them.
func takenOf(t *testing.T, p *page, where string, drawings []string) {
	t.Helper()
	pictures := map[string][3][]byte{} // by drawing: those of the page, of the YAML and of the XML
	for _, drawing := range drawings {
		q := where + drawing
		var all [3][]byte
		for i, path := range []string{"curve.svg", "question.yaml", "question.xml"} {
			r := p.do(p.client, http.MethodGet, "/api/v1/"+path+"?"+q, nil)
			if all[i] = r.text; r.StatusCode != http.StatusOK && (i != 2 || !strings.Contains(drawing, "minus")) {
				t.Fatalf("%s?%s: %s %s", path, q, r.Status, r.text)
			}
		}
		pictures[drawing] = all
	}
	if err := p.s.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, "pebble:"+p.file, engine.Options{ReadOnly: true}, func(a archive.Archive) {
		for drawing, all := range pictures {
			qs, err := question.Parse("x.yaml", all[1])
			if err != nil {
				t.Fatalf("%v\n%s", err, all[1])
			}
			if strings.Contains(drawing, "minus") {
				if !strings.Contains(string(all[2]), "cannot express differences") {
					t.Errorf("%s", all[2])
				}
			} else {
				spec, err := metviewer.ParsePlotSpec(qs[0].Name+".xml", all[2])
				if err != nil {
					t.Fatalf("%v\n%s", err, all[2])
				}
				more, notes := question.FromPlots(spec)
				if qs = append(qs, more...); len(more) != 1 || len(notes) > 0 {
					t.Fatalf("%s: %d questions, %v\n%s", drawing, len(more), notes, all[2])
				}
			}
			for i, q := range qs {
				if svg, err := report.Curves(drawQuestion(t, a, q), plot.SVG); err != nil || string(svg) != string(all[0]) {
					t.Errorf("%s: %s draws another picture (%v)\n%s\n%s", drawing, []string{"YAML", "XML"}[i], err, all[1+i], svg)
				}
			}
		}
	})
}

// TestVersions checks a scorecard of two versions of one model, and the query configurations of two
// archives with the same content.
func TestVersions(t *testing.T) {
	dir := t.TempDir()
	day := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	var files []string
	for seed := range uint64(2) {
		for _, file := range writeFiles(t, filepath.Join(dir, fmt.Sprint(seed)), synth.VSDB{Seed: seed, From: day, To: day.AddDate(0, 0, 2), Models: []string{"gfs"}, StatTypes: []string{"anom"}}) {
			text, err := os.ReadFile(file)
			if err == nil && seed == 1 {
				err = os.WriteFile(file, bytes.ReplaceAll(text, []byte("V01 "), []byte("V02 ")), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, file)
		}
	}
	for _, name := range []string{"a.pebble", "b.pebble"} {
		fillArchive(t, filepath.Join(dir, name), files)
	}
	p := newPage(t, filepath.Join(dir, "a.pebble"), filepath.Join(dir, "b.pebble"))
	const of = "?archive=a.pebble&line_type=SAL1L2&fcst_var=HGT&fcst_lev=P500"
	_, text := p.get("/api/v1/scorecard"+of+"&by=version&candidate=V02&baseline=V01", nil)
	if rows := strings.Count(text, "\n"); rows != 5 || !regexp.MustCompile(`"model":"GFS".*"n":12,"value":-?0\.[0-9]+.*"p":[0-9]`).MatchString(text) {
		t.Errorf("%d rows: %.400s", rows, text)
	}
	var ways []serve.Alternative
	if status, text := p.get("/api/v1/faster"+of, &ways); status != http.StatusOK || len(ways) != 4 {
		t.Error(status, text)
	}
	for _, w := range ways {
		if w.Problem != "" || w.MS == 0 || w.Rows == 0 {
			t.Errorf("%+v", w)
		}
	}
}

// TestPatterns: a variable PROB(…*…) selects the matching variables of the archive, as in
// METviewer.
func TestPatterns(t *testing.T) {
	dir := t.TempDir()
	loadEnsembles(t, dir)
	text, err := os.ReadFile(filepath.Join(dir, "ensembles.stat"))
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, name := range []string{"PROB(APCP_03>0.1)", "PROB(APCP_03>1)", "PROB(APCP_06>1)"} {
		files = append(files, filepath.Join(dir, fmt.Sprintf("%d.stat", len(files))))
		if err := os.WriteFile(files[len(files)-1], bytes.ReplaceAll(text, []byte("APCP"), []byte(name)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	fillArchive(t, filepath.Join(dir, "prob.pebble"), files)
	p := newPage(t, filepath.Join(dir, "prob.pebble"))
	of := func(name string) string {
		return "?archive=prob.pebble&line_type=PCT&stat=PSTD_RELIABILITY&axis=fcst_lead&fcst_var=" + url.QueryEscape(name)
	}
	var drawn serve.CurveReply
	if status, text := p.get("/api/v1/curve"+of("PROB(APCP_03>*)"), &drawn); status != http.StatusOK || drawn.Rows != 12 || !slices.Equal(drawn.Question["fcst_var"], []string{"PROB(APCP_03>0.1)", "PROB(APCP_03>1)"}) {
		t.Error(status, text)
	}
	for _, path := range []string{"curve.csv", "curve.svg", "rows.csv", "asked", "faster", "question.yaml", "question.xml", "question.sh"} {
		if status, text := p.get("/api/v1/"+path+of("PROB(APCP_03>*)"), nil); status != http.StatusOK || len(text) == 0 || strings.HasPrefix(path, "question") && !strings.Contains(html.UnescapeString(text), "PROB(APCP_03>*)") {
			t.Error(path, status, text)
		}
	}
	drawn = serve.CurveReply{}
	if status, text := p.get("/api/v1/curve"+of("PROB(TMP>*)"), &drawn); status != http.StatusOK || drawn.Absent != "no PCT has fcst_var PROB(TMP>*); the archive has PROB(APCP_03>0.1), PROB(APCP_03>1), PROB(APCP_06>1)" {
		t.Error(status, drawn.Absent, text)
	}
}

// TestSeriesWithoutDifference: a scorecard omits a level at which the two models have records, but not over the same region.
func TestSeriesWithoutDifference(t *testing.T) {
	dir := t.TempDir()
	text := ""
	for _, group := range []string{"A P250 G2/TRO", "A P500 G2/NHX", "B P250 G2/NHX", "B P500 G2/NHX", "B P500 G2/TRO"} {
		w := strings.Fields(group)
		text += "V01 " + w[0] + " 24 2024010100 OWN " + w[2] + " SL1L2 TMP " + w[1] + " = 1 2 3 4 5 6\n"
	}
	file := filepath.Join(dir, "models.vsdb")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	fillArchive(t, filepath.Join(dir, "a.pebble"), []string{file})
	p := newPage(t, filepath.Join(dir, "a.pebble"))
	status, text := p.get("/api/v1/scorecard?archive=a.pebble&line_type=SL1L2&candidate=A&baseline=B", nil)
	if status != http.StatusOK || strings.Count(text, "\n") != 1 || !strings.Contains(text, `"fcst_lev":"P500","vx_mask":"G2/NHX"`) {
		t.Errorf("%d: %.400s", status, text)
	}
}
