package report

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/results/run"
)

// rampSample returns a sample of a ramp.
func rampSample(engine string, rate, done float64, p99 time.Duration) run.Sample {
	x := newPoint(engine, "server", 16, 1, done)
	x.Cell = run.MixCell(engine, "columns", "workloada", 16, rate, "", "ramp", "yes")
	x.Response.P99 = p99
	return sampleOf(x)
}

// TestOnlyARamp: a run whose samples are all of a ramp has run operations. The report states whether they were correct, and
// has their warnings.
func TestOnlyARamp(t *testing.T) {
	samples := []run.Sample{
		rampSample("postgres", 1000, 1000, 4*time.Millisecond), rampSample("postgres", 1500, 1499, 9*time.Millisecond),
	}
	samples[1].Warnings = []string{"more operations were due than started"}
	r := OfPoints(&run.Run{Findings: []string{"the knee: it sustains 1500/s"}}, samples)
	if len(r.Answers) != 2 || r.Answers[0].Class != "answer right" || !strings.Contains(r.Answers[0].Text, "reads and scans were compared") ||
		r.Answers[1].Text != "the knee: it sustains 1500/s." {
		t.Errorf("%+v", r.Answers)
	}
	if want := "workloada on postgres, 16 threads: more operations were due than started"; len(r.Warnings) != 1 || r.Warnings[0] != want {
		t.Errorf("%q", r.Warnings)
	}
	samples = append(samples, samples[0].Judge(nil, answer.Proof{}, &answer.Diff{Problem: "a value differs"}))
	r = OfPoints(&run.Run{}, samples)
	if r.Answers[0] != verdict(false, "1 run of 3 not correct; these have no times.") {
		t.Errorf("%+v", r.Answers)
	}
	if r = OfPoints(&run.Run{}, nil); r.Answers[0] != verdict(false, "No operation was run.") {
		t.Errorf("%+v", r.Answers)
	}
}

// TestTransfersAreCorrectOnlyIfDecided: the words claim correct balances only if each was decided.
func TestTransfersAreCorrectOnlyIfDecided(t *testing.T) {
	for _, undecided := range []bool{false, true} {
		s := newPoint("mariadb", "server", 8, 1, 99).Sample
		s.Transfers = &run.Transfers{Isolation: "serializable", Accounts: 20, Sum: 20000, Expected: 20000, Undecided: undecided}
		words := fmt.Sprint(transferSections([]run.Sample{s})[0].Words)
		if strings.Contains(words, "All are correct") == undecided {
			t.Errorf("undecided %v: %s", undecided, words)
		}
	}
}

// TestKneesAndTransfers: the page lists the steps of a ramp by their rate, and omits them from the other tables. Runs
// with wrong account balances have no times, and the page names them.
func TestKneesAndTransfers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "r")
	f, err := run.Create(dir, run.Run{
		ID: "r", Workload: run.MixWorkload, Args: []string{"ycsb", "sweep"}, Findings: []string{"the knee: it sustains 1500/s"},
	})
	if err != nil {
		t.Fatal(err)
	}
	wrong := newPoint("mariadb", "server", 8, 1, 99999).Sample
	wrong.Cell = run.MixCell("mariadb", "columns", "transfers", 8, 0, "", "isolation", "repeatable-read")
	wrong.Transfers = &run.Transfers{
		Isolation: "repeatable-read", Accounts: 20, Moved: 17, Aborted: 4, Unknown: 2, UnknownApplied: 1, Sum: 20455,
		Expected: 20000, Unexplained: 7, Example: "user1",
	}
	wrong = wrong.Judge(nil, answer.Proof{}, &answer.Diff{})
	for _, s := range []run.Sample{
		rampSample("postgres", 2250, 1700, 3*time.Second), rampSample("postgres", 1000, 1000, 4*time.Millisecond),
		rampSample("postgres", 1500, 1499, 9*time.Millisecond), wrong,
	} {
		if err := f.Add(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	page := html(t, dir)
	for _, want := range []string{
		"Sustained rate", "operations done and due", "Transfers between accounts",
		"They are not correct and have no times: mariadb at repeatable-read", "no: 20,455, not 20,000",
		"transfers · repeatable-read", "the knee: it sustains 1500/s",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not in the page", want)
		}
	}
	if i, k := strings.Index(page, ">1,000<"), strings.Index(page, ">2,250<"); i < 0 || k < i ||
		strings.Contains(page, "99,999") || strings.Contains(page, "workloada: throughput") {
		t.Errorf("%d, %d\n%s", i, k, terminal(t, dir))
	}
	r, err := OpenAdvising(dir, Advising{})
	if err != nil {
		t.Fatal(err)
	}
	paths, err := r.Pictures(filepath.Join(dir, "pictures"))
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, p := range paths {
		svg, err := os.ReadFile(p)
		if err != nil || !bytes.HasPrefix(svg, []byte("<svg xmlns=")) || bytes.Contains(svg, []byte("class=")) {
			t.Errorf("%s: %v, %.80s", p, err, svg)
		}
	}
}
