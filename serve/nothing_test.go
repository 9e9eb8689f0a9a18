package serve_test

import (
	"context"
	"encoding/csv"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/serve"
)

// TestNothing: a request for something that does not exist returns 404, with a sentence that lists
// what exists.
func TestNothing(t *testing.T) {
	dir := t.TempDir()
	moved := filepath.Join(dir, "moved.pebble")
	if err := os.CopyFS(moved, os.DirFS(loadArchive(t, dir))); err != nil {
		t.Fatal(err)
	}
	runs := filepath.Join(dir, "runs")
	finishRun(t, runs, "done", "d", map[string]map[string]float64{"pebble": {"test_1": 1}})
	p := newPage(t, filepath.Join(dir, "two.pebble"), moved, runs)
	if err := os.Rename(moved, moved+".old"); err != nil {
		t.Fatal(err)
	}
	const none, noModel = where + "&model=ICON", "no SAL1L2 has model ICON; the archive has ECM, GFS"
	for path, want := range map[string]string{
		"curve.csv?" + none: noModel, "curve.svg?" + none: noModel, "curve.parquet?" + none: noModel, "rows.csv?" + none: noModel, "rows.parquet?" + none: noModel, "question.xml?" + none: noModel,
		"curve.svg?" + where + "&fcst_lead=999": "lead", "curve.svg?" + where + "&picture=bar&model=ICON": noModel,
		"curve?archive=two.pebbel&line_type=SAL1L2":                                 "two.pebble",
		"curve?archive=two.pebble&case=/etc/passwd.yaml":                            "test_1",
		"curve?archive=moved.pebble&line_type=SAL1L2":                               "moved.pebble was moved or deleted",
		"inventory?archive=moved.pebble":                                            "moved.pebble was moved or deleted",
		"cells?run=runs%2Fnix":                                                      "runs/nix is not served",
		"quarantine?folder=runs&name=nix":                                           "runs/nix is not served",
		"events?folder=nix&name=done":                                               "nix/done is not served",
		"scorecard?archive=two.pebble&line_type=SAL1L2&candidate=ECM&baseline=ICON": "no SAL1L2 of the archive has both model ECM and ICON",
	} {
		if status, text := p.get("/api/v1/"+path, nil); status != http.StatusNotFound || !strings.Contains(text, want) {
			t.Errorf("%s: %d %.300s", path, status, text)
		}
	}
	var asked serve.CurveReply // the page still shows the question
	if status, text := p.get("/api/v1/curve?"+none, &asked); status != http.StatusOK || asked.Absent != noModel || asked.Question.Get("model") != "ICON" {
		t.Error(status, text)
	}
	if status, text := p.get("/api/v1/question.yaml?"+none, nil); status != http.StatusOK || !strings.Contains(text, "ICON") {
		t.Error(status, text)
	}
}

// TestVanishedFolder: the list of runs names a folder that was removed after the start.
func TestVanishedFolder(t *testing.T) {
	runs := filepath.Join(t.TempDir(), "runs")
	finishRun(t, runs, "done", "d", map[string]map[string]float64{"pebble": {"test_1": 1}})
	p := newPage(t, runs)
	if err := os.Rename(runs, runs+".old"); err != nil {
		t.Fatal(err)
	}
	var all []serve.Run
	if status, text := p.get("/api/v1/runs", &all); status != http.StatusOK || len(all) != 1 || !strings.Contains(all[0].Problem, "no such file") {
		t.Error(status, text)
	}
}

// TestLinksLeadNowhere: of a run folder from elsewhere, the page serves no file and no archive outside the folder.
func TestLinksLeadNowhere(t *testing.T) {
	dir := t.TempDir()
	runs, secret := filepath.Join(dir, "runs"), filepath.Join(dir, "secret.csv")
	finishRun(t, runs, "one", "d", map[string]map[string]float64{"pebble": {"test_1": 1}})
	if err := os.WriteFile(secret, []byte(`{"seq":1,"secret":true}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	one := filepath.Join(runs, "one")
	for link, to := range map[string]string{"events.jsonl": secret, "samples.csv": secret, "quarantine.csv": secret, "archives": dir} {
		if err := os.RemoveAll(filepath.Join(one, link)); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, filepath.Join(one, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"plan", "plans", "sizes", "pipe"} {
		finishRun(t, runs, name, "d", map[string]map[string]float64{"pebble": {"test_1": 1}})
	}
	at := func(names ...string) string { return filepath.Join(append([]string{runs}, names...)...) }
	elsewhere := filepath.Join(dir, "elsewhere")
	finishRun(t, dir, "elsewhere", "secret", map[string]map[string]float64{"pebble": {"test_1": 1}})
	err := errors.Join(
		os.WriteFile(filepath.Join(elsewhere, "x.txt"), []byte("secret"), 0o600),
		os.Mkdir(at("plan", "plans"), 0o700), os.Symlink(secret, at("plan", "plans", "x.txt")),
		os.Symlink(elsewhere, at("plans", "plans")),
		os.Symlink(elsewhere, at("sizes", "x1")), os.Symlink(elsewhere, at("sizes", "x2")),
		os.Remove(at("pipe", "events.jsonl")), syscall.Mkfifo(at("pipe", "events.jsonl"), 0o600),
		syscall.Mkfifo(at("pipe", "quarantine.csv"), 0o600), syscall.Mkfifo(at("pipe", "x.txt"), 0o600), syscall.Mkfifo(at("pipe", "archives"), 0o600),
	)
	if err != nil {
		t.Fatal(err)
	}
	loadArchive(t, dir) // an archive outside the folder
	p := newPage(t, runs)
	for _, path := range []string{
		"/runs/runs/one/samples.csv", "/api/v1/quarantine?folder=runs&name=one", "/api/v1/events?folder=runs&name=one", "/api/v1/home",
		"/runs/runs/one/report.html", "/runs/runs/plan/report.html", "/runs/runs/plan/plans/x.txt", "/runs/runs/plans/report.html",
		"/runs/runs/plans/plans/x.txt", "/runs/runs/sizes/report.html", "/runs/runs/sizes/x1/x.txt", "/compare.html?run=runs%2Fplan&run=runs%2Fsizes",
		"/runs/runs/pipe/report.html", "/runs/runs/pipe/x.txt", "/api/v1/quarantine?folder=runs&name=pipe",
		"/api/v1/events?folder=runs&name=pipe", "/api/v1/runs", "/api/v1/cells?run=runs%2Fpipe",
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // a stream of events would not end
		r := p.begin(p.client, http.MethodGet, path, func(r *http.Request) { *r = *r.WithContext(ctx) })
		text, err := io.ReadAll(r.Body)
		cancel()
		r.Body.Close()
		if err != nil || strings.Contains(string(text), "secret") || strings.Contains(string(text), "two.pebble") {
			t.Errorf("%s: %s %.200s, %v", path, r.Status, text, err)
		}
	}
}

// TestInterruptedSteps: the list of runs shows the last step of an interrupted run, and its size if it has one.
func TestInterruptedSteps(t *testing.T) {
	runs := t.TempDir()
	for id, size := range map[string]int64{"sized": 9, "message": 0} {
		f, err := run.Create(filepath.Join(runs, id), run.Run{ID: id, Workload: "own", Started: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(f.AddEvent(run.Event{Kind: run.StepEvent, Text: "timing", Done: size / 4, Total: size}), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	p := newPage(t, runs)
	var all []serve.Run
	if status, text := p.get("/api/v1/runs", &all); status != http.StatusOK || len(all) != 2 {
		t.Fatal(status, text)
	}
	for _, r := range all {
		if want := map[string]string{"sized": "timing, 2 of 9", "message": "timing"}[r.ID]; r.At != want || r.State != run.Interrupted {
			t.Errorf("%s is %s at %q, not %q", r.ID, r.State, r.At, want)
		}
	}
}

// TestEqualsSignInName: the name of an archive may contain an equals sign.
func TestEqualsSignInName(t *testing.T) {
	dir := t.TempDir()
	if err := os.Rename(loadArchive(t, dir), filepath.Join(dir, "a=b.pebble")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	p := newPage(t, "a=b.pebble")
	var home serve.Home
	if status, text := p.get("/api/v1/home", &home); status != http.StatusOK || len(home.Archives) != 1 || home.Archives[0].Archive != "a=b.pebble" || home.Archives[0].Records == 0 {
		t.Error(status, text)
	}
}

// TestCommandOfAStranger: the URL of a question may come from a stranger. The shell command for it runs only
// Barograph, and its files are in the current folder.
func TestCommandOfAStranger(t *testing.T) {
	p := newPage(t, loadArchive(t, t.TempDir()))
	for _, name := range []string{"$(touch x)", "x; touch y", "../../x", "-rf", "`id`", "a\nb", "'"} {
		path := where + "&name=" + url.QueryEscape(name) + "&model=" + url.QueryEscape("GFS\nEND\ntouch z\n")
		r := p.do(p.client, http.MethodGet, "/api/v1/question.sh?"+path, nil)
		first, rest, _ := strings.Cut(string(r.text), "\n")
		_, command, _ := strings.Cut(rest, "\nEND\n")
		if !regexp.MustCompile(`^cat > [A-Za-z0-9_][A-Za-z0-9_.-]*\.yaml <<'END'$`).MatchString(first) {
			t.Errorf("name %q: the command begins with %q", name, first)
		}
		if !regexp.MustCompile(`^barograph ask [A-Za-z0-9_][A-Za-z0-9_.-]*\.yaml --engine [^\n]*\n$`).MatchString(command) {
			t.Errorf("name %q: the command ends with %q", name, command)
		}
		header := r.Header.Get("Content-Disposition")
		if !regexp.MustCompile(`^attachment; filename="[A-Za-z0-9_][A-Za-z0-9_.-]*\.sh"$`).MatchString(header) {
			t.Errorf("name %q: Content-Disposition is %q", name, header)
		}
	}
}

// TestFolderOfOneRun: a run folder that was itself named has a report, and the report's files.
func TestFolderOfOneRun(t *testing.T) {
	dir := t.TempDir()
	finishRun(t, dir, "one", "d", map[string]map[string]float64{"pebble": {"test_1": 1}})
	p := newPage(t, filepath.Join(dir, "one"))
	for path, want := range map[string]int{"report.html": 200, "samples.csv": 200, "run.json": 404, "two/report.html": 404} {
		if status, text := p.get("/runs/one/"+path, nil); status != want {
			t.Errorf("%s: %d %.200s", path, status, text)
		}
	}
	b := newBrowser(t)
	b.open(p.s.URL())
	b.until(`document.querySelector('main a[href*="report.html"]')`)
	if status := b.text(`fetch(document.querySelector('main a[href*="report.html"]').href).then(r => r.status)`); status != "200" {
		t.Errorf("the page's link to the report has status %s", status)
	}
}

// TestFiles tests statement 13: downloads contain the same numbers as the screen.
func TestFiles(t *testing.T) {
	p := newPage(t, loadArchive(t, t.TempDir()))
	const drawing = where + "&axis=fcst_lead&series=model"
	var drawn serve.CurveReply
	p.get("/api/v1/curve?"+drawing+"&intervals=1", &drawn)
	rows := func(path string) [][]string {
		_, text := p.get(path, nil)
		all, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if err != nil || len(all) < 2 {
			t.Fatal(len(all), err)
		}
		return all[1:]
	}
	points := rows("/api/v1/curve.csv?" + drawing)
	for _, s := range drawn.Curves.Series {
		for i, x := range s.X {
			for k, want := range []float64{x, float64(s.Records[i]), s.Y[i], s.Low[i], s.High[i]} {
				if got, err := strconv.ParseFloat(points[0][2+k], 64); err != nil || got != want || points[0][1] != s.Name {
					t.Fatalf("%v: %v, not %v (%v)", points[0], got, want, err)
				}
			}
			points = points[1:]
		}
	}
	if n := len(rows("/api/v1/rows.csv?" + drawing)); len(points) > 0 || n != drawn.Rows {
		t.Errorf("%d points more, %d rows of %d", len(points), n, drawn.Rows)
	}
}

// TestURLs tests part of statement 11: the URL of each of the seven cases, written out, is short.
// It contains no token and no time that depends on today.
func TestURLs(t *testing.T) {
	cases, err := question.Cases()
	if err != nil || len(cases) != 7 {
		t.Fatal(len(cases), err)
	}
	for _, q := range cases {
		v := question.URLQuery(q)
		v.Del("name")
		v.Del("title")
		for key, value := range map[string]string{"archive": "archive.duckdb", "design": "normalized", "subset": "archive", "axis": "fcst_lead", "series": "model,vx_mask", "tab": "asked"} {
			v.Set(key, value)
		}
		if long := "http://127.0.0.1:65535/explore?" + v.Encode(); len(long) >= 600 || strings.Contains(long, "token") || strings.Contains(long, "now") {
			t.Errorf("%s: %d characters: %s", q.Name, len(long), long)
		}
	}
}
