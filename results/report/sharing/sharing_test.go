package sharing

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/report"
	"github.com/barograph/barograph/results/run"
)

// proof returns the proof of an answer with some rows, and its digest.
func proof(t testing.TB) (p answer.Proof) {
	t.Helper()
	a := &answer.Answer{
		Columns: []question.Column{{Name: "fcst_lead", Role: question.Lead, Kind: question.Duration}},
		Vectors: []answer.Vector{{Seconds: make([]int64, 5)}}, Rows: 5,
	}
	p, err := answer.Compare(a, a)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// metFolder writes a run of met into a folder. Every field that contains text also contains the given one.
func metFolder(t testing.TB, text string) string {
	t.Helper()
	p := proof(t)
	started := time.Now().UTC().Add(-time.Hour)
	r := run.Run{
		ID: "r" + text, Workload: "met", Version: "v1.0.0", Args: []string{"met", "--engine", "duckdb", text}, Started: started,
		Machine: measure.Machine{
			CPU: "CPU @ 2.20GHz" + text, OS: "debian 12" + text, Disk: measure.Disk{Type: "ext4", Mount: text},
			Unknown: []string{text},
		},
		Data: run.Data{
			Source: "files" + text, Paths: []string{text}, Records: 7, Lines: 7, ByType: map[string]int64{"SL1L2": 7},
			Digest: "d/7",
		},
		Archives: []run.Archive{
			{
				Engine: "duckdb", Design: "wide", Place: "embedded", URL: "duckdb:" + text, Product: "DuckDB", Version: "1.5.5",
				Settings: map[string]string{"dir " + text: text}, Digest: "d/7", Complete: true, Install: text, Acknowledged: text,
			},
			{
				Engine: "postgres", Design: "wide", Place: "server", URL: "postgres://carol:secret@wx9.example.org:5432/x",
				Product: "PostgreSQL", Version: "26.7.2.1", Digest: "d/7", Complete: true, Problem: text,
				Server: &run.Server{Settings: map[string]string{"log": text}},
			},
		},
		Skipped: []fault.Skip{{
			Engine: "clickhouse", Reason: text, Cure: text,
		}}, Warnings: []string{text}, Findings: []string{text}, ColdMethod: text,
		Cases: []run.Case{{Name: "test_1", Title: "one series" + text, Rows: 5, Digest: answer.FormatDigest(p.Digest())}}, Reps: 2,
		Own: &run.Own{
			Tables:       []run.OwnTable{{Name: "taxi", Files: []string{text}, Notes: []string{text}, Sources: []run.OwnFile{{File: text}}}},
			SkippedFiles: []run.SkippedFile{{File: text, Reason: text}},
			Questions:    []run.OwnQuestion{{File: text, Texts: map[string]string{"": "SELECT 1 -- " + text}}},
		},
	}
	f, err := run.Create(filepath.Join(t.TempDir(), "run"), r)
	if err != nil {
		t.Fatal(err)
	}
	must := func(errs ...error) {
		t.Helper()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	}
	for rep := range 2 {
		must(f.Add(run.Sample{
			Cell: run.MetCell("duckdb", "wide", "test_1", "sql"), Phase: run.Warm, Rep: rep, Warnings: []string{text},
		}.Judge(&run.Measured{Total: time.Millisecond}, p, nil)))
		must(f.Add(run.Sample{Cell: run.MetCell("postgres", "wide", "test_1", "sql"), Phase: run.Warm, Rep: rep}.Judge(nil,
			answer.Proof{}, errors.New("dial tcp 10.1.2.3:5432: lookup wx9.example.org: refused"+text))))
	}
	must(f.AddEvent(run.Event{Kind: run.StepEvent, Text: text}))
	must(f.StorePlan(run.MetCell("duckdb", "wide", "test_1", "sql"), "SELECT a/b FROM t WHERE vx_mask IN ('G2/NHX')"+text,
		"SCAN"+text, []run.Access{{Object: "t" + text, Method: "full scan"}}))
	must(f.StoreCases([]byte("# "+text+"\n")), f.Reject("secret.vsdb"+text, 3, text, text))
	f.Run.Finished = started.Add(2 * time.Hour)
	must(f.Close())
	return f.Dir
}

// unpack unpacks an archive and returns its only folder.
func unpack(t testing.TB, file string) string {
	t.Helper()
	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	z, err := gzip.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	to, top := t.TempDir(), ""
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return filepath.Join(to, top)
		}
		if err != nil || h.Uname+h.Gname != "" || h.Uid+h.Gid != 0 {
			t.Fatalf("%v, entry %+v", err, h)
		}
		top, _, _ = strings.Cut(h.Name, "/")
		text, err := io.ReadAll(r)
		name := filepath.Join(to, filepath.FromSlash(h.Name))
		if err = errors.Join(err, os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, text, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWriteLeavesNoNames plants a host, a user and paths in every field of text.
func TestWriteLeavesNoNames(t *testing.T) {
	t.Setenv("USER", "alice")
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	// no name consists only of hexadecimal digits: a digest could contain it
	planted := []string{
		"/home/alice/private/x.vsdb", "~bob/notes", "carol", "wx9", "wx9.example.org", "192.168.7.9", "[fe80::1:2:3]",
		"alice", "Alice", "dave@mail.example.com", `C:\Users\alice`, "data/alice_secret/day1", "/srv",
	}
	if len(host) > 2 && !sharedNames[host] {
		planted = append(planted, host)
	}
	if u, err := user.Current(); err == nil && !sharedNames[u.Username] && len(u.Username) > 2 {
		planted = append(planted, u.Username)
	}
	dir := metFolder(t, " "+strings.Join(planted, " ")+" http://intern.example.net:99/x "+"kill:node2@10s")
	r, err := run.ReadRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	r.Args = append(r.Args, "--out=data/alice_secret/day1")
	text, err := json.Marshal(r)
	if err = errors.Join(err, os.WriteFile(filepath.Join(dir, run.DescriptionFile), text, 0o600)); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "x.tar.gz")
	res, err := Write(dir, file)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{
		"cases.yaml", "events.jsonl", "plans/test_1.duckdb.wide.sql.json", "plans/test_1.duckdb.wide.sql.txt", "run.json",
	}; !slices.Equal(res.Files, want) ||
		res.Omitted < 3 {
		t.Errorf("the archive has %v, and omits %d", res.Files, res.Omitted)
	}
	to := unpack(t, file)
	private := append(planted, "intern.example", "10.1.2.3", "bob", "dave", "secret", "Users", "private", dir, filepath.Dir(dir))
	err = filepath.WalkDir(to, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		for _, p := range private {
			if i := strings.Index(strings.ToLower(string(text)), strings.ToLower(p)); i >= 0 {
				t.Errorf("%s contains %q: %.120s", filepath.Base(name), p, text[max(0, i-40):])
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	all, err := os.ReadFile(filepath.Join(to, "plans/test_1.duckdb.wide.sql.txt"))
	if err != nil || !strings.Contains(string(all), "SELECT a/b FROM t WHERE vx_mask IN ('G2/NHX')") {
		t.Errorf("the query is damaged: %s, %v", all, err)
	}
	shared, samples, err := run.Read(to)
	if err != nil || len(samples) != 4 || shared.Archives[1].Version != "26.7.2.1" ||
		shared.Archives[1].URL != "postgres:" || samples[0].Measured() == nil ||
		!strings.Contains(shared.Warnings[0], "kill:node2@10s") {
		t.Errorf("the shared run is %+v, %v", shared, err)
	}
	if _, err := report.Open(to); err != nil {
		t.Errorf("its report: %v", err)
	}
	if c, err := Check(to); err != nil || len(c.Problems) > 0 || c.Digests != len(res.Files) {
		t.Errorf("its check: %+v, %v", c, err)
	}
	again := filepath.Join(t.TempDir(), "y.tar.gz")
	if _, err := Write(dir, again); err != nil || !equalFiles(t, file, again) {
		t.Errorf("a second archive of the folder differs: %v", err)
	}
}

func equalFiles(t testing.TB, a, b string) bool {
	t.Helper()
	x, errX := os.ReadFile(a)
	y, errY := os.ReadFile(b)
	return errors.Join(errX, errY) == nil && string(x) == string(y)
}

// TestWriteRefuses: an unfinished run, a damaged file, and a name that cannot be replaced are refused.
func TestWriteRefuses(t *testing.T) {
	for name, x := range map[string]struct{ file, old, with, want string }{
		"unfinished": {
			run.DescriptionFile, `"finished": "2`, `"finished": "0001-01-01T00:00:00Z", "was": "2`, "has not finished",
		},
		"damaged":                       {"plans/test_1.duckdb.wide.sql.json", `{`, `{{`, "invalid character"},
		"a name in a key of the schema": {run.DescriptionFile, `"records": 7`, `"records": 7, "alice": 1`, `still contains "alice"`},
	} {
		t.Setenv("USER", "alice")
		dir := metFolder(t, "")
		edit(t, dir, x.file, x.old, x.with)
		file := filepath.Join(t.TempDir(), "x.tar.gz")
		if _, err := Write(dir, file); err == nil || !strings.Contains(fault.Text(err), x.want) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(file); err == nil {
			t.Errorf("%s: an archive was written", name)
		}
	}
}

// TestWriteALinkedFolder: a run folder may be a symbolic link.
func TestWriteALinkedFolder(t *testing.T) {
	dir := metFolder(t, "")
	link := filepath.Join(t.TempDir(), "latest")
	if err := os.Symlink(dir, link); err != nil {
		t.Skip("NOT TESTED: no symbolic links: ", err)
	}
	var files [][]string
	for _, path := range []string{dir, link} {
		out, err := Write(path, filepath.Join(t.TempDir(), "x.tar.gz"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, out.Files)
	}
	if len(files[0]) == 0 || !slices.Equal(files[0], files[1]) {
		t.Errorf("%v of the folder, %v of the link", files[0], files[1])
	}
}

// edit replaces the first occurrence of a text in a file, which must contain it.
func edit(t testing.TB, dir, file, old, with string) {
	t.Helper()
	name := filepath.Join(dir, file)
	text, err := os.ReadFile(name)
	if err != nil || !strings.Contains(string(text), old) {
		t.Fatalf("%s has no %q: %v", file, old, err)
	}
	if err := os.WriteFile(name, []byte(strings.Replace(string(text), old, with, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestCheckFindsEachEdit: an untouched folder has no problem, and each edit is found, with and without digests.
func TestCheckFindsEachEdit(t *testing.T) {
	for _, dir := range []string{
		metFolder(t, ""), "../../advise/testdata/day", "../../advise/testdata/copies/x4",
		"../../../docs/results/ycsb/faults/galera", "../../../docs/results/ycsb/placement/valkey1-local-total",
	} {
		if r, err := Check(dir); err != nil || len(r.Problems) > 0 || r.Digests != 0 || r.Samples == 0 ||
			!strings.HasPrefix(r.String(), "no manifest.json with digests, ") {
			t.Errorf("%s: %+v, %v", dir, r, err)
		}
	}
	const events = "events.jsonl"
	for _, x := range []struct{ file, old, with, want string }{
		{events, `"verdict":"equal","proof":"every value"`, `"verdict":"equal"`, "is equal without a proof"},
		{events, `"proof":"every value"`, `"proof":"trust me"`, "is equal with the proof trust me"},
		{events, `"verdict":"failed"`, `"verdict":"fine"`, "has the unknown verdict fine"},
		{events, `"verdict":"failed"`, `"verdict":"failed","proof":"digest"`, "is failed and has a proof"},
		{events, `"verdict":"failed"`, `"verdict":"failed","measured":{"total_ns":1}`, "is failed and has times"},
		{events, `"verdict":"equal","proof":"every value"`, `"verdict":"wrong"`, "has times, although another repetition is wrong"},
		{events, `"rep":1`, `"rep":0`, "is listed twice"},
		{events, `"rows":5`, `"rows":6`, "is equal with 6 rows, the reference has 5"},
		{events, `"digest":"`, `"digest":"0`, "its digest is not that of the reference"},
		{events, `case=test_1`, `case=test_9`, "run.json has no case test_9"},
		{events, `met/duckdb`, `met/sqlite`, "run.json has no archive sqlite wide"},
		{events, `design=wide`, `design=tall`, "run.json has no archive"},
		{events, `"seq":3`, `"seq":1`, "follows event"},
		{events, `"kind":"end"`, `"kind":"stop"`, "disagree whether the run finished"},
		{events, `"time":"2`, `"time":"3`, "is earlier than the one before it"},
		{run.DescriptionFile, `"finished": "2`, `"finished": "1`, "finished before it started"},
		{run.DescriptionFile, `"barograph_version": "v1.0.0"`, `"barograph_version": ""`, "no version of Barograph"},
		{run.DescriptionFile, `"SL1L2": 7`, `"SL1L2": 8`, "sum to 8, the data have 7"},
		{run.DescriptionFile, `"engine": "postgres"`, `"engine": "duckdb"`, "duckdb has the versions 1.5.5 and 26.7.2.1"},
		{run.DescriptionFile, `"digest": "d/7",
   "complete": true`, `"digest": "d/6",
   "complete": true`, "its digest and its state disagree"},
		{run.DescriptionFile, `"repetitions": 2`, `"repetitions": 3`, "has 2 warm repetitions, run.json reports 3"},
		{run.DescriptionFile, `"name": "test_1"`, `"name": "test_1", "rows": 5}, {"name": "test_1"`, "is listed twice"},
	} {
		dir := metFolder(t, "")
		edit(t, dir, x.file, x.old, x.with)
		r, err := Check(dir)
		if err != nil || !strings.Contains(strings.Join(r.Problems, "\n"), x.want) {
			t.Errorf("%s: %q instead of %q is not found: %+v, %v", x.file, x.with, x.old, r, err)
		}
	}
	dir := metFolder(t, "")
	edit(t, dir, run.DescriptionFile, `"repetitions": 2`, `"repetitions": 3`)
	if r, err := Check(dir); err != nil || len(r.Problems) != 1 || !strings.HasSuffix(r.Problems[0], "run.json reports 3 (and 1 more)") {
		t.Errorf("one cause is reported as %+v, %v", r, err)
	}
	kept := func() string {
		file := filepath.Join(t.TempDir(), "x.tar.gz")
		if _, err := Write(metFolder(t, ""), file); err != nil {
			t.Fatal(err)
		}
		return unpack(t, file)
	}
	for want, damage := range map[string]func(dir string) error{
		"run.json differs from its digest":     func(dir string) error { edit(t, dir, run.DescriptionFile, "CPU", "GPU"); return nil },
		"events.jsonl differs from its digest": func(dir string) error { edit(t, dir, events, `"total_ns":1000000`, `"total_ns":1`); return nil },
		"cases.yaml is missing":                func(dir string) error { return os.Remove(filepath.Join(dir, "cases.yaml")) },
		"plans/x.txt has no digest":            func(dir string) error { return os.WriteFile(filepath.Join(dir, "plans", "x.txt"), nil, 0o600) },
		"answers/1.json is not an answer": func(dir string) error {
			return errors.Join(os.Mkdir(filepath.Join(dir, "answers"), 0o755),
				os.WriteFile(filepath.Join(dir, "answers", "1.json"), []byte(`{"digest":"2"}`), 0o600))
		},
	} {
		dir := kept()
		if r, err := Check(dir); err != nil || len(r.Problems) > 0 || r.Digests != 5 {
			t.Errorf("untouched: %+v, %v", r, err)
		}
		if err := damage(dir); err != nil {
			t.Fatal(err)
		}
		if r, err := Check(dir); err != nil || r.Digests != 5 || !strings.Contains(strings.Join(r.Problems, "\n"), want) {
			t.Errorf("%s: %+v, %v", want, r, err)
		}
	}
}

// TestCheckForeignFolder: a run folder of somebody else may contain links to private files. Check does not read them.
func TestCheckForeignFolder(t *testing.T) {
	digest := answer.FormatDigest(proof(t).Digest())
	name, private := digest+".json", filepath.Join(t.TempDir(), "private")
	if err := os.WriteFile(private, []byte(`{"digest":"`+digest+`","sha256":{"private":"1"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := metFolder(t, "")
	answers := filepath.Join(dir, "answers")
	if err := errors.Join(os.Mkdir(answers, 0o755), os.Symlink(private, filepath.Join(answers, name))); err != nil {
		t.Fatal(err)
	}
	if r, err := Check(dir); err != nil || !strings.Contains(strings.Join(r.Problems, "\n"), "answers/"+name+" is not an answer") {
		t.Errorf("%+v, %v", r, err)
	}
	if err := os.Symlink(private, filepath.Join(dir, Manifest)); err != nil {
		t.Fatal(err)
	}
	if r, err := Check(dir); err == nil || !strings.Contains(err.Error(), "is not a regular file in the run folder") {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestScrub: texts that are neither names nor paths do not change.
func TestScrub(t *testing.T) {
	s := &scrubber{}
	for _, text := range []string{
		"ops/s", "a / b", "x/2 and (a)/b", "G2/NHX | 5", "12:00:00", "v1.2.3", "127.0.0.1:80",
		"kill:node2@10s,restart:node2@15s", "met/duckdb?case=test_1", "/* hint */ SELECT 1", "CPU @ 2.20GHz",
		"2026-11-20T12:00:00Z", "a::text",
	} {
		if got := s.text(text); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
	for text, want := range map[string]string{
		`open "/var/lib/x y": no`: "PATH", "at /tmp/a,b": "at PATH,b", "10.1.2.3:80": "HOST:80", "mail x@y.org": "USER@HOST",
		"scheme://u:p@h:1/d end": "scheme://HOST end",
	} {
		if got := s.text(text); !strings.Contains(got, want) || regexp.MustCompile(`/var|/tmp|10\.1|y\.org|h:1`).MatchString(got) {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}

// TestEqualKeys: keys that become equal have the same names in each archive of the folder.
func TestEqualKeys(t *testing.T) {
	s := &scrubber{}
	for range 20 {
		out, _ := s.value("", map[string]any{"dial 10.1.2.3:1: no": 3, "dial 10.1.2.4:1: no": 5, "dial 10.1.2.5:1: no": 7}).(map[string]any)
		if len(out) != 3 || out["dial HOST:1: no"] != 3 || out["dial HOST:1: no "] != 5 || out["dial HOST:1: no  "] != 7 {
			t.Fatalf("%q", out)
		}
	}
}

// TestCheckFolderWithPatternName: the answers of a folder are checked even if its name contains the characters of a
// pattern.
func TestCheckFolderWithPatternName(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "[run]*")
	err := errors.Join(os.Rename(metFolder(t, ""), dir), os.Mkdir(filepath.Join(dir, "answers"), 0o755),
		os.WriteFile(filepath.Join(dir, "answers", "1.json"), []byte(`{"digest":"2"}`), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	if r, err := Check(dir); err != nil || len(r.Problems) != 1 || !strings.Contains(r.Problems[0], "answers/1.json") {
		t.Errorf("%+v, %v", r, err)
	}
}
