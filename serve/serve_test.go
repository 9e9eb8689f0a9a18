package serve_test

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/pebble"
	"github.com/barograph/barograph/formats/metstat"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/curve"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/serve"
	"github.com/barograph/barograph/study/synth"

	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/question"
)

var registry = engine.Registry{pebble.Driver()}

// makeFiles writes the files of two models for the days from … to, counted from 2024-01-01 as 0.
func makeFiles(t *testing.T, dir string, from, to int) (paths []string) {
	t.Helper()
	day := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	return writeFiles(t, dir, synth.VSDB{Seed: 1, From: day.AddDate(0, 0, from), To: day.AddDate(0, 0, to), Models: []string{"gfs", "ecm"}, StatTypes: []string{"anom"}})
}

func writeFiles(t *testing.T, dir string, of synth.VSDB) (paths []string) {
	t.Helper()
	files, err := of.Files()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := synth.WriteAll(t.Context(), dir, files, 2, func(int64) {}); err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			paths = append(paths, p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// loadArchive creates an archive of two models over five days.
func loadArchive(t *testing.T, dir string) (file string) {
	t.Helper()
	file = filepath.Join(dir, "two.pebble")
	fillArchive(t, file, makeFiles(t, filepath.Join(dir, "data"), 0, 4))
	return file
}

// pictured selects probabilities from the archive of ensembles.
const pictured = "archive=ranks.pebble&line_type=PCT&fcst_var=APCP"

// loadEnsembles creates an archive of probabilities and ranks of two models.
func loadEnsembles(t *testing.T, dir string) (file string) {
	t.Helper()
	text := metstat.AppendHeader(nil)
	for lineType, line := range map[string][2][]float64{
		"PCT":   {{300, 5}, {0, 10, 90, 0.25, 30, 50, 0.5, 50, 20, 0.75, 40, 10, 1}},
		"RHIST": {{300, 6}, {70, 40, 35, 35, 45, 75}},
	} {
		for i, model := range []string{"A", "B"} {
			b, h := &record.Batch{}, record.DefaultHeader()
			b.Type, _ = record.TypeByName(lineType)
			b.Reset(b.Type, "")
			h[record.Version], h[record.Model], h[record.FcstVar], h[record.ObsVar], h[record.VxMask] = "V12.0.0", model, "APCP", "APCP", "FULL"
			for day := range int64(3) {
				b.AppendTimes(b.AddHeader(h), 24*3600, (19723+day)*86400, uint32(day))
				for k, x := range line[0] {
					b.Num[k] = append(b.Num[k], x)
				}
				b.Group = append(b.Group, line[1]...)
				b.Group[len(b.Group)-5+2*i] += float64(day) // makes the counts differ
				b.GroupEnd = append(b.GroupEnd, uint32(len(b.Group)))
				text = metstat.AppendLine(text, b, int(day))
			}
		}
	}
	path := filepath.Join(dir, "ensembles.stat")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(dir, "ranks.pebble")
	fillArchive(t, file, []string{path})
	return file
}

func fillArchive(t *testing.T, file string, paths []string) {
	t.Helper()
	open(t, "pebble:"+file, engine.Options{}, func(a archive.Archive) {
		if _, err := load.Run(t.Context(), a, "archive", paths, load.Options{}); err != nil {
			t.Fatal(err)
		}
	})
}

func open(t *testing.T, url string, o engine.Options, f func(a archive.Archive)) {
	t.Helper()
	db, err := registry.Open(t.Context(), url, o)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	a, err := archive.DatabaseOf(db).Open(t.Context(), "keyvalue")
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	f(a)
}

// startRun creates a folder with a run in progress.
func startRun(t *testing.T, dir string) *run.Folder {
	t.Helper()
	f, err := run.Create(filepath.Join(dir, "first"), run.Run{ID: "first", Workload: "met", Started: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []run.Sample{
		{Cell: run.MetCell("pebble", "keyvalue", "test_1", "keys"), Rep: 1, Verdict: run.Failed, Problem: "no answer"},
	} {
		if err := f.Add(s); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// finishRun creates the folder of a finished run. of contains milliseconds by engine and case; 0 =
// wrong.
func finishRun(t *testing.T, dir, id, digest string, of map[string]map[string]float64) {
	t.Helper()
	f, err := run.Create(filepath.Join(dir, id), run.Run{ID: id, Workload: "met", Started: time.Now(), Data: run.Data{Digest: digest, Records: 1}})
	if err != nil {
		t.Fatal(err)
	}
	for name, cases := range of {
		for c, ms := range cases {
			for rep := range 5 {
				records := record.Digest{Hi: 1, Records: 1}
				p, err := answer.CompareRecords(records, records)
				if err != nil {
					t.Fatal(err)
				}
				if ms == 0 {
					err = &answer.Diff{Problem: "one row more"}
				}
				s := run.Sample{Cell: run.MetCell(name, "wide", c, "sql"), Phase: run.Warm, Rep: rep}
				if err := f.Add(s.Judge(&run.Measured{Total: time.Duration((ms + float64(rep)/1000) * 1e6)}, p, err)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for done := range int64(3) {
		rate := run.Event{Kind: run.RateEvent, Cell: run.MetCell("pebble", "wide", "test_1", "sql"), Done: 100 + done, Failed: done, Times: &run.IntervalPercentiles{P50: 2e6, P95: 5e6, P99: 9e6}}
		counts := run.Event{Kind: run.CountersEvent, Text: "pebble", Counters: []run.Counter{{Name: "xact_commit", Value: 100}, {Name: "wal_bytes", Unit: "bytes", Value: 4096}}}
		if err := errors.Join(f.AddEvent(rate), f.AddEvent(counts)); err != nil {
			t.Fatal(err)
		}
	}
	f.Run.Finished = time.Now()
	if err := errors.Join(f.AddEvent(run.Event{Kind: run.FinishEvent}), f.Save(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// page is a server and a client that has its cookie.
type page struct {
	*httptest.Server
	t      *testing.T
	client *http.Client
	s      *serve.Server
	file   string       // the first served archive or folder
	live   atomic.Int32 // open streams of events
}

func newPage(t *testing.T, places ...string) *page { return newPageOf(t, registry, places...) }

func newPageOf(t *testing.T, registry engine.Registry, places ...string) *page {
	t.Helper()
	h := httptest.NewUnstartedServer(nil)
	s, err := serve.New(serve.Options{Registry: registry, Version: "test", Host: h.Listener.Addr().String()}, places...)
	if err != nil {
		t.Fatal(err)
	}
	jar := &cookies{}
	p := &page{Server: h, t: t, client: &http.Client{Jar: jar}, s: s, file: places[0]}
	h.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/events") {
			p.live.Add(1)
			defer p.live.Add(-1)
		}
		s.Handler().ServeHTTP(w, r)
	})
	h.Start()
	t.Cleanup(func() {
		h.CloseClientConnections()
		h.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	r := p.do(p.client, http.MethodGet, strings.TrimPrefix(s.URL(), h.URL), nil)
	if r.StatusCode != http.StatusOK || strings.Contains(r.Request.URL.String(), "token") {
		t.Fatalf("%s at %s", r.Status, r.Request.URL)
	}
	return p
}

// cookies is a jar that keeps all cookies, because Go's jar needs a public suffix list.
type cookies struct{ all []*http.Cookie }

func (c *cookies) SetCookies(_ *url.URL, all []*http.Cookie) { c.all = append(c.all, all...) }
func (c *cookies) Cookies(*url.URL) []*http.Cookie           { return c.all }

// reply is a response with its complete body.
type reply struct {
	*http.Response
	text []byte
}

func (p *page) do(client *http.Client, method, path string, change func(r *http.Request)) reply {
	p.t.Helper()
	resp := p.begin(client, method, path, change)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return reply{resp, text}
}

// begin sends a request; the caller reads the response.
func (p *page) begin(client *http.Client, method, path string, change func(r *http.Request)) *http.Response {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), method, p.URL+path, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	if change != nil {
		change(r)
	}
	resp, err := client.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	return resp
}

// get reads JSON, or the text of an error.
func (p *page) get(path string, v any) (status int, text string) {
	p.t.Helper()
	r := p.do(p.client, http.MethodGet, path, nil)
	body := r.text
	if r.StatusCode == http.StatusOK && v != nil {
		if err := json.Unmarshal(body, v); err != nil {
			p.t.Fatalf("%s: %v: %.300s", path, err, body)
		}
	}
	return r.StatusCode, string(body)
}

// TestSizes tests statement 3: the bytes of a first visit.
func TestSizes(t *testing.T) {
	dir := t.TempDir()
	startRun(t, dir)
	p := newPage(t, dir)
	plain, packed := 0, 0
	for _, path := range []string{"/runs", "/assets/app.js", "/assets/app.css"} {
		r := p.do(p.client, http.MethodGet, path, func(r *http.Request) { r.Header.Set("Accept-Encoding", "gzip") })
		body := r.text
		packed += len(body)
		if r.Header.Get("Content-Encoding") == "gzip" {
			z, err := gzip.NewReader(strings.NewReader(string(body)))
			if err != nil {
				t.Fatal(err)
			}
			if body, err = io.ReadAll(z); err != nil {
				t.Fatal(err)
			}
		}
		plain += len(body)
	}
	if plain > 300_000 || packed > 100_000 {
		t.Errorf("%d bytes, %d as sent", plain, packed)
	}
}

const where = "archive=two.pebble&design=keyvalue&subset=archive&line_type=SAL1L2&fcst_var=HGT&fcst_lev=P500&vx_mask=G2%2FNHX"

// TestCurve tests statement 7 on small data, and 4, 8 and 9: a page's curve equals that of ask, bit for bit. The first
// response has no intervals, and the curve does not jump when they come.
func TestCurve(t *testing.T) {
	dir := t.TempDir()
	file := loadArchive(t, dir)
	v, err := url.ParseQuery(where)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"archive", "design"} {
		v.Del(key)
	}
	drawings := []string{
		"", "&axis=fcst_lead&series=model", "&axis=valid_hour&series=model", "&series=model&event_equal=true",
		"&series=model&event_equal=true&equal_places=true", "&series=model&minus=GFS", "&stat=RMSFA&model=GFS&valid_hour=0",
	}
	wants := map[string]*run.VerificationPlot{}
	open(t, "pebble:"+file, engine.Options{ReadOnly: true}, func(a archive.Archive) {
		for _, drawing := range drawings {
			more, err := url.ParseQuery(drawing)
			if err != nil {
				t.Fatal(err)
			}
			maps.Copy(more, v)
			wants[drawing] = askQuestion(t, a, more)
		}
	})
	p := newPage(t, file)
	for _, drawing := range drawings {
		t.Run(drawing, func(t *testing.T) {
			want := wants[drawing]
			var first, complete serve.CurveReply
			if status, text := p.get("/api/v1/curve?"+where+drawing, &first); status != 200 {
				t.Fatal(status, text)
			}
			if status, text := p.get("/api/v1/curve?"+where+drawing+"&intervals=1", &complete); status != 200 {
				t.Fatal(status, text)
			}
			want.Case = complete.Curves.Case // the page names unnamed cases
			if g, w := fmt.Sprint(complete.Curves), fmt.Sprint(want); g != w || len(want.Series[0].X) == 0 {
				t.Errorf("the page has\n%.500s\nask has\n%.500s", g, w)
			}
			for i, s := range first.Curves.Series {
				if fmt.Sprint(s.Y) != fmt.Sprint(complete.Curves.Series[i].Y) {
					t.Error("the curve jumps when its intervals come")
				}
			}
			if !complete.Cost.Recall || complete.Contents != first.Contents {
				t.Errorf("queried again: %+v", complete.Cost)
			}
		})
	}
}

// askQuestion computes what barograph ask computes.
func askQuestion(t *testing.T, a archive.Archive, v url.Values) *run.VerificationPlot {
	t.Helper()
	q, err := question.FromURLQuery(v)
	if err != nil {
		t.Fatal(err)
	}
	return drawQuestion(t, a, q)
}

func drawQuestion(t *testing.T, a archive.Archive, q *question.Question) *run.VerificationPlot {
	t.Helper()
	name := curve.Stats(q)[0]
	wide, err := curve.Widen(q, []string{name})
	if err != nil {
		t.Fatal(err)
	}
	query, err := a.Phrase(t.Context(), wide, "keys-native")
	if err != nil {
		t.Fatal(err)
	}
	var b answer.Builder
	if err := a.Ask(t.Context(), query, &b); err != nil {
		t.Fatal(err)
	}
	c, err := curve.Compute(t.Context(), q, b.Take(), name, 1)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestAnswers checks downloads, refused requests, and reasons for empty results.
func TestAnswers(t *testing.T) {
	dir := t.TempDir()
	p := newPage(t, loadArchive(t, dir))
	for path, want := range map[string]string{
		"home": `"records":`, "inventory?archive=two.pebble": `"fcst_lead":[`, "loads?archive=two.pebble": `"stored":`,
		"curve.csv?" + where: "statistic,series,fcst_lead,n,value,low,high", "curve.svg?" + where: "<svg", "curve.parquet?" + where: "PAR1",
		"rows.csv?" + where: "fcst_valid_beg,", "rows.parquet?" + where: "PAR1", "asked?" + where: `"text":"`,
		"faster?" + where: `"archive":"two.pebble"`,
		"curve?" + where + "&model=ECM&case=test_1":                                             "!conditions",
		"curve?" + where + "&colour=red":                                                        "!colour",
		"curve?" + where + "&axis=fcst_lead&axis=fcst_lev":                                      "!twice",
		"curve?" + where + "&fcst_lead=soon":                                                    "!lead",
		"curve?" + where + "&model=ICON":                                                        `"absent":"`,
		"scorecard?archive=two.pebble&line_type=SAL1L2&candidate=ECM&baseline=GFS&fcst_var=HGT": `"lead":24,"n":10,"value":0.`,
		"curve?" + where + "&model=ICON&colour=red":                                             "!colour",
	} {
		status, text := p.get("/api/v1/"+path, nil)
		rest, refused := strings.CutPrefix(want, "!")
		if (status == http.StatusBadRequest) != refused || (status != http.StatusOK) != refused || !strings.Contains(text, rest) {
			t.Errorf("%s: %d %.300s", path, status, text)
		}
	}
	if _, text := p.get("/api/v1/scorecard?archive=two.pebble&line_type=SAL1L2&candidate=ECM&baseline=GFS&fcst_var=HGT&fcst_lev=P500", nil); !regexp.MustCompile(`"p":[0-9]`).MatchString(text) {
		t.Errorf("no cell of the scorecard is tested: %.400s", text)
	}
	r := p.do(p.client, http.MethodGet, "/api/v1/inventory?archive=two.pebble", nil)
	again := p.do(p.client, http.MethodGet, "/api/v1/inventory?archive=two.pebble", func(q *http.Request) { q.Header.Set("If-None-Match", r.Header.Get("ETag")) })
	script := p.do(p.client, http.MethodGet, "/assets/app.js", nil)
	kept := p.do(p.client, http.MethodGet, "/assets/app.js", func(q *http.Request) { q.Header.Set("If-None-Match", script.Header.Get("ETag")) })
	if script.StatusCode != http.StatusOK || kept.StatusCode != http.StatusNotModified {
		t.Errorf("the script: %s, then %s", script.Status, kept.Status)
	}
	if r.Header.Get("ETag") == "" || again.StatusCode != http.StatusNotModified {
		t.Errorf("ETag %s, then %s", r.Header.Get("ETag"), again.Status)
	}
}

// TestStudied: the page does not open the archive of a run in progress, because a viewer must not
// disturb it. It can be explored when the run has finished.
func TestStudied(t *testing.T) {
	dir := t.TempDir()
	f := startRun(t, dir)
	kept := filepath.Join(dir, "first", "archives")
	if err := os.Mkdir(kept, 0o755); err != nil {
		t.Fatal(err)
	}
	fillArchive(t, filepath.Join(kept, "two.pebble"), makeFiles(t, filepath.Join(dir, "data"), 0, 0))
	p := newPage(t, dir)
	if _, text := p.get("/api/v1/home", nil); !strings.Contains(text, "is being measured by a run in progress") {
		t.Error(text)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, text := p.get("/api/v1/home", nil); !strings.Contains(text, `"archive":"first/two.pebble","engine":"pebble","design":"keyvalue"`) {
		t.Error(text)
	}
}

func TestNothingToServe(t *testing.T) {
	empty, loop := t.TempDir(), filepath.Join(t.TempDir(), "loop")
	archives := t.TempDir()
	archive := loadArchive(t, archives)
	if err := os.Symlink(loop, loop); err != nil {
		t.Fatal(err)
	}
	for place, want := range map[string]string{
		"nowhere": "nowhere: file does not exist; name an engine's URL", loop: "too many levels of symbolic links", empty: "contains neither an archive nor a run folder",
		archives: "contains no run folder; name the archive itself: " + archive, "serve_test.go": "is no archive", "pebbel:x.db": "did you mean pebble",
	} {
		if _, err := serve.New(serve.Options{Registry: engine.Registry{pebble.Driver()}}, place); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", place, err)
		}
	}
}

// TestReadOnly tests the last part of statement 25: viewing changes no file.
func TestReadOnly(t *testing.T) {
	dir := t.TempDir()
	file := loadArchive(t, dir)
	runs := filepath.Join(dir, "runs")
	if err := startRun(t, runs).Close(); err != nil {
		t.Fatal(err)
	}
	before := contents(t, dir)
	p := newPage(t, file, runs)
	for _, path := range []string{"/api/v1/home", "/api/v1/curve?" + where, "/api/v1/runs", "/runs/runs/first/report.html", "/api/v1/faster?" + where} {
		if status, text := p.get(path, nil); status != http.StatusOK {
			t.Errorf("%s: %d %.200s", path, status, text)
		}
	}
	if err := p.s.Close(); err != nil {
		t.Fatal(err)
	}
	if after := contents(t, dir); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Error("files changed")
	}
}

func contents(t *testing.T, dirs ...string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			out[path] = string(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}
