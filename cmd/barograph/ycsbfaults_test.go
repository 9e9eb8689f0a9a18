package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/all"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/results/measure/pace"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study/ycsb"
)

// faultyLab starts a server in a folder of labs, under its name; on frail disks, if the options
// request them.
func faultyLab(t *testing.T, scheme string, o lab.Options) (labs, url string) {
	t.Helper()
	d, _ := all.Registry().Find(scheme)
	labs = t.TempDir()
	o.Dir, o.Memory = filepath.Join(labs, scheme), storyMemory
	return labs, enginetest.Lab(t, *d, o).URL()
}

// runWithFaults runs a workload on a loaded table, with faults of its server. It returns the exit status, the output
// and the sample.
func runWithFaults(t *testing.T, labs, url, faults, seconds string, further ...string) (code int, output string, s run.Sample) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "run")
	args := append([]string{
		"ycsb", "run", "--engine", url, "--lab-dir", labs, "-P", "workloada", "-p", "recordcount=200", "-p", "maxexecutiontime=" + seconds,
		"--threads", "4", "--target", "100", "--fault", faults, "--out", out,
	}, further...)
	code, _, output = barograph(t, args...)
	_, samples, err := run.Read(out)
	if err != nil || len(samples) != 1 || samples[0].Fault == nil {
		t.Fatalf("status %d: %+v, %v\n%s", code, samples, err, output)
	}
	for _, m := range samples[0].Fault.Moments {
		if m.Problem != "" {
			t.Errorf("%s: %s", m.Command, m.Problem)
		}
	}
	return code, output, samples[0]
}

// broken lists the promises of a history that were violated.
func broken(s run.Sample) (names []string) {
	for _, k := range s.Fault.History.Promises {
		if k.Violations > 0 {
			names = append(names, k.Promise)
		}
	}
	return names
}

// TestYCSBFaults: a real server responds late, has a full disk, and loses power. The flushed
// records exist. If the server never flushed, the test finds the loss, although its data survive
// kill -9.
func TestYCSBFaults(t *testing.T) {
	t.Parallel() // it mostly waits
	frail := lab.TryFrailDisk()
	t.Run("flushed", func(t *testing.T) {
		t.Parallel()
		labs, url := faultyLab(t, "valkey", lab.Options{Profile: "tuned", Frail: frail == nil})
		must(t, "ycsb", "load", "--engine", url, "-P", "workloada", "-p", "recordcount=200")
		faults, seconds := "slow:100ms@1s,fast@2s", "4"
		if frail == nil {
			faults, seconds = faults+",disk-full@3s,disk-free@4s,power-off@5s,power-on@6s", "9"
		} else {
			t.Logf("NOT TESTED: a full disk, and a power failure: %v", frail)
		}
		code, output, s := runWithFaults(t, labs, url, faults, seconds)
		if code != 0 && code != fault.Incomplete || s.Verdict != run.Equal || broken(s) != nil || len(s.Fault.Moments) != strings.Count(faults, "@") {
			t.Fatalf("status %d, %s, broken %v, %+v\n%s", code, s.Verdict, broken(s), s.Fault, output)
		}
		if late := s.Measured().Response.Max; late.Milliseconds() < 100 {
			t.Errorf("the slowest answer took %s", late)
		}
		t.Log(output)
	})
	t.Run("never flushed", func(t *testing.T) {
		t.Parallel()
		if frail != nil {
			t.Skipf("NOT TESTED: a power failure: %v", frail)
		}
		labs, url := faultyLab(t, "valkey", lab.Options{Profile: "tuned", Frail: true, Settings: map[string]string{"appendfsync": "no"}})
		must(t, "ycsb", "load", "--engine", url, "-P", "workloada", "-p", "recordcount=200")
		code, output, s := runWithFaults(t, labs, url, "kill@1s,restart@1500ms", "3")
		if code != 0 && code != fault.Incomplete || s.Verdict != run.Equal || broken(s) != nil {
			t.Errorf("kill -9: status %d, %s, broken %v\n%s", code, s.Verdict, broken(s), output)
		}
		code, output, s = runWithFaults(t, labs, url, "power-off@2s,power-on@2500ms", "4")
		if code == 0 || !slices.Contains(broken(s), string(engine.NoLostWrites)) {
			t.Errorf("power off: status %d, broken %v\n%s", code, broken(s), output)
		}
		t.Log(output)
	})
}

// queryWith returns for each SQL engine a function that sends a query to a server with its own client. sql has two
// verbs: the type of an integer, and the prefix of the table.
func queryWith(sql string) map[string]func(t *testing.T, url string) string {
	return map[string]func(t *testing.T, url string) string{
		"postgres": func(t *testing.T, url string) string {
			t.Helper()
			out, err := exec.CommandContext(t.Context(), "psql", "-XAtc", fmt.Sprintf(sql, "bigint", ""), url).CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			return string(out)
		},
		"mariadb": func(t *testing.T, url string) string {
			t.Helper()
			return client(t, url, `mariadb "${to[@]}" -N -e "`+fmt.Sprintf(sql, "integer", "ycsb.")+`"`)
		},
	}
}

// TestYCSBTransfers: the sum of all balances stays the same when an SQL server is killed during a
// run; the server's own client sees this sum, too. If the isolation does not separate transfers,
// the sum is wrong, and the run has no times.
func TestYCSBTransfers(t *testing.T) {
	t.Parallel() // it mostly waits
	for scheme, sum := range queryWith("SELECT sum(cast(field0 as %s)) FROM %susertable") {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			labs, url := faultyLab(t, scheme, lab.Options{})
			few := []string{"-P", "transfers", "-p", "recordcount=20"}
			must(t, slices.Concat([]string{"ycsb", "load", "--engine", url}, few)...)
			code, output, s := runWithFaults(t, labs, url, "kill@1s,restart@2s", "6", slices.Concat([]string{"--history", "0", "--target", "400", "-p", "operationcount=0"}, few)...)
			x := s.Transfers
			if code != fault.Incomplete || s.Verdict != run.Equal || !strings.Contains(output, "without service") || x == nil || x.Problem() != "" || x.Aborted == 0 || x.Moved == 0 {
				t.Fatalf("status %d, %s, %+v\n%s", code, s.Verdict, x, output)
			}
			if got := strings.TrimSpace(sum(t, url)); got != "20000" {
				t.Errorf("the server's own client sums up %s", got)
			}
			t.Logf("%+v: %s", x, output)
			code, _, output = barograph(t, slices.Concat([]string{"ycsb", "run", "--engine", url}, few, []string{"-p", "isolation=read-committed", "--threads", "8", "-p", "operationcount=2000"})...)
			if code != fault.Differs || !strings.Contains(output, "at isolation read-committed the sum of all balances is") {
				t.Errorf("read-committed: status %d\n%s", code, output)
			}
		})
	}
}

// TestYCSBFailover: a run during which an SQL server is killed exits with status 4 and reports the
// length of the outage. The server has every acknowledged insert. It may have some of the failed
// ones.
func TestYCSBFailover(t *testing.T) {
	t.Parallel() // it mostly waits
	for scheme, count := range queryWith("SELECT cast(count(*) as %s) FROM %susertable") {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			labs, url := faultyLab(t, scheme, lab.Options{})
			must(t, "ycsb", "load", "--engine", url, "-P", "workloada", "-p", "recordcount=200")
			code, output, s := runWithFaults(t, labs, url, "kill@1s,restart@2s", "6", "--history", "0", "-p", "readproportion=0.5", "-p", "updateproportion=0", "-p", "insertproportion=0.5")
			if code != fault.Incomplete || s.Verdict != run.Equal || !strings.Contains(output, "without service") {
				t.Fatalf("status %d, %s\n%s", code, s.Verdict, output)
			}
			inserted, failed := int64(0), int64(0)
			for _, g := range s.Measured().Groups {
				switch {
				case g.Operation == "INSERT" && g.Outcome == "OK":
					inserted += g.Count
				case g.Operation == "INSERT":
					failed += g.Count
				}
			}
			rows, err := strconv.ParseInt(strings.TrimSpace(count(t, url)), 10, 64)
			if err != nil || inserted == 0 || rows < 200+inserted || rows > 200+inserted+failed {
				t.Errorf("%d rows of 200 that were loaded, %d inserts that counted and %d that failed, %v", rows, inserted, failed, err)
			}
			t.Logf("%d rows = 200 + %d inserts, %d failed: %s", rows, inserted, failed, output)
		})
	}
}

// TestStatusOfARunWithFaults: a run with faults reports its progress each second. The lines follow the status interval
// nevertheless, and their rate is that of one second.
func TestStatusOfARunWithFaults(t *testing.T) {
	var printed strings.Builder
	watch := (&env{stderr: &printed}).statusLine(&ycsb.Config{StatusInterval: 10}, true)
	for second := range 20 {
		n := int64(second + 1)
		watch(pace.Progress{Elapsed: time.Duration(n) * time.Second, Finished: 100 * n})
	}
	lines, rates := strings.Count(printed.String(), "\n"), strings.Count(printed.String(), "; 100.0 current ops/sec;")
	if lines != 2 || rates != 2 {
		t.Errorf("%d lines, %d with the rate:\n%s", lines, rates, printed.String())
	}
}
