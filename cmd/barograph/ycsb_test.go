package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/all"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study/ycsb"
)

// Each engine and layout is loaded and runs A to F. Every value is verified and every scan is
// checked: exit status 0. If a layout has no scans, E is refused.
func TestYCSBStory(t *testing.T) {
	for _, d := range all.Registry() {
		if d.Place == engine.Memory || len(kv.OfferOf(&d).Layouts) == 0 {
			continue // it keeps nothing between commands (see TestYCSBText), or has no such records
		}
		t.Run(d.Scheme, func(t *testing.T) {
			url := d.Scheme + ":" + filepath.Join(t.TempDir(), "db")
			if d.Place == engine.Remote {
				quickServer(t, d.Scheme)
				if slices.Contains(byDay(), d.Scheme) {
					url = sharedPlace(t, d.Scheme)
					t.Parallel() // these commands mostly wait for disks
				} else {
					url = enginetest.Lab(t, d, lab.Options{Memory: storyMemory}).URL()
				}
			}
			stories(t, d, url)
		})
	}
}

// quickServer skips complete commands on servers that start slowly, except at night (see
// enginetest.EnvSoak). With -short it skips all but PostgreSQL. The commands are the same for all
// servers, and each engine has its own tests.
func quickServer(t *testing.T, scheme string) {
	t.Helper()
	quick := byDay()
	if testing.Short() {
		quick = quick[:1]
	}
	if !slices.Contains(quick, scheme) && !enginetest.Nightly() {
		t.Skip("NOT TESTED by day: complete commands against " + scheme + "; set " + enginetest.EnvSoak + "=1")
	}
}

// byDay lists the servers that start quickly.
func byDay() []string { return []string{"postgres", "mariadb", "valkey"} }

// The nodes of a cluster share the keys and scans.
func TestYCSBStoryOfCluster(t *testing.T) {
	quickServer(t, "valkey")
	d, _ := all.Registry().Find("valkey")
	stories(t, *d, enginetest.Lab(t, *d, lab.Options{Memory: storyMemory, Nodes: 3}).URL())
}

// A server is killed and restarted during a run. The run uses it again, and only the operations in
// flight fail.
func TestYCSBOutlivesItsServer(t *testing.T) {
	for _, scheme := range []string{"postgres", "mariadb", "valkey"} {
		t.Run(scheme, func(t *testing.T) {
			quickServer(t, scheme)
			t.Parallel()
			d, _ := all.Registry().Find(scheme)
			l := enginetest.Lab(t, *d, lab.Options{Memory: storyMemory, Profile: "tuned"}) // durable commits
			common := []string{"--engine", l.URL(), "-p", "recordcount=200", "--verify", "--threads", "4"}
			must(t, append([]string{"ycsb", "load", "-p", "batchsize=20"}, common...)...)
			restarted := make(chan error, 1)
			errs := &callOnText{text: " sec: ", then: func() { // the run has started
				err := l.Kill(0)
				time.Sleep(100 * time.Millisecond) // the clients notice that it is down
				restarted <- errors.Join(err, l.Restart(t.Context(), 0))
			}}
			var out bytes.Buffer
			args := append([]string{"ycsb", "run", "-P", "workloada", "-p", "operationcount=2000", "--target", "1000", "--json", "-s", "-p", "status.interval=1"}, common...)
			code := execute(t.Context(), &env{args: args, stdout: &out, stderr: errs, engines: all.Registry()})
			if errs.then != nil {
				t.Fatalf("status %d before the server was killed\n%s", code, errs)
			}
			if err := <-restarted; err != nil {
				t.Fatal(err)
			}
			var r ycsb.ReportJSON
			if err := json.Unmarshal(out.Bytes(), &r); err != nil {
				t.Fatalf("status %d, %v\n%s", code, err, errs)
			}
			if code != fault.Incomplete || r.Operations != 2000 || r.Answers.Succeeded < 2000-2*4 || r.Reconnects < 1 || r.Outage <= 0 {
				t.Errorf("status %d, %d of %d operations succeeded, %d reconnects, %s\n%s", code, r.Answers.Succeeded, r.Operations, r.Reconnects, r.Outage, errs)
			}
			t.Logf("%s: %d of %d, %d reconnects, away for %s", scheme, r.Answers.Succeeded, r.Operations, r.Reconnects, r.Outage)
		})
	}
}

// callOnText is the output of a command. It calls then when the command first writes text.
type callOnText struct {
	bytes.Buffer
	text string
	then func() // nil = it was called
}

func (s *callOnText) Write(p []byte) (int, error) {
	if s.then != nil && bytes.Contains(p, []byte(s.text)) {
		go s.then()
		s.then = nil
	}
	return s.Buffer.Write(p)
}

// storyMemory is the memory limit of a server of the stories, in bytes.
const storyMemory = 3 << 29

func stories(t *testing.T, d engine.Driver, url string) {
	t.Helper()
	for _, layout := range kv.OfferOf(&d).Layouts {
		_, noScan := kv.OfferOf(&d).NoScan[layout]
		story(t, url, string(layout), noScan)
	}
}

// counted matches the lines with the outcomes of operations.
var counted = regexp.MustCompile(`\[[A-Z-]+\], Return=.*`)

func story(t *testing.T, url, layout string, noScan bool) {
	t.Helper()
	common := []string{"--engine", url, "--layout", layout, "-p", "table=table_" + layout, "-p", "operationcount=60", "--verify", "--threads", "3"}
	must(t, append([]string{"ycsb", "load", "-p", "recordcount=200", "-p", "batchsize=50"}, common...)...)
	records := 200
	for _, w := range ycsb.Workloads() {
		args := append([]string{"ycsb", "run", "-P", w, "-p", fmt.Sprint("recordcount=", records)}, common...)
		if w == "workloade" && noScan {
			if code, out, errs := barograph(t, args...); code != fault.Failed || !strings.Contains(errs, "cannot be scanned") {
				t.Errorf("%s, %s: status %d, %s%s", layout, w, code, out, errs)
			}
			continue
		}
		out := must(t, args...)
		t.Log(layout, w, counted.FindAllString(out, -1))
		if !strings.Contains(out, "[OVERALL], Throughput(ops/sec), ") || !strings.Contains(out, "[VERIFY], Return=OK, ") {
			t.Errorf("%s, %s: %s", layout, w, out)
		}
		if _, rest, ok := strings.Cut(out, "[INSERT], Return=OK, "); ok { // the next workload finds these records
			var n int
			if _, err := fmt.Sscan(rest, &n); err != nil {
				t.Fatal(err)
			}
			records += n
		}
	}
	for _, w := range ycsb.Mixes() {
		if strings.HasPrefix(w, "index") || w == "transfers" {
			continue // they use another table
		}
		args := append([]string{"ycsb", "run", "-P", w, "-p", fmt.Sprint("recordcount=", records)}, common...)
		if code, out, errs := barograph(t, args...); code == 0 && !strings.Contains(out, "[VERIFY], Return=OK, ") && w == "subdocument" || code != 0 && !strings.Contains(errs, "has no documents") {
			t.Errorf("%s, %s: status %d, %s%s", layout, w, code, out, errs)
		}
	}
}

// TestSweepBeyondPairs: a mix that the dry engine cannot do, because it has no documents, does not fail the sweep of an
// engine that can. The sweep reports once that the client overhead of this mix is not measured.
func TestSweepBeyondPairs(t *testing.T) {
	status, out, stderr := barograph(t, "ycsb", "sweep", "--engine", "sqlite:"+filepath.Join(t.TempDir(), "a.db"), "--layout", "document", "--load",
		"--workloads", "subdocument,wholedocument", "-p", "recordcount=50", "-p", "operationcount=50", "--threads", "1,2", "--reps", "2", "--out", filepath.Join(t.TempDir(), "run"))
	const reported = "subdocument: the client overhead is not measured"
	if status != 0 || strings.Count(stderr, reported) != 1 || !strings.Contains(out, reported) || !strings.Contains(out, "dry") || strings.Contains(out, "failed") {
		t.Errorf("status %d, %s%s", status, out, stderr)
	}
}

// The lines have YCSB's format.
func TestYCSBText(t *testing.T) {
	out := must(t, "ycsb", "run", "--engine", "dry", "-P", "workloadf", "--target", "100000", "-p", "hdrhistogram.percentiles=50,91,99.9", "-p", "hdrhistogram.fileoutput=true",
		"-p", "hdrhistogram.output.path="+filepath.Join(t.TempDir(), "x-"))
	line := regexp.MustCompile(`^\[[A-Z_a-z%-]+\], [A-Za-z0-9=_()/%.]+, [0-9]+(\.[0-9]+)?$`)
	for l := range strings.Lines(out) {
		if !line.MatchString(strings.TrimRight(l, "\n")) {
			t.Errorf("%q is no line of YCSB's", l)
		}
	}
	at := -1
	for _, want := range []string{
		"[OVERALL], RunTime(ms), ", "[OVERALL], Throughput(ops/sec), ", "[READ], Operations, 1000\n",
		"[READ], AverageLatency(us), ", "[READ], MinLatency(us), ", "[READ], MaxLatency(us), ", "[READ], 50thPercentileLatency(us), ", "[READ], 91stPercentileLatency(us), ",
		"[READ], 99.9PercentileLatency(us), ", "[READ], Return=OK, 1000\n", "[Intended-READ], Operations, 1000\n", "[UPDATE], ", "[READ-MODIFY-WRITE], ", "[CLEANUP], ",
		"[TOTAL_GCS_Go], Count, ", "[TOTAL_GCs], Count, ", "[TOTAL_GC_TIME_%], Time(%), ",
	} {
		next := strings.Index(out, want)
		if next < at || next < 0 {
			t.Errorf("%q is missing, or at another place", want)
		}
		at = next
	}
}

// Exit statuses report the result; --ycsb-exit-codes selects YCSB's.
func TestYCSBExitStatuses(t *testing.T) {
	url := "pebble:" + filepath.Join(t.TempDir(), "db")
	load := []string{"ycsb", "load", "--engine", url, "-p", "recordcount=100"}
	must(t, load...)
	for _, x := range []struct {
		want int
		args []string
	}{
		{fault.Incomplete, load},
		{0, append(load, "--resume")},
		{0, append(load, "--ycsb-exit-codes")},
		{fault.Incomplete, []string{"ycsb", "run", "--engine", url, "-p", "recordcount=101", "-p", "operationcount=10"}},
		{0, []string{"ycsb", "run", "--engine", url, "-p", "recordcount=100", "-p", "operationcount=10"}},
		{fault.Differs, []string{"ycsb", "run", "--engine", url, "-p", "recordcount=100", "-p", "operationcount=10", "--verify"}},
		{fault.Usage, []string{"ycsb", "run", "--engine", url, "-p", "recordcuont=100"}},
		{fault.Usage, []string{"ycsb", "run", "--engine", url, "-P", "workloadx"}},
		{fault.Usage, []string{"ycsb", "run"}},
		{fault.Usage, []string{"ycsb", "run", "--engine", "nothing:x"}},
		{fault.Usage, []string{"ycsb", "run", "--engine", url, "--fault-command", "true"}}, // there is no --fault
		{0, []string{"ycsb", "run", "--engine", url, "-p", "recordcount=100", "-p", "operationcount=10", "--history", "3"}},
		{fault.Usage, []string{"ycsb", "run", "--engine", url, "--history", "3", "--agents", "127.0.0.1:1"}},
		{fault.Unreachable, []string{"ycsb", "run", "--engine", "pebble:/dev/null/x"}},
		{255, []string{"ycsb", "load", "--engine", url, "-p", "recordcount=100", "-p", "insertcount=200", "--ycsb-exit-codes"}},
		{0, []string{"ycsb", "properties"}},
		{fault.Usage, []string{"ycsb", "sweep", "--engine", "dry", "--threads", "a"}},
	} {
		if got, _, errs := barograph(t, x.args...); got != x.want {
			t.Errorf("%v: status %d, want %d\n%s", x.args, got, x.want, errs)
		}
	}
	absent := []string{"ycsb", "run", "--engine", "pebble:/dev/null/x", "--ycsb-exit-codes"}
	if status, _, errs := barograph(t, append(absent, "--quiet")...); status != 0 || !strings.Contains(errs, "/dev/null/x") {
		t.Errorf("--quiet: status %d, %q", status, errs)
	}
	if _, _, errs := barograph(t, append(absent, "--json")...); !strings.HasPrefix(errs, `{"code":1,`) {
		t.Errorf("--json: %q", errs)
	}
}

// A run that fails before its first operation leaves no new run folder, and does not remove an
// existing one. The error names proportions that do not sum to 1.
func TestYCSBFailsBeforeItsFirstOperation(t *testing.T) {
	dir := t.TempDir()
	url, out := "sqlite:"+filepath.Join(dir, "a.db"), filepath.Join(dir, "out")
	status, _, errs := barograph(t, "ycsb", "run", "--engine", url, "-p", "recordcount=100", "--out", out)
	if _, err := os.Stat(out); status == 0 || err == nil || strings.Contains(errs, "report:") {
		t.Errorf("status %d, folder: %v\n%s", status, err, errs)
	}
	note := filepath.Join(out, "note.txt")
	if err := errors.Join(os.Mkdir(out, 0o755), os.WriteFile(note, nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	barograph(t, "ycsb", "run", "--engine", url, "-p", "recordcount=100", "--out", out)
	if _, err := os.Stat(note); err != nil {
		t.Error(err)
	}
	must(t, "ycsb", "load", "--engine", url, "-p", "recordcount=100")
	_, _, errs = barograph(t, "ycsb", "run", "--engine", url, "-p", "recordcount=100", "-p", "operationcount=9", "-p", "readproportion=0.9", "-p", "updateproportion=0.5")
	if !strings.Contains(errs, "operations sum to 1.4; Barograph divides each by the sum") {
		t.Error(errs)
	}
	_, _, errs = barograph(t, "ycsb", "sweep", "--engine", url, "--threads", "1", "-p", "recordcount=100", "-p", "operationcount=9", "-p", "insertproportion=0.4", "-p", "db.driver=x", "--workloads", "workloadb,workloadc")
	for _, want := range []string{"operations of workloadb sum to 1.4; ", "operations of workloadc sum to 1.4; ", "property db.driver of workloadb has no effect"} {
		if strings.Count(errs, want) != 1 {
			t.Errorf("%q is missing:\n%s", want, errs)
		}
	}
}

// A run on a file or folder that does not exist creates none.
func TestYCSBRunCreatesNoStore(t *testing.T) {
	for _, name := range []string{"none.pebble", "none.db", "none.bolt", "none.duck"} {
		path := filepath.Join(t.TempDir(), name)
		scheme := map[string]string{".pebble": "pebble:", ".db": "sqlite:", ".bolt": "bbolt:", ".duck": "duckdb:"}[filepath.Ext(name)]
		status, _, stderr := barograph(t, "ycsb", "run", "--engine", scheme+path, "-P", "workloada", "-p", "recordcount=10")
		if _, err := os.Stat(path); err == nil || status != fault.Failed || !strings.Contains(stderr, "does not exist; check the path, or load it first") {
			t.Errorf("%s: status %d, %s; store: %v", name, status, stderr, err)
		}
	}
}

// A resumed load mostly reads records that exist. The report must not take its time without inserts for a bottleneck.
func TestYCSBResumedLoadHasNoBottleneck(t *testing.T) {
	url := sharedPlace(t, "postgres")
	for records, resumed := range map[string]bool{"500": false, "501": true} {
		args := []string{"ycsb", "load", "--engine", url, "-p", "table=resumed" + records, "-p", "recordcount=500"}
		must(t, args...)
		if resumed {
			args = append(args[:len(args)-1], "recordcount=501", "--resume")
		} else {
			args[5] = "table=fresh"
		}
		_, out, errs := barograph(t, args...)
		if strings.Contains(errs, " cores were ") == resumed || resumed && !strings.Contains(out, "[INSERT], Existing, 500") {
			t.Errorf("resumed %v: %s\n%s", resumed, out, errs)
		}
	}
}

// Wrong answers have no numbers in YCSB's lines, CSV, JSON, the run folder, the page, or a sweep on
// the terminal.
func TestYCSBWrongAnswersHaveNoNumbers(t *testing.T) {
	dir := t.TempDir()
	url := "pebble:" + filepath.Join(dir, "db")
	must(t, "ycsb", "load", "--engine", url, "-p", "recordcount=50", "--verify")
	must(t, "ycsb", "load", "--engine", url, "-p", "recordcount=100", "--resume")                                                    // random values
	timed := regexp.MustCompile(`Throughput|Latency\(|RunTime|Highest|p95 [0-9]|"measured"|"throughput_ops_s": [1-9]|_ns": [1-9]|` + // YCSB's lines, JSON
		`has no times[ —]+[0-9]|has no times,[^,]*,[0-9]+,[0-9]+,,*[0-9]`) // a table's cells, CSV after rep and rows
	for i, x := range [][]string{{"run"}, {"run", "--json"}, {"run", "--csv"}, {"run", "--out", "DIR"}, {"sweep", "--threads", "1,2", "--client-overhead=false"}, {"sweep", "--json", "--client-overhead=false"}, {"sweep", "--csv", "--client-overhead=false"}} {
		out := filepath.Join(dir, fmt.Sprint("run", i))
		args := append([]string{"ycsb"}, x...)
		if args[len(args)-1] == "DIR" {
			args[len(args)-1] = out
		}
		hdr := filepath.Join(dir, fmt.Sprint("hdr", i))
		code, stdout, stderr := barograph(t, append(args, "--engine", url, "-P", "workloadc", "-p", "recordcount=100", "-p", "operationcount=50", "--verify",
			"-p", "hdrhistogram.fileoutput=true", "-p", "hdrhistogram.output.path="+hdr)...)
		if found := timed.FindString(stdout + stderr); code != fault.Differs || found != "" || !strings.Contains(stdout+stderr, "wrong") {
			t.Errorf("%v: status %d, %q\n%s%s", x, code, found, stdout, stderr)
		}
		if logs, _ := filepath.Glob(hdr + "*"); len(logs) > 0 {
			t.Errorf("%v: %v", x, logs)
		}
		if x[len(x)-1] != "DIR" {
			continue
		}
		_, points, err := run.Read(out)
		if err != nil {
			t.Fatal(err)
		}
		if p := points[0]; p.Verdict != run.Wrong || p.Measured() != nil {
			t.Errorf("the folder has %+v", p)
		}
		page, err := os.ReadFile(filepath.Join(out, "report.html"))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(page), "No engine gave correct results") || strings.Contains(string(page), "Highest throughput:") {
			t.Error("the page ranks what is wrong")
		}
	}
}

func TestYCSBSweepAndJSON(t *testing.T) {
	dir := t.TempDir()
	args := []string{"ycsb", "sweep", "--engine", "dry", "--engine", "sqlite:" + filepath.Join(dir, "a.db"), "--load", "--threads", "1,3", "-P", "workloade", "-p", "recordcount=100", "-p", "operationcount=100", "--json"}
	var cells []run.Sample
	if err := json.Unmarshal([]byte(must(t, args...)), &cells); err != nil || len(cells) != 4 {
		t.Fatalf("%v, %v", cells, err)
	}
	for _, c := range cells {
		if m := c.Measured(); m == nil || m.Throughput <= 0 || m.Response.P95 < m.Response.P50 || c.Verdict != run.Equal {
			t.Errorf("%+v", c)
		}
	}
	out := filepath.Join(dir, "result.json")
	must(t, "ycsb", "run", "--engine", "dry", "-P", "workloadc", "--json", "-p", "exportfile="+out)
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var r ycsb.ReportJSON
	if err := json.Unmarshal(text, &r); err != nil || r.Operations != 1000 || !r.Right || len(r.Measurements) == 0 {
		t.Errorf("%v, %+v", err, r)
	}
}

// Two clients load and run their shards. merge combines their folders without loss and writes the
// report.
func TestYCSBShardsAndMerge(t *testing.T) {
	dir := t.TempDir()
	url := "pebble:" + filepath.Join(dir, "db")
	var outs []string
	for _, shard := range []string{"1/2", "2/2"} {
		must(t, "ycsb", "load", "--engine", url, "-p", "recordcount=301", "--shard", shard)
	}
	for i, shard := range []string{"1/2", "2/2"} {
		out := filepath.Join(dir, fmt.Sprint("client", i))
		must(t, "ycsb", "run", "--engine", url, "-P", "workloada", "-p", "recordcount=301", "-p", "operationcount=101", "--shard", shard, "--out", out)
		outs = append(outs, out)
	}
	both := filepath.Join(dir, "both")
	must(t, append([]string{"merge", "--out", both}, outs...)...)
	_, points, err := run.Read(both)
	if err != nil {
		t.Fatal(err)
	}
	if len(points) != 3 { // pebble, and the overhead of each client
		t.Fatalf("%d points", len(points))
	}
	done := map[string]int64{}
	for _, p := range points {
		m, clients := p.Measured(), 2
		if p.Cell.Engine == "dry" {
			clients = 1
		}
		if done[p.Cell.Engine] += m.Operations; p.Verdict != run.Equal || m.LoadMachines != clients {
			t.Errorf("%+v", p)
		}
	}
	if done["pebble"] != 101 || done["dry"] != 101 {
		t.Errorf("operations: %v", done)
	}
	if _, err := os.Stat(filepath.Join(both, "report.html")); err != nil {
		t.Error(err)
	}
	for _, args := range [][]string{{"merge", outs[0], outs[0], "--out", both + "2"}, {"ycsb", "sweep", "--engine", "dry", "-p", "shard=1/2"}} {
		if code, _, _ := barograph(t, args...); code == 0 {
			t.Errorf("%v succeeded", args)
		}
	}
}

func TestYCSBSaturation(t *testing.T) {
	out := filepath.Join(t.TempDir(), "run")
	must(t, "ycsb", "sweep", "--engine", "sqlite:"+filepath.Join(t.TempDir(), "a.db"), "--load", "--workloads", "workloada,workloade", "-p", "recordcount=100", "-p", "operationcount=200",
		"--find-saturation", "--p95", "10s", "--max-threads", "4", "--out", out)
	r, points, err := run.Read(out)
	if err != nil || len(points) < 4 {
		t.Fatalf("%d points, %v", len(points), err)
	}
	found := strings.Join(r.Findings, "\n")
	if !strings.Contains(found, "workloade on sqlite: ") {
		t.Errorf("%q", found)
	}
}

// TestYCSBFaultCommand: the user's command causes the faults. Impossible requests are reported
// before the run starts.
func TestYCSBFaultCommand(t *testing.T) {
	t.Parallel() // it mostly waits
	dir := t.TempDir()
	done, out := filepath.Join(dir, "done"), filepath.Join(dir, "run")
	plain := filepath.Join(dir, "plain.sh")
	if err := os.WriteFile(plain, []byte("#!/bin/sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := []string{"ycsb", "run", "--engine", "dry", "-P", "workloada", "--threads", "4", "-p", "maxexecutiontime=2", "--out", out}
	for cure, further := range map[string][]string{
		"write like kill:node2@20s": {"--fault", "kill"},
		"give a --target":           {"--fault", "kill@1s", "--fault-command", "true"},
		"or omit it":                {"--target", "100", "--fault", ""},
		"dry has no server":         {"--target", "100", "--fault", "kill@1s"},
		"the run is over before":    {"--target", "100", "--fault", "kill@9s", "--fault-command", "true", "--out", out},
		"cannot be run: ":           {"--target", "100", "--fault", "kill@1s", "--fault-command", "WAIT=1 " + dir + "/nowhere.sh hard"},
		"permission denied":         {"--target", "100", "--fault", "kill@1s", "--fault-command", plain},
		"brake is no command here":  {"--target", "100", "--fault", "kill@1s", "--fault-command", "brake"},
		"not understood by /bin/sh": {"--target", "100", "--fault", "kill@1s", "--fault-command", "if true"},
	} {
		if code, _, stderr := barograph(t, append(run[:len(run)-2:len(run)-2], further...)...); code != fault.Usage || !strings.Contains(stderr, cure) {
			t.Errorf("%v: status %d, %s", further, code, stderr)
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a run that was refused has a folder")
	}
	code, _, stderr := barograph(t, append(run, "--target", "100", "--fault", "kill:node2@1s,restart@1s", "--fault-command", "echo >>"+done)...)
	if text, err := os.ReadFile(done); code != 0 || err != nil || string(text) != "kill 2\nrestart 2\n" {
		t.Errorf("status %d, %q, %v\n%s", code, text, err, stderr)
	}
	page, err := os.ReadFile(filepath.Join(out, "report.html"))
	if err != nil || !strings.Contains(string(page), "What a fault costs") || !strings.Contains(string(page), "kill:node2@1s") {
		t.Errorf("the page does not show the fault: %v", err)
	}
	if histories, _ := filepath.Glob(filepath.Join(out, "histories", "*.jsonl.gz")); len(histories) != 1 {
		t.Errorf("%v", histories)
	}
	again := filepath.Join(dir, "again") // it leaves a process that keeps its output open
	code, _, stderr = barograph(t, append(run[:len(run)-1:len(run)-1], again, "--target", "100", "--history", "0", "--fault", "kill@1s,restart@1s",
		"--fault-command", "f() { sleep 60 & echo done $1; echo but $2 >&2; test $1 = kill || exit 3; }; f")...)
	events, err := os.ReadFile(filepath.Join(again, "events.jsonl"))
	for _, want := range []string{`kill:node1: exit status 0, stdout \"done kill\", stderr \"but 1\"`, `exit status 3, stdout \"done restart\", stderr \"but 1\"`} {
		if code == 0 || err != nil || !strings.Contains(string(events), want) {
			t.Errorf("status %d, %v, no %s in the events: %s\n%s", code, err, want, events, stderr)
		}
	}
}

// TestYCSBSweepAgain: with --replace, a second sweep replaces the table of the first one.
func TestYCSBSweepAgain(t *testing.T) {
	args := []string{"ycsb", "sweep", "--engine", "sqlite:" + filepath.Join(t.TempDir(), "a.db"), "--load", "--threads", "2", "-P", "workloadd", "-p", "insertproportion=0.3", "-p", "recordcount=100", "-p", "operationcount=200", "--client-overhead=false"}
	must(t, args...)
	if code, _, stderr := barograph(t, args...); code != fault.Incomplete || !strings.Contains(stderr, "existed already") {
		t.Errorf("status %d: %s", code, stderr)
	}
	for range 2 {
		must(t, append(args, "--replace")...)
	}
}
