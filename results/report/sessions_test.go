package report

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/results/run"
)

// TestSessionsStatementsAndScripts: the page shows, below the throughput, what the sessions waited for. It also lists
// the slowest statements and the scripts that created tables.
func TestSessionsStatementsAndScripts(t *testing.T) {
	p := newPoint("postgres", "server", 4, 1, 1000)
	s := &run.ServerLoad{SessionSampleCount: 10, Statements: []run.Statement{{
		Text:  "UPDATE usertable SET field0 = $1 <x>",
		Calls: 2500, Time: 2 * time.Second, Rows: 2499,
	}}}
	for i := range 10 {
		sample := run.SessionSample{At: time.Duration(i+1) * time.Second, Sessions: []run.SessionWait{{
			Kind: "cpu", Event: "running",
			Sessions: 1,
		}, {Kind: "lock", Event: "Lock:tuple", Sessions: 3}}}
		for _, rare := range []string{"a", "b", "c", "d", "e", "f", "g"} {
			sample.Sessions = append(sample.Sessions, run.SessionWait{Kind: "other", Event: "rare " + rare, Sessions: 0.1})
		}
		s.SessionSamples = append(s.SessionSamples, sample)
	}
	p.Server = s
	dir := pointsFolderOf(t, []run.Archive{
		{Engine: "postgres", Design: "own.sql@01234567", Table: &run.Table{
			Name: "usertable", Schema: "own_sql_01234567",
			DDLFile: "dir/own.sql", DDLDigest: "0123456789", DDL: "CREATE TABLE <mine>", Definition: "TABLE usertable USING heap",
		}},
		{Engine: "mariadb", Design: "columns", Table: &run.Table{Name: "usertable", Definition: "CREATE TABLE `usertable` …"}},
	}, p)
	path, err := Write(dir, Advising{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"postgres: active sessions", "Lock:tuple", "other waits", "UPDATE usertable SET field0 = $1 &lt;x&gt;", "2,500",
		"2,499", "dir/own.sql (SHA-256 0123456789)", "CREATE TABLE &lt;mine&gt;",
		"TABLE usertable USING heap", "postgres · own.sql@01234567", "CREATE TABLE `usertable` …",
		"in the schema own_sql_01234567",
	} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("%q is not in the page", want)
		}
	}
	if out := terminal(t, dir); !strings.Contains(out, "DDL: postgres: dir/own.sql (SHA-256 0123456789)") {
		t.Error(out)
	}
}

// TestSessionsOverTime: each second has the sessions of the nearest sample, and none if no sample is near.
func TestSessionsOverTime(t *testing.T) {
	p := newPoint("postgres", "server", 4, 1, 1000)
	p.Server = &run.ServerLoad{SessionSampleCount: 2, SessionSamples: []run.SessionSample{
		{At: 1100 * time.Millisecond, Sessions: []run.SessionWait{{Kind: "disk", Event: "LWLock:WALWrite", Sessions: 2}}},
		{At: 2100 * time.Millisecond, Sessions: []run.SessionWait{{Kind: "cpu", Event: "running", Sessions: 1}}},
	}}
	c := gather(&run.Run{}, []*point{p}).cells[0]
	g := c.sessions()
	if len(g.Layers) != 2 || g.Layers[0].Name != "running" || g.Layers[1].Name != "LWLock:WALWrite" {
		t.Fatalf("%+v", g.Layers)
	}
	for k, want := range []float64{2, 2, 0, 0, 0} {
		if got := g.Layers[1].Value[k]; got != want {
			t.Errorf("second %d has %g sessions at the log, not %g", k, got, want)
		}
	}
	for k, want := range []float64{0, 0, 1, 1, 0, 0} {
		if got := g.Layers[0].Value[k]; got != want {
			t.Errorf("second %d has %g active sessions, not %g", k, got, want)
		}
	}
}
