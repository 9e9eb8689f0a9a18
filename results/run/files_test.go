package run_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/results/run"
)

func TestFileNamesStayInTheirFolder(t *testing.T) {
	seen := map[string][]string{}
	for _, parts := range [][]string{
		{"test_3", "duckdb", "wide", "epoch-range"},
		{"../../x"},
		{"..", "x"},
		{"..%2Fx"},
		{"a/b"},
		{"a%2Fb"},
		{"a", "b.c"},
		{"a.b", "c"},
		{"a.", "b"},
		{"a", ".b"},
		{""},
		{"", ""},
		{"."},
		{"/etc/passwd"},
		{`a\b`},
		{"a\x00b"},
		{"a\nb"},
		{"a b"},
		{"a+b"},
		{"Nordsee Ä"},
		{"CON:"},
		{strings.Repeat("ä", 300)},
		{strings.Repeat("ä", 301)},
		{"\xff"},
	} {
		name := run.FileName(parts...)
		if old, ok := seen[name]; ok {
			t.Errorf("%q and %q are both %q", old, parts, name)
		}
		seen[name] = parts
		path := filepath.Join(t.TempDir(), name+".json")
		if filepath.Base(path) != name+".json" || strings.HasPrefix(name, ".") {
			t.Errorf("%q becomes %q", parts, name)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Errorf("%q: %v", parts, err)
		}
	}
	if got := run.FileName("test_3", "duckdb", "wide", "epoch-range"); got != "test_3.duckdb.wide.epoch-range" {
		t.Errorf("got %s", got)
	}
}

// The folder contains no password, even if a query, its plan and a wrong answer contain one.
func TestPasswordsAreNotStored(t *testing.T) {
	const url = "postgres://me:MARK@host/db"
	f, err := run.Create(filepath.Join(t.TempDir(), "r"), run.Run{Args: []string{url}})
	if err != nil {
		t.Fatal(err)
	}
	cell := run.MetCell("x", "d", "q", "f")
	err = errors.Join(f.StorePlan(cell, "SELECT * FROM x('"+url+"')", "scan of "+url, []run.Access{{Object: url}}),
		f.AddEvent(run.Event{Kind: run.StepEvent, Text: url}),
		f.Add(run.Sample{Cell: cell}.Judge(nil, answer.Proof{}, &answer.Diff{Problem: "not " + url})),
		f.Add(run.Sample{Cell: cell}.Judge(nil, answer.Proof{}, errors.New("cannot open "+url))),
		f.Close())
	if err != nil {
		t.Fatal(err)
	}
	hidden := 0
	err = filepath.WalkDir(f.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), "MARK") {
			t.Errorf("%s contains the password", path)
		}
		hidden += strings.Count(string(text), "me:xxxxx@host")
		return err
	})
	if err != nil || hidden < 9 {
		t.Errorf("the files contain the URL %d times, %v", hidden, err)
	}
}

// A run in memory writes no file.
func TestRunInMemory(t *testing.T) {
	t.Chdir(t.TempDir())
	f, err := run.Create("", run.Run{Workload: "met"})
	if err != nil {
		t.Fatal(err)
	}
	cell := run.MetCell("x", "d", "q", "f")
	a, p := proven(t, 1)
	err = errors.Join(f.Add(run.Sample{Cell: cell, Phase: run.Warm}.Judge(&run.Measured{Total: 1}, p, nil)),
		f.Reject("a", 1, "why", "text"), f.StorePlan(cell, "SELECT 1", "SCAN", access()), f.StoreCases([]byte("x")),
		f.StoreVerificationPlot(&run.VerificationPlot{Case: "q"}), f.StoreAnswer(a, p), f.Close())
	files, readErr := os.ReadDir(".")
	if err != nil || readErr != nil || len(files) > 0 || len(f.Samples()) != 1 {
		t.Errorf("%d files, %d samples, %v, %v", len(files), len(f.Samples()), err, readErr)
	}
}
