package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/barograph/barograph/internal/fault"
)

// TestFormerFlags: the former name of a flag still works for one version, is hidden, and prints one
// line with the present name. A flag that will be removed prints its replacement.
func TestFormerFlags(t *testing.T) {
	found := map[string]bool{}
	commands(func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			inner := f.Value
			if b, ok := inner.(whileLoadingAlias); ok {
				inner = b.Value
			}
			d, ok := inner.(*deprecated)
			if !ok {
				return
			}
			if found[strings.TrimPrefix(c.CommandPath(), "barograph")+" --"+f.Name] = true; !f.Hidden {
				t.Errorf("%s --%s is shown", c.CommandPath(), f.Name)
			}
			if d.flags != nil && d.flags.Lookup(d.replacement) == nil {
				t.Errorf("%s --%s has no flag %s", c.CommandPath(), f.Name, d.replacement)
			}
		})
	})
	for _, name := range []string{
		" ask --from", " load --to", " list conflicts --from", " met --askers", " met --ask-for", " met --ask-reps", " met --floor", " quickstart --floor",
		" post --posters", " post --together", " post --rounds", " post --from", " post --db", " scan own --for", " scan own --beside", " scan lake --work", " scan --db", " ycsb run --db",
		" ycsb sweep --floor", " ycsb sweep --most-threads", " ycsb sweep --p95", " ycsb sweep --p99", " scan lake --partition", " scan lake --cases", " scan --query", " scan forecast --query", " synth shef --stations", " post --stations", " synth vsdb --from", " synth vsdb --to", " synth met --from", " synth shef --from", " shef decode --from", " shef post --from",
		" shef export --from", " shef serve --learn-ingest", " lab --dir", " adopt --mend", " version --licences", " --spreadsheet",
	} {
		if !found[name] {
			t.Errorf("barograph%s is not understood any more", name)
		}
	}
	dir := filepath.Join(t.TempDir(), "data")
	status, _, stderr := barograph(t, "synth", "vsdb", "--from", "2019-01-01", "--to", "2019-01-01", "--models", "gfs", "--stattypes", "anom", "--out", dir)
	if status != 0 || strings.Count(stderr, "the next version accepts only") != 2 || !strings.Contains(stderr, "--from is now --since") {
		t.Errorf("status %d: %s", status, stderr)
	}
	if status, _, stderr := barograph(t, "scan", "own", "--tables", dir, "--queries", dir, "--beside", "lod"); status != fault.Usage || !strings.Contains(stderr, "write load") {
		t.Errorf("status %d: %s", status, stderr)
	}
	sql := filepath.Join(dir, "q.sql")
	if err := os.WriteFile(sql, []byte("SELECT 1;\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, _, stderr := barograph(t, "scan", "own", "--tables", dir, "--queries", sql, "--beside", "load"); status != fault.Usage || !strings.Contains(stderr, "--while-loading needs streams") {
		t.Errorf("status %d: %s", status, stderr)
	}
	if status, _, stderr := barograph(t, "version", "--licences"); status != 0 || !strings.Contains(stderr, "--licences is now --licenses") {
		t.Errorf("status %d: %s", status, stderr)
	}
}

// TestEngineVariable: BAROGRAPH_ENGINE names the archive for every command line that names none,
// and never replaces a named one.
func TestEngineVariable(t *testing.T) {
	data, dir := dayOfData(t), t.TempDir()
	url, other := "sqlite:"+filepath.Join(dir, "a.db"), "sqlite:"+filepath.Join(dir, "b.db")
	if status, _, stderr := barograph(t, "show"); status != fault.Usage || !strings.Contains(stderr, "set BAROGRAPH_ENGINE") {
		t.Errorf("status %d: %s", status, stderr)
	}
	if status, _, stderr := barograph(t, "ask", "test_3"); status != fault.Usage || !strings.Contains(stderr, "set BAROGRAPH_ENGINE") {
		t.Errorf("status %d: %s", status, stderr)
	}
	t.Setenv(envEngine, url)
	must(t, "load", data)
	must(t, "load", data, "--engine", other, "--design", "document")
	for _, args := range [][]string{{"show"}, {"verify"}, {"verify", data}, {"cases"}, {"list", "conflicts"}, {"ask", "test_3"}} {
		if out := must(t, args...); strings.Contains(out, "b.db") || out == "" {
			t.Errorf("%v prints %s", args, out)
		}
	}
	for _, args := range [][]string{{"show", other}, {"verify", other}, {"verify", other, data}} {
		if out := must(t, args...); !strings.Contains(out, "b.db") || strings.Contains(out, "a.db") {
			t.Errorf("%v prints %s", args, out)
		}
	}
	must(t, "list", "conflicts", other)
	first, second := must(t, "ask", other, "test_3", "--format", "csv"), must(t, "ask", "test_3", "--engine", other, "--format", "csv")
	if first != second || strings.Count(first, "\n") < 2 {
		t.Errorf("ask URL QUESTION and ask QUESTION --engine URL differ:\n%s%s", first, second)
	}
	if out := must(t, "show", data); strings.Contains(out, "a.db") {
		t.Errorf("files are shown as %s", out)
	}
	if status, _, stderr := barograph(t, "ask", url, "test_3", "--engine", other); status != fault.Usage || !strings.Contains(stderr, "names a second archive") {
		t.Errorf("status %d: %s", status, stderr)
	}
}

// TestQuietAndJSON: --quiet prints only results and errors; with --json every error is JSON.
func TestQuietAndJSON(t *testing.T) {
	data, db := dayOfData(t), "sqlite:"+filepath.Join(t.TempDir(), "a.db")
	status, stdout, stderr := barograph(t, "load", data, "--engine", db, "--quiet")
	if status != 0 || stderr != "" || !strings.Contains(stdout, "4 loaded") {
		t.Errorf("status %d: %s%s", status, stdout, stderr)
	}
	if _, _, stderr := barograph(t, "ask", db, "nix", "-q"); !strings.HasPrefix(stderr, "barograph: ") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("the error is %q", stderr)
	}
	for _, args := range [][]string{{"ask", db, "nix", "--json"}, {"load", "--nix", "--json"}, {"lod", "--json"}, {"shef", "decode", "--json", filepath.Join(data, "nix"), data}} {
		_, _, stderr := barograph(t, args...)
		for line := range strings.Lines(stderr) {
			var problem map[string]any
			if err := json.Unmarshal([]byte(line), &problem); err != nil && slices.Contains(args, "ask") {
				t.Errorf("%v prints %s", args, line)
			}
		}
		var last map[string]any
		lines := strings.Split(strings.TrimSpace(stderr), "\n")
		if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil || last["message_type"] != "exit_error" {
			t.Errorf("%v ends with %s", args, lines[len(lines)-1])
		}
	}
}
