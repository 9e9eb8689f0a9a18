package report

import (
	"bytes"
	"cmp"
	"errors"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/plot"
	"github.com/barograph/barograph/results/run"
)

// newPoint returns a correct point with synthetic numbers.
func newPoint(engine, place string, threads, rep int, perSecond float64) *point {
	h := measure.NewHistogram()
	for i := range 1000 {
		h.Record(time.Duration(float64(threads)/perSecond*float64(500+i)) * time.Millisecond)
	}
	m := run.Measured{Total: 10 * time.Second}
	m.Mix = &run.Mix{
		Place: place, LoadMachines: 1, Operations: int64(10 * perSecond), Throughput: perSecond, Interval: time.Second,
		Response: run.Summarize(h), Service: run.Summarize(h),
		Groups: []run.Group{
			{Operation: "READ", Outcome: "OK", Count: 500, Records: 500, InTotal: true, Service: run.Summarize(h), Response: run.Summarize(h)},
			{Operation: "UPDATE", Outcome: "OK", Count: 500, Records: 500, InTotal: true, Service: run.Summarize(h), Response: run.Summarize(h)},
		},
	}
	for i := range m.Groups {
		if err := m.Groups[i].SetTimes(h, h); err != nil {
			panic(err)
		}
	}
	m.Usage = &run.Usage{
		Client:  measure.ClientLoad{Wall: 10 * time.Second, User: 3 * time.Second, Cores: 4},
		Machine: measure.MachineLoad{Cores: 4, Busy: 0.5},
	}
	for i := range 10 {
		n := int64(perSecond)
		if i == 5 {
			n /= 100
		}
		m.Series = append(m.Series, run.SeriesInterval{Completed: n, Slowest: time.Second / 10})
	}
	half := int64(5 * perSecond)
	return judgedPoint(run.Sample{Cell: run.MixCell(engine, "columns", "workloada", threads, 0, ""), Rep: rep}, m,
		run.Answers{Succeeded: 2 * half, Found: half, Written: half}, nil)
}

// judgedPoint returns a point whose results were compared with the given outcome.
func judgedPoint(s run.Sample, m run.Measured, a run.Answers, failed error) *point {
	proof, failed := answer.CompareAll(a, failed)
	s.Answers = &a
	return pointsOf([]run.Sample{s.Judge(&m, proof, failed)})[0]
}

// sampleOf returns the sample of a point, also after the test changed the point.
func sampleOf(p *point) run.Sample {
	proof, failed := answer.CompareAll(*p.Answers, nil)
	if p.Problem != "" {
		failed = &answer.Diff{Problem: p.Problem}
	}
	return p.Judge(&p.Measured, proof, failed)
}

func pointsFolder(t *testing.T, all ...*point) string {
	t.Helper()
	return pointsFolderOf(t, nil, all...)
}

func pointsFolderOf(t *testing.T, archives []run.Archive, all ...*point) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "r")
	f, err := run.Create(dir, run.Run{
		ID: "r", Workload: run.MixWorkload, Archives: archives, Started: time.Unix(1_700_000_000, 0).UTC(),
		Finished: time.Unix(1_700_000_100, 0).UTC(), Args: []string{"ycsb", "sweep"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		if err := f.Add(sampleOf(p)); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestPointsPage: the page has the picture, the client overhead, the parameters of the law, and stalls. A wrong point
// has no number.
func TestPointsPage(t *testing.T) {
	var all []*point
	for rep := 1; rep <= 6; rep++ {
		for i, n := range []int{1, 2, 4, 8} {
			all = append(all, newPoint("postgres", "server", n, rep, []float64{1000, 1900, 3300, 4800}[i]+float64(rep)),
				newPoint("dry", "memory", n, rep, 1e6))
		}
	}
	bad := newPoint("mariadb", "server", 8, 1, 123456)
	bad = judgedPoint(bad.Sample, bad.Measured, run.Answers{Wrong: 17, Succeeded: 1, Found: 1}, errors.New("17 answers are wrong"))
	dir := pointsFolder(t, append(all, bad)...)
	path, err := Write(dir, Advising{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"1 run of 49 not correct",
		"Highest throughput: postgres 4,800/s (4,800 – 4,810) with 8 threads. In brackets", "50 % reads, 50 % updates",
		"wrong answers", "17 answers are wrong",
		`<tr class=overhead>`, "Scalability", "stall</text>", "The bottleneck", "95th percentile of latency (right axis)",
	} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("%q is not in the page", want)
		}
	}
	for _, not := range []string{"123,000", "123,456", "NaN", "%!"} {
		if bytes.Contains(text, []byte(not)) {
			t.Errorf("%q is in the page", not)
		}
	}
	if out := terminal(t, dir); !strings.Contains(out, "Scalability") {
		t.Error(out)
	}
}

// TestHeadlinesHaveIntervals: a headline has no number without an interval. It does not rank single runs, and does not
// distinguish engines with overlapping intervals. A law that does not fit is omitted. The headline names the checks.
func TestHeadlinesHaveIntervals(t *testing.T) {
	many := func(reps int, rates map[string][]float64) *points {
		var all []*point
		for e, each := range rates {
			for i, rate := range each {
				for rep := range reps {
					all = append(all, newPoint(e, "server", 1<<i, rep+1, rate*(1+float64(rep)/100)))
				}
			}
		}
		return gather(&run.Run{}, all)
	}
	for want, p := range map[string]*points{
		"With 1 run of each point there is no interval, which needs 6, so nothing is ranked.": many(1,
			map[string][]float64{"a": {1000}, "b": {2000}}),
		"Highest throughput: b 2,050/s (2,000 – 2,100) with 1 thread; then a 1,020/s (1,000 – 1,050) with 1 thread": many(6,
			map[string][]float64{"a": {1000}, "b": {2000}}),
		"Highest throughput: b 1,040/s (1,010 – 1,060) with 1 thread; not distinguished from it a ": many(6,
			map[string][]float64{"a": {1000}, "b": {1010}}),
	} {
		if got := p.sentence("workloada"); !strings.HasPrefix(got, want) {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	for _, x := range []struct {
		reps  int
		rates []float64
		law   int
	}{
		{3, []float64{1000, 1900, 3500, 6000}, 1},
		{2, []float64{1000, 1900, 3500, 6000}, 0},
		{3, []float64{1000, 1900, 3500}, 0},
		{3, []float64{1000, 100, 9000, 300}, 0},
	} {
		if laws := many(x.reps, map[string][]float64{"a": x.rates}).usl(); len(laws) != x.law {
			t.Errorf("%d repetitions of %v: %+v", x.reps, x.rates, laws)
		}
	}
	for reps, known := range map[int]bool{3: false, 6: true} {
		table := uslTable(many(reps, map[string][]float64{"a": {1000, 1900, 3500, 6000}}).usl())
		if c := table.Rows[0].Cells[2]; c.Text == none || (c.Sub != "") != known || !strings.Contains(table.Note, "give no interval") {
			t.Errorf("%d repetitions: %+v, %s", reps, c, table.Note)
		}
	}
	p := gather(&run.Run{}, []*point{newPoint("a", "server", 1, 1, 1000), newPoint("dry", "memory", 1, 1, 1e6)})
	want := "5,000 reads and scans were compared with the keys and fields that must exist. No value was compared. " +
		"5,000 writes were acknowledged"
	if got := checked(p.all); !strings.HasPrefix(got, want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// waits returns a server's active sessions from triples of kind, name and number.
func waits(all ...any) *run.ServerLoad {
	s := &run.ServerLoad{Local: true, SessionSampleCount: 10}
	for i := 0; i < len(all); i += 3 {
		s.Waits = append(s.Waits, run.SessionWait{Kind: all[i].(string), Event: all[i+1].(string), Sessions: all[i+2].(float64)})
	}
	return s
}

// anyCause matches a cause that a sentence names.
var anyCause = regexp.MustCompile(`(Locks|Log writes|Reads from disk|Network|Fixed latency[^:]*|Latency of the network|` +
	`Serial work|One core|Silent server|Connections|Disk|Server CPU|Client CPU|CPU of this machine|` +
	`Other work on this machine): `)

// TestBottleneckOfKnownCauses constructs samples whose cause is known, each on an idle machine and on one that other
// processes keep busy. The report must name the known cause first or, on the busy machine, as one of two.
func TestBottleneckOfKnownCauses(t *testing.T) {
	took := func(p *point, median, p95 time.Duration) {
		p.Service.P50, p.Service.P95, p.Groups = median, p95, nil
	}
	for name, c := range map[string]struct {
		sigma float64
		make  func(p *point)
		want  string // on an idle machine
		busy  string // on a busy one; "" = the same cause is named
	}{
		"20 threads update one row": {noLaw, func(p *point) {
			p.Threads, p.Server = 20, waits("lock", "Lock:tuple", 13.0, "cpu", "running", 1.0)
		}, locks, ""},
		"each commit waits for the log": {noLaw, func(p *point) {
			p.Server = waits("disk", "IO:WALSync", 6.0, "cpu", "running", 2.0)
		}, logWrites, ""},
		"MariaDB's log": {noLaw, func(p *point) {
			p.Server = waits("disk", "io/file/innodb/innodb_log_file", 6.0)
		}, logWrites, ""},
		"the data is larger than memory": {noLaw, func(p *point) {
			p.Server = waits("disk", "IO:DataFileRead", 6.0, "cpu", "running", 2.0)
		}, diskReads, ""},
		"another node answers slowly": {noLaw, func(p *point) {
			p.Server = waits("network", "replication", 7.0, "cpu", "running", 1.0)
		}, peerWaits, ""},
		"a relay delays each answer 50 ms": {0.01, func(p *point) {
			p.Client.User, p.Machine.Busy = 100*time.Millisecond, 0.02
			took(p, 50950*time.Microsecond, 51400*time.Microsecond)
		}, "Fixed latency:", ""},
		"the same, with samples of its sessions": {noLaw, func(p *point) {
			p.Client.User, p.Server = 100*time.Millisecond, waits("cpu", "running", 0.3)
			took(p, 50950*time.Microsecond, 51400*time.Microsecond)
		}, "Latency of the network:", ""},
		"the same, and some answers wait for a core": {noLaw, func(p *point) {
			p.Client.User, p.Server = 100*time.Millisecond, waits()
			h := measure.NewHistogram()
			for i := range 100 {
				h.Record(50*time.Millisecond + time.Duration(200*math.Pow(float64(i)/100, 5))*time.Millisecond)
			}
			took(p, h.At(50), h.At(95))
			p.Groups = []run.Group{{Operation: "READ", Outcome: "OK", Count: 100, InTotal: true}}
			if err := p.Groups[0].SetTimes(h, h); err != nil {
				t.Fatal(err)
			}
		}, "Latency of the network:", ""},
		"one sample of idle sessions": {noLaw, func(p *point) {
			p.Client.User, p.Server = 100*time.Millisecond, waits("cpu", "running", 0.3)
			p.Server.SessionSampleCount = 1
			took(p, 8*time.Millisecond, 200*time.Millisecond)
		}, "Not known", "Other work"},
		"idle sessions of a client that waits": {noLaw, func(p *point) {
			p.Client.User, p.Server = 100*time.Millisecond, waits("cpu", "running", 0.3)
			took(p, 8*time.Millisecond, 200*time.Millisecond)
		}, "Latency of the network:", "Other work"},
		"a serial server, from a sweep": {0.79, func(p *point) {
			p.Client.User = 300 * time.Millisecond
			p.Server = &run.ServerLoad{Local: true, Used: measure.ProcessLoad{CPU: 5 * time.Second}}
			took(p, 16*time.Millisecond, 17*time.Millisecond)
		}, "Serial work:", ""},
		"a serial server that keeps one core": {noLaw, func(p *point) {
			p.Client.User = 300 * time.Millisecond
			p.Server = &run.ServerLoad{Local: true, Used: measure.ProcessLoad{CPU: 10 * time.Second}}
			took(p, time.Millisecond, 3*time.Millisecond)
		}, "One core:", ""},
		"a serial engine inside the client": {noLaw, func(p *point) {
			p.Place, p.Client.User = "embedded", 10*time.Second
		}, "One core:", "Other work"},
		"a server stopped by SIGSTOP": {noLaw, func(p *point) {
			for i := range p.Series {
				if i > 2 {
					p.Series[i] = run.SeriesInterval{}
				}
			}
			p.Response.P50 = time.Millisecond
		}, "Silent server:", ""},
		"a server that was not reachable": {noLaw, func(p *point) { p.Outage, p.Reconnects = 8*time.Second, 16 }, "Connections:", ""},
		"the cores wait for a disk":       {noLaw, func(p *point) { p.Machine.Disk = 0.3 }, "Disk:", "CPU of this machine"},
		"a target that was sustained":     {noLaw, func(p *point) { p.Target = 1000 }, "None:", "None:"},
		"no database":                     {noLaw, func(p *point) { p.Place = overheadPlace }, "Client:", "Client:"},
		"nothing is visible": {
			noLaw, func(*point) {}, "Not known: the server’s CPU and waits are not visible.", "CPU of this machine",
		},
		"few threads": {noLaw, func(p *point) {
			p.Threads, p.Server = 2, waits("cpu", "running", 0.8)
			took(p, time.Millisecond, 2*time.Millisecond)
		}, "Round trips:", "Other work"},
		"an embedded engine that waits": {noLaw, func(p *point) { p.Place = "embedded" }, "Not known: the engine reports neither", "Other work"},
		"no cause dominates": {noLaw, func(p *point) {
			p.Server = waits("cpu", "running", 5.0, "disk", "IO:WALSync", 3.0, "lock", "Lock:tuple", 3.0)
			took(p, time.Millisecond, 3*time.Millisecond)
		}, "Not known: no cause has enough evidence.", "Other work"},
	} {
		for _, machine := range []struct {
			name string
			busy float64
			want string
		}{{"idle", 0, c.want}, {"busy", 0.97, cmp.Or(c.busy, c.want)}} {
			p := newPoint("postgres", "server", 16, 1, 1000)
			c.make(p)
			p.Machine.Busy = cmp.Or(machine.busy, p.Machine.Busy)
			got := bottleneck(p, c.sigma)
			t.Logf("%s, %s machine: %s", name, machine.name, got)
			causes := anyCause.FindAllString(got, -1)
			isOtherWork := func(cause string) bool { return strings.HasPrefix(cause, "Other work") }
			namesOthers := slices.ContainsFunc(causes, isOtherWork) || strings.HasPrefix(got, "CPU of this")
			if len(causes) > 2 || len(causes) == 2 && (machine.busy == 0 || !namesOthers) {
				t.Errorf("%s, %s machine: a cause without evidence is named: %s", name, machine.name, got)
			}
			if first := strings.HasPrefix(got, machine.want); !first && (machine.busy == 0 || !strings.Contains(got, ". "+machine.want)) {
				t.Errorf("%s, %s machine: got %s\nwant %s", name, machine.name, got, machine.want)
			}
		}
	}
	for want, change := range map[string]func(p *point){ // causes of busy cores, when no core is idle
		"Server CPU: the server used 3 cores. The machine’s 4 cores were 98 % busy; the client used 0.60, the server 3.": func(p *point) {
			p.Server, p.Client.User = &run.ServerLoad{Local: true, Used: measure.ProcessLoad{CPU: 30 * time.Second}}, 6*time.Second
		},
		"Client CPU: the client used 3 cores; run it on another machine. The": func(p *point) {
			p.Server, p.Client.User = &run.ServerLoad{Local: true, Used: measure.ProcessLoad{CPU: 5 * time.Second}}, 30*time.Second
		},
		"Client CPU: the client used 3 cores; give it more cores, or run it on another machine. The": func(p *point) {
			p.Client.User = 30 * time.Second
		},
		"Other work on this machine: other processes used 3.52 cores; measure on an idle machine. The": func(p *point) {
			p.Server = &run.ServerLoad{Local: true, Used: measure.ProcessLoad{CPU: time.Second}}
		},
		"CPU: the client, which contains the engine, used 3.40 cores. The": func(p *point) {
			p.Place, p.Client.User = "embedded", 34*time.Second
		},
	} {
		p := newPoint("postgres", "server", 16, 1, 1000)
		p.Machine.Busy = 0.98
		change(p)
		for _, sigma := range []float64{noLaw, 0.9} { // with a law that busy cores explain
			if got := bottleneck(p, sigma); !strings.HasPrefix(got, want) && !(sigma > 0 && strings.HasPrefix(want, "Other")) {
				t.Errorf("σ %g: got  %s\nwant %s…", sigma, got, want)
			}
		}
	}
	p := newPoint("postgres", "server", 16, 1, 1000)
	if p.Machine.Cores = 0; bottleneck(p, noLaw) != "Not known." {
		t.Error(bottleneck(p, noLaw))
	}
}

// TestIntervalsWithoutAnOperation: operations that are rare or take longer than an interval leave intervals without a
// completed one, in which no server was silent. An embedded engine is no server.
func TestIntervalsWithoutAnOperation(t *testing.T) {
	quiet := func(operations int64, longest time.Duration) *point {
		p := newPoint("postgres", "server", 1, 1, 1000)
		p.Operations, p.Service.P50, p.Service.P99, p.Response.P50 = operations, 10*time.Millisecond, longest, 10*time.Millisecond
		p.Series = make([]run.SeriesInterval, 60)
		for i := range 12 {
			p.Series[5*i].Completed = operations / 12
		}
		return p
	}
	embedded := quiet(6000, 20*time.Millisecond)
	embedded.Place = "embedded"
	for name, c := range map[string]struct {
		p        *point
		isSilent bool
	}{
		"a silent server":                      {quiet(6000, 20*time.Millisecond), true},
		"one question every five seconds":      {quiet(12, 20*time.Millisecond), false},
		"some questions take several seconds":  {quiet(120, 6*time.Second), false},
		"an engine in the process of a client": {embedded, false},
	} {
		if got := bottleneck(c.p, noLaw); strings.Contains(got, "Silent server") != c.isSilent {
			t.Errorf("%s: %s", name, got)
		}
		timeline := gather(&run.Run{}, []*point{c.p}).cells[0].timeline().(plot.Columns)
		hasStall := slices.ContainsFunc(timeline.Groups[0].Bars, func(b plot.Bar) bool { return b.Stalled })
		if hasStall != c.p.fillsIntervals() {
			t.Errorf("%s: the picture has a stall: %v", name, hasStall)
		}
	}
	sustained := quiet(12, 20*time.Millisecond)
	sustained.Target, sustained.Throughput = 0.2, 0.2
	if got := bottleneck(sustained, noLaw); !strings.HasPrefix(got, "None: it sustained the target") {
		t.Error(got)
	}
}

// TestMixInWords: a client records a read and an update for each read-modify-write. They count only as part of it.
func TestMixInWords(t *testing.T) {
	for want, counts := range map[string]map[string]int64{
		"50 % reads, 50 % updates":                          {"READ": 500, "UPDATE": 500},
		"40 % reads, 20 % updates, 40 % read-modify-writes": {"READ": 80, "UPDATE": 60, "READ-MODIFY-WRITE": 40},
		"100 % read-modify-writes":                          {"READ-MODIFY-WRITE": 70},
		"50 % updates, 50 % read-modify-writes":             {"UPDATE": 100, "READ-MODIFY-WRITE": 50},
	} {
		p := newPoint("postgres", "server", 1, 1, 1000)
		p.Groups = nil
		for _, operation := range []string{"READ", "UPDATE", "READ-MODIFY-WRITE"} {
			if n, inTotal := counts[operation]; inTotal {
				p.Groups = append(p.Groups, run.Group{Operation: operation, Outcome: "OK", Count: n, InTotal: true})
			}
		}
		for _, part := range []string{"READ", "UPDATE"} {
			if _, inTotal := counts[part]; !inTotal {
				parts := run.Group{Operation: part, Outcome: "OK", Count: counts["READ-MODIFY-WRITE"]}
				p.Groups = append(p.Groups, parts)
			}
		}
		if got := gather(&run.Run{}, []*point{p}).mixInWords("workloada"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestOnlyTheClientOverhead: a run of the dry engine has correct results, and describes its operations.
func TestOnlyTheClientOverhead(t *testing.T) {
	p := gather(&run.Run{}, []*point{newPoint("dry", "memory", 1, 1, 1e6)})
	if got := p.sentence("workloada"); got != "Only the client overhead was measured." {
		t.Error(got)
	}
	if got := p.mixInWords("workloada"); got != "50 % reads, 50 % updates" {
		t.Error(got)
	}
}

// TestIdleSessionsOfABusyMachine: threads whose sessions are idle may wait for a core. If their times vary, the report
// does not name a latency of the network.
func TestIdleSessionsOfABusyMachine(t *testing.T) {
	p := newPoint("postgres", "server", 16, 1, 1000)
	p.Machine.Busy, p.Server = 0.97, waits("cpu", "running", 0.3)
	p.Service.P50, p.Service.P95, p.Groups = 8*time.Millisecond, 200*time.Millisecond, nil
	if got := bottleneck(p, noLaw); strings.Contains(got, "Latency") || !strings.HasPrefix(got, "Other work") {
		t.Error(got)
	}
}

// TestStandInIsNotRanked: a stand-in for a server is measured and named, but not ranked.
func TestStandInIsNotRanked(t *testing.T) {
	var all []*point
	for rep := range 6 {
		all = append(all, newPoint("real", "server", 1, rep+1, 1000+float64(rep)), newPoint("mock", "server", 1, rep+1, 9000))
	}
	r := &run.Run{Archives: []run.Archive{
		{Engine: "real", Design: "columns"}, {Engine: "mock", Design: "columns", Unranked: "it is a stand-in"},
	}}
	got := gather(r, all).sentence("workloada")
	if !strings.HasPrefix(got, "Highest throughput: real ") || !strings.HasSuffix(got, "Not ranked: mock.") ||
		strings.Contains(got, "mock 9") {
		t.Error(got)
	}
	var samples []run.Sample
	for _, x := range all {
		samples = append(samples, sampleOf(x))
	}
	if got := gather(r, all[1:2]).sentence("workloada"); got != "No engine that is ranked gave correct results. Not ranked: mock." {
		t.Error(got)
	}
	if w := OfPoints(r, samples).Warnings; len(w) != 1 || w[0] != "mock is not ranked: it is a stand-in" {
		t.Errorf("%q", w)
	}
}
