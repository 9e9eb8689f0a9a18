package site_test

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/report/site"
	"github.com/barograph/barograph/results/run"
)

// keptFolders returns the run folders in the repository.
func keptFolders(t testing.TB) (out []string) {
	t.Helper()
	for _, pattern := range []string{"../../../docs/results/ycsb/*/*", "../../../docs/results/ycsb/*", "../../advise/testdata/*"} {
		paths, err := filepath.Glob(filepath.Join(pattern, run.DescriptionFile))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range paths {
			out = append(out, filepath.Dir(p))
		}
	}
	return append(out, "../../advise/testdata/copies")
}

// proof returns the proof of an answer with some number of rows.
func proof(t testing.TB, rows int) answer.Proof {
	t.Helper()
	a := &answer.Answer{
		Columns: []question.Column{{Name: "fcst_lead", Role: question.Lead, Kind: question.Duration}},
		Vectors: []answer.Vector{{Seconds: make([]int64, rows)}}, Rows: rows,
	}
	p, err := answer.Compare(a, a)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// records returns the proof of records of which only the digest was compared.
func records(t testing.TB) answer.Proof {
	t.Helper()
	d := record.Digest{Hi: 1, Records: 7}
	p, err := answer.CompareRecords(d, d)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// create creates the folder of a run in a folder of its own.
func create(t testing.TB, name string, r run.Run) *run.Folder {
	t.Helper()
	r.ID, r.Version, r.Started, r.Finished = name, "v0.1.0", time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC), time.Date(
		2026, 11, 20, 12, 3, 0, 0, time.UTC)
	if r.Machine.CPU == "" {
		r.Machine = measure.Machine{CPU: "Example CPU", Threads: 4, Memory: 16e9, OS: "debian 12"}
	}
	f, err := run.Create(filepath.Join(t.TempDir(), name), r)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// add adds a repetition of some milliseconds.
func add(t testing.TB, f *run.Folder, c run.Cell, rep int, ms float64, err error) {
	t.Helper()
	s := run.Sample{Cell: c, Phase: run.Warm, Rep: rep}.Judge(&run.Measured{Total: time.Duration(ms * 1e6)}, proof(t, 5), err)
	if err := f.Add(s); err != nil {
		t.Fatal(err)
	}
}

// closeFolder closes a folder and returns its path.
func closeFolder(t testing.TB, f *run.Folder) string {
	t.Helper()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return f.Dir
}

// metRun describes a run of met with four engines. mongodb's archive is incomplete, and valkey is a stand-in.
func metRun(digest string) run.Run {
	r := run.Run{
		Workload: "met", Data: run.Data{Source: "synthetic", Records: 493520, Digest: digest},
		Cases: []run.Case{
			{Name: "test_1", Title: "one series", Rows: 5, Digest: "q1", Weight: 1},
			{Name: "test_2", Rows: 5, Digest: "q2", Weight: 1},
		},
	}
	for _, a := range [][3]string{
		{"dry", "memory", "memory"},
		{"duckdb", "wide", "embedded"},
		{"duckdb", "document", "embedded"},
		{"sqlite", "normalized", "embedded"},
		{"pebble", "keyvalue", "embedded"},
		{"mongodb", "document", "server"},
		{"valkey", "document", "server"},
	} {
		r.Archives = append(r.Archives, run.Archive{
			Engine: a[0], Design: a[1], Place: a[2], Product: a[0], Version: "1.0",
			Load: time.Duration(len(r.Archives)+1) * time.Second, Bytes: 1e6 * int64(len(r.Archives)),
			Complete: a[0] != "mongodb", Settings: map[string]string{"cache": "1GB"},
		})
	}
	r.Archives[6].Unranked = "a stand-in for a server"
	return r
}

// metFolder returns a run of met in which the fastest results are wrong, failed, incomplete, of a stand-in, or the
// client overhead.
func metFolder(t testing.TB) string {
	t.Helper()
	f := create(t, "made", metRun("made/493520"))
	for rep := range 11 {
		for i, c := range []string{"test_1", "test_2"} {
			ms := float64(1+9*i) * (1 + float64(rep)/100)
			add(t, f, run.MetCell("duckdb", "wide", c, "sql"), rep, 9*ms, nil)
			add(t, f, run.MetCell("duckdb", "wide", c, "epoch-range"), rep, 3*ms, nil)
			add(t, f, run.MetCell("duckdb", "document", c, "keys"), rep, 6*ms, nil)
			add(t, f, run.MetCell("dry", "memory", c, "recall"), rep, 0.01*ms, nil)
			add(t, f, run.MetCell("mongodb", "document", c, "keys"), rep, 0.02*ms, nil)
			add(t, f, run.MetCell("valkey", "document", c, "keys"), rep, 0.03*ms, nil)
			var err error
			if c == "test_2" && rep == 3 {
				err = &answer.Diff{Problem: "12 rows hold different values", WantRows: 5, GotRows: 5}
			}
			add(t, f, run.MetCell("sqlite", "normalized", c, "sql"), rep, 0.04*ms, err)
			if err = nil; c == "test_1" {
				err = errors.New("no such table")
			}
			add(t, f, run.MetCell("pebble", "keyvalue", c, "keys-native"), rep, 0.05*ms, err)
		}
	}
	return closeFolder(t, f)
}

// hostileFolder returns a run in which every text is markup.
func hostileFolder(t testing.TB) string {
	t.Helper()
	const evil = `</script><img src=x onerror="window.pwned='yes'"><script>window.pwned=1</script>`
	r := metRun(evil)
	r.Data.Source, r.Machine.CPU, r.Warnings, r.Cases[0].Name = evil, evil, []string{evil}, evil
	r.Archives = append(r.Archives, run.Archive{
		Engine: evil, Design: evil, Place: "server", Product: evil, Version: evil, Complete: true, Load: time.Second,
		Settings: map[string]string{evil: evil, "cache": evil},
	})
	f := create(t, "hostile", r)
	c := run.MetCell(evil, evil, evil, evil)
	add(t, f, c, 1, 1, nil)
	add(t, f, run.MetCell("duckdb", "wide", evil, "sql"), 1, 1, nil)
	add(t, f, run.MetCell("sqlite", "normalized", evil, "sql"), 1, 1, errors.New(evil))
	if err := f.StorePlan(c, "SELECT 1 -- "+evil, evil, nil); err != nil {
		t.Fatal(err)
	}
	return closeFolder(t, f)
}

// postFolder returns a run of post with a wrong posting.
func postFolder(t testing.TB) string {
	t.Helper()
	f := create(t, "posted", run.Run{
		Workload: run.PostWorkload, Policy: "newer", Data: run.Data{Source: "a feed"},
		Archives: []run.Archive{{Engine: "postgres", Place: "server", Product: "PostgreSQL", Version: "15"}},
	})
	for i, design := range []string{"array", "single"} {
		for k, method := range []string{"bulk", "upsert"} {
			m := &run.Measured{Posting: &run.Posting{Products: 3, Values: int64(1000 * (1 + i + k)), Post: run.PostTimes{Total: time.Second}}}
			var err error
			if i == 1 && k == 1 {
				err = &answer.Diff{Problem: "the tables differ"}
			}
			if err := f.Add(run.Sample{Cell: run.PostCell("postgres", "quiet", "insert", design, method, "posters", 1,
				"together", 2)}.Judge(m, records(t), err)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return closeFolder(t, f)
}

// ownFolder returns a run over own tables.
func ownFolder(t testing.TB) string {
	t.Helper()
	f := create(t, "owned", run.Run{
		Workload: run.OwnWorkload, Data: run.Data{Records: 200},
		Own: &run.Own{
			Tables: []run.OwnTable{{Name: "taxi", Bytes: 9, Rows: 200}},
			Questions: []run.OwnQuestion{{
				Name: "q0", Title: "fares", Texts: map[string]string{"": "SELECT fare", "sqlite": "SELECT fare -- sqlite"},
			}},
		},
		Archives: []run.Archive{
			{Engine: "duckdb", Place: "embedded", Load: time.Second, Bytes: 5e6},
			{Engine: "sqlite", Place: "embedded", Load: 2 * time.Second, Bytes: 9e6},
		},
	})
	for rep := range 6 {
		add(t, f, run.OwnCell("duckdb", "q0"), rep, 2, nil)
		add(t, f, run.OwnCell("sqlite", "q0"), rep, 8, nil)
	}
	return closeFolder(t, f)
}

// scanFolder returns an analytical run with two placements, cold and warm.
func scanFolder(t testing.TB) string {
	t.Helper()
	f := create(t, "scanned", run.Run{
		Workload: run.ScanWorkload, Archives: []run.Archive{{Engine: "duckdb", Place: "embedded", Product: "DuckDB"}},
		Scan: &run.Scan{Scale: 1, Generator: "dsdgen", Rows: map[string]int64{"store_sales": 7}, Configs: []run.ScanConfig{
			{
				Paths: 1, Partitions: 4, Workers: 4, Load: 4 * time.Second, Loads: 2, Bytes: []int64{1e8},
				Plans: []run.ScanPlan{{Query: "q3", Text: "SELECT all", Plan: "SCAN"}},
			},
			{Paths: 2, Partitions: 4, Workers: 4, Load: time.Second, Loads: 1, Bytes: []int64{5e7, 6e7}},
		}},
	})
	for config, ms := range []float64{20, 10} {
		for rep := range 6 {
			add(t, f, f.Run.ScanCell(config, "q3"), rep, ms, nil)
			if err := f.Add(run.Sample{
				Cell: f.Run.ScanCell(config, "q3"), Phase: run.Cold, Rep: rep,
			}.Judge(&run.Measured{Total: time.Second}, proof(t, 1), nil)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return closeFolder(t, f)
}

// groupOf returns the key of the first group with a configuration of a run.
func groupOf(t testing.TB, s *site.Site, folder string) string {
	t.Helper()
	for _, c := range s.Configs {
		if s.Runs[c.Run].Folder == folder {
			return s.Groups[c.Group].Key
		}
	}
	t.Fatalf("no configuration of %s", folder)
	return ""
}

// find returns the result of a configuration, by its names, for a question of a phase.
func find(t testing.TB, s *site.Site, folder, engine, design, flavour, question string, cold bool) (site.Config,
	site.Question, site.Result,
) {
	t.Helper()
	for _, r := range s.Results {
		c := s.Configs[r.Config]
		q := s.Groups[c.Group].Questions[r.Question]
		if s.Runs[c.Run].Folder == folder && c.Engine == engine && c.Design == design && c.Flavour == flavour &&
			q.Name == question && strings.HasSuffix(s.Groups[c.Group].Key, "/cold") == cold {
			return c, q, r
		}
	}
	t.Fatalf("no result of %s %s %s %s for %q", folder, engine, design, flavour, question)
	return site.Config{}, site.Question{}, site.Result{}
}

func read(t testing.TB, dirs ...string) *site.Site {
	t.Helper()
	s, err := site.Read(dirs)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestResults(t *testing.T) {
	s := read(t, metFolder(t), postFolder(t), ownFolder(t), scanFolder(t), "../../../docs/results/ycsb/placement/valkey1-local-total")
	for _, x := range []struct {
		folder, engine, design, flavour, question string
		cold                                      bool
		verdict, proof, unit                      string
		more                                      bool
		value, load                               float64
		bytes                                     int64
	}{
		{"made", "duckdb", "wide", "epoch-range", "test_1", false, "equal", "every value", "ms", false, 3.15, 2, 1e6},
		{"made", "sqlite", "normalized", "sql", "test_2", false, "wrong", "", "ms", false, math.NaN(), 4, 3e6},
		{"made", "pebble", "keyvalue", "keys-native", "test_1", false, "failed", "", "ms", false, math.NaN(), 5, 4e6},
		{"made", "mongodb", "document", "keys", "test_1", false, "incomplete", "", "ms", false, math.NaN(), 6, 5e6},
		{"posted", "postgres", "array", "upsert", "quiet, insert", false, "equal", "digest", "values/s", true, 2000, 0, 0},
		{"posted", "postgres", "single", "upsert", "quiet, insert", false, "wrong", "", "values/s", true, math.NaN(), 0, 0},
		{"owned", "sqlite", "", "", "q0", false, "equal", "every value", "ms", false, 8, 2, 9e6},
		{"scanned", "duckdb", "", "", "q3", false, "equal", "every value", "ms", false, 20, 2, 1e8},
		{"scanned", "duckdb", "", "", "q3", true, "equal", "every value", "ms", false, 1000, 2, 1e8},
	} {
		c, q, r := find(t, s, x.folder, x.engine, x.design, x.flavour, x.question, x.cold)
		same := r.Value == x.value || math.IsNaN(r.Value) && math.IsNaN(x.value)
		if r.Verdict != x.verdict || x.verdict == "equal" && r.Proof != x.proof || q.Unit != x.unit || q.More != x.more ||
			!same || c.Load != x.load || c.Bytes != x.bytes {
			t.Errorf("%v: config %+v, question %+v, result %+v", x, c, q, r)
		}
	}
	if c, _, _ := find(t, s, "made", "valkey", "document", "keys", "test_1", false); c.Unranked != "a stand-in for a server" {
		t.Errorf("the stand-in is excluded by %q", c.Unranked)
	}
	if c, _, _ := find(t, s, "made", "dry", "memory", "recall", "test_1", false); !strings.HasPrefix(c.Unranked, "client overhead") {
		t.Errorf("the dry engine is excluded by %q", c.Unranked)
	}
	if c, _, _ := find(t, s, "posted", "postgres", "array", "bulk", "quiet, insert", false); c.More != "1 client, 2 messages per transaction" {
		t.Errorf("the further axes of a posting are %q", c.More)
	}
	if _, q, r := find(t, s, "valkey1-local-total", "valkey", "columns", "", "workloade, 4 threads", false); q.Unit != "ops/s" ||
		!q.More || !(r.Value > 0) {
		t.Errorf("ycsb: %+v %+v", q, r)
	}
	if s.Colors["duckdb"] != "#0072b2" || s.Colors["sqlite"] != "#d55e00" {
		t.Errorf("the colors are not those of the reports: %v", s.Colors)
	}
	text, err := json.Marshal(s)
	if err != nil || strings.Contains(string(text), "NaN") {
		t.Errorf("%v: %.80s", err, text)
	}
}

// TestGroups: only the same data, the same questions and the same work share a group or a column.
func TestGroups(t *testing.T) {
	other := metRun("other/1")
	otherDigest := metRun("made/493520")
	otherDigest.Cases[0].Digest = "q9"
	s := read(t, metFolder(t), closeFolder(t, oneResult(t, "same", metRun("made/493520"))), closeFolder(t, oneResult(t, "otherdata", other)),
		closeFolder(t, oneResult(t, "otherquestion", otherDigest)))
	if a, b := groupOf(t, s, "made"), groupOf(t, s, "same"); a != b {
		t.Errorf("the same data have the groups %s and %s", a, b)
	}
	if a, b := groupOf(t, s, "made"), groupOf(t, s, "otherdata"); a == b {
		t.Errorf("other data have the same group %s", a)
	}
	_, q, r := find(t, s, "made", "duckdb", "wide", "sql", "test_1", false)
	_, same, rSame := find(t, s, "same", "duckdb", "wide", "sql", "test_1", false)
	_, _, rOther := find(t, s, "otherquestion", "duckdb", "wide", "sql", "test_1 (2)", false)
	if r.Question != rSame.Question || !slices.Equal(q.Runs, []int{0, 1}) || len(same.Runs) != 2 {
		t.Errorf("the same question is %d of the runs %v and %d", r.Question, q.Runs, rSame.Question)
	}
	if r.Question == rOther.Question {
		t.Error("a question with another reference shares a column")
	}
}

// oneResult creates a run with one result.
func oneResult(t testing.TB, name string, r run.Run) *run.Folder {
	t.Helper()
	f := create(t, name, r)
	add(t, f, run.MetCell("duckdb", "wide", "test_1", "sql"), 1, 5, nil)
	return f
}

// TestWeakerProofs: a result that is proven only by a digest is not ranked with one that is proven value by value, also
// if they are results of different runs.
func TestWeakerProofs(t *testing.T) {
	r := run.Run{
		Workload: run.LakeWorkload, Data: run.Data{Digest: "lake"}, Lake: &run.Lake{},
		Archives: []run.Archive{{Engine: "duckdb"}, {Engine: "trino"}},
	}
	strong, weak := create(t, "strong", r), create(t, "weak", r)
	layout := &run.LakeLayout{Partition: "day", FileMB: 64}
	add(t, strong, run.LakeCell("duckdb", layout, "q"), 1, 5, nil)
	if err := weak.Add(run.Sample{Cell: run.LakeCell("trino", layout, "q")}.Judge(&run.Measured{Total: time.Millisecond},
		records(t), nil)); err != nil {
		t.Fatal(err)
	}
	s := read(t, closeFolder(t, strong), closeFolder(t, weak))
	if _, _, x := find(t, s, "weak", "trino", "", "", "q", false); x.Unranked != "its results are proven only by digest" {
		t.Errorf("the weaker proof is excluded by %q", x.Unranked)
	}
	if _, _, x := find(t, s, "strong", "duckdb", "", "", "q", false); x.Unranked != "" {
		t.Errorf("the stronger proof is excluded by %q", x.Unranked)
	}
}

// TestFolders: a folder of folders is read completely, each run once, and a folder without a run is an error.
func TestFolders(t *testing.T) {
	copies := "../../advise/testdata/copies"
	if s := read(t, copies, copies, filepath.Join(copies, "x1")); len(s.Runs) != 3 || s.Runs[0].Folder != "copies/x1" {
		t.Errorf("the runs are %+v", s.Runs)
	}
	for _, dir := range []string{t.TempDir(), filepath.Join(t.TempDir(), "absent")} {
		if _, err := site.Read([]string{dir}); err == nil {
			t.Errorf("%s is accepted", dir)
		}
	}
}

// TestPage: the page contains no markup of a run folder, names no other resource, and replaces only a page of
// Barograph.
func TestPage(t *testing.T) {
	dir := t.TempDir()
	path, err := read(t, hostileFolder(t)).Write(dir)
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(page), "<img") || strings.Count(string(page), "</script>") != 3 {
		t.Error("a text of the run folder is markup of the page")
	}
	if m := regexp.MustCompile(`(?i)(src|href)=|@import|url\(|fetch\(|XMLHttpRequest|https?://`).FindAllString(
		strings.NewReplacer("http://www.w3.org/2000/svg", "", "src=x", "").Replace(string(page)), -1); len(m) > 0 {
		t.Errorf("the page refers to %q", m)
	}
	if _, err := read(t, metFolder(t)).Write(dir); err != nil {
		t.Errorf("a second page: %v", err)
	}
	if err := os.WriteFile(path, []byte("<title>mine</title>"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := read(t, metFolder(t)).Write(dir); fault.Text(err) == "" || err == nil {
		t.Error("a page of another program is replaced")
	}
}

// TestUnlistedCase: a case that run.json does not list shares no column with the first case that it lists.
func TestUnlistedCase(t *testing.T) {
	r := metRun("made/493520")
	f := create(t, "unlisted", r)
	add(t, f, run.MetCell("duckdb", "wide", "test_9", "sql"), 1, 5, nil)
	r.Cases = nil
	empty := create(t, "empty", r)
	add(t, empty, run.MetCell("duckdb", "wide", "test_9", "sql"), 1, 7, nil)
	s := read(t, closeFolder(t, f), closeFolder(t, empty))
	_, q, _ := find(t, s, "unlisted", "duckdb", "wide", "sql", "test_9", false)
	if q.Weight != 1 || !slices.Equal(q.Runs, []int{0, 1}) {
		t.Errorf("the question is %+v", q)
	}
}

// TestUnknownVerdict: a repetition with an unknown verdict proves nothing, whatever the repetitions after it are.
func TestUnknownVerdict(t *testing.T) {
	dir := ownFolder(t)
	name := filepath.Join(dir, "events.jsonl")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	edited := strings.Replace(string(text), `"verdict":"equal"`, `"verdict":"fine"`, 1)
	if err := os.WriteFile(name, []byte(edited), 0o600); err != nil || edited == string(text) {
		t.Fatal(err)
	}
	if _, _, r := find(t, read(t, dir), "owned", "duckdb", "", "", "q0", false); r.Verdict != "fine" || !math.IsNaN(r.Value) {
		t.Errorf("the result is %+v", r)
	}
}
