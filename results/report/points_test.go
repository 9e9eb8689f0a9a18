package report

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
)

// madePoint is a right point of made-up numbers.
func madePoint(engine, place string, threads, rep int, perSecond float64) *point {
	h := measure.NewHistogram()
	for i := range 1000 {
		h.Record(time.Duration(float64(threads)/perSecond*float64(500+i)) * time.Millisecond)
	}
	m := run.Measured{Total: 10 * time.Second}
	m.Mix = &run.Mix{
		Place: place, Clients: 1, Operations: int64(10 * perSecond), Throughput: perSecond, Interval: time.Second, Response: run.Short(h), Service: run.Short(h),
		Groups: []run.Group{
			{Operation: "READ", Outcome: "OK", Count: 500, Records: 500, Whole: true, Service: run.Short(h), Response: run.Short(h)},
			{Operation: "UPDATE", Outcome: "OK", Count: 500, Records: 500, Whole: true, Service: run.Short(h), Response: run.Short(h)},
		},
	}
	for i := range m.Groups {
		if err := m.Groups[i].Times(h, h); err != nil {
			panic(err)
		}
	}
	m.Used = &run.Used{Client: measure.ClientLoad{Wall: 10 * time.Second, User: 3 * time.Second, Cores: 4}, Machine: measure.MachineLoad{Cores: 4, Busy: 0.5}}
	for i := range 10 {
		n := int64(perSecond)
		if i == 5 {
			n /= 100
		}
		m.Series = append(m.Series, run.Slice{Ended: n, Slow: time.Second / 10})
	}
	half := int64(5 * perSecond)
	return judged(run.Sample{Cell: run.MixCell(engine, "columns", "workloada", threads, 0, ""), Rep: rep}, m, run.Answers{Succeeded: 2 * half, Found: half, Written: half}, nil)
}

// judged is a point of answers that were compared so.
func judged(s run.Sample, m run.Measured, a run.Answers, failed error) *point {
	proof, failed := answer.CompareAll(a, failed)
	s.Answers = &a
	return pointsOf([]run.Sample{s.Judge(&m, proof, failed)})[0]
}

// remade is the point's sample with what was changed of it.
func remade(p *point) run.Sample {
	proof, failed := answer.CompareAll(*p.Answers, nil)
	if p.Problem != "" {
		failed = &answer.Diff{Problem: p.Problem}
	}
	return p.Judge(&p.Measured, proof, failed)
}

func madeFolder(t *testing.T, all ...*point) string {
	t.Helper()
	return madeFolderOf(t, nil, all...)
}

func madeFolderOf(t *testing.T, archives []run.Archive, all ...*point) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "r")
	f, err := run.Create(dir, run.Run{ID: "r", Workload: run.Mixed, Archives: archives, Started: time.Unix(1_700_000_000, 0).UTC(), Ended: time.Unix(1_700_000_100, 0).UTC(), Args: []string{"ycsb", "sweep"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		if err := f.Add(remade(p)); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// The page has the picture, the floor, the law's parameters and stalls; what
// is wrong has no number.
func TestPointsPage(t *testing.T) {
	var all []*point
	for rep := 1; rep <= 6; rep++ {
		for i, n := range []int{1, 2, 4, 8} {
			all = append(all, madePoint("postgres", "server", n, rep, []float64{1000, 1900, 3300, 4800}[i]+float64(rep)), madePoint("dry", "memory", n, rep, 1e6))
		}
	}
	bad := madePoint("mariadb", "server", 8, 1, 123456)
	bad = judged(bad.Sample, bad.Measured, run.Answers{Wrong: 17, Succeeded: 1, Found: 1}, errors.New("17 answers are wrong"))
	dir := madeFolder(t, append(all, bad)...)
	path, err := Write(dir, Advising{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"1 run of 49 not right", "Highest throughput: postgres 4,800/s (4,800 – 4,810) with 8 threads. In brackets", "50 % reads, 50 % updates", "wrong answers", "17 answers are wrong",
		`<tr class=floor>`, "Scalability", "stall</text>", "What held it back", "95th percentile of latency (right axis)",
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

// A headline has no number without an interval: single runs are not ranked, and
// engines whose intervals overlap are not distinguished. A law that does not hold
// is not reported, and what was checked is reported.
func TestHeadlinesHaveIntervals(t *testing.T) {
	many := func(reps int, rates map[string][]float64) *points {
		var all []*point
		for e, each := range rates {
			for i, rate := range each {
				for rep := range reps {
					all = append(all, madePoint(e, "server", 1<<i, rep+1, rate*(1+float64(rep)/100)))
				}
			}
		}
		return gather(&run.Run{}, all)
	}
	for want, p := range map[string]*points{
		"1 run of a point: no interval, which takes 6; so nothing is ranked here.":                                  many(1, map[string][]float64{"a": {1000}, "b": {2000}}),
		"Highest throughput: b 2,050/s (2,000 – 2,100) with 1 thread; then a 1,020/s (1,000 – 1,050) with 1 thread": many(6, map[string][]float64{"a": {1000}, "b": {2000}}),
		"Highest throughput: b 1,040/s (1,010 – 1,060) with 1 thread; not distinguished from it a ":                 many(6, map[string][]float64{"a": {1000}, "b": {1010}}),
	} {
		if got := p.sentence("workloada"); !strings.HasPrefix(got, want) {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	for _, x := range []struct {
		reps  int
		rates []float64
		law   int
	}{{3, []float64{1000, 1900, 3500, 6000}, 1}, {2, []float64{1000, 1900, 3500, 6000}, 0}, {3, []float64{1000, 1900, 3500}, 0}, {3, []float64{1000, 100, 9000, 300}, 0}} {
		if laws := many(x.reps, map[string][]float64{"a": x.rates}).usl(); len(laws) != x.law {
			t.Errorf("%d repetitions of %v: %+v", x.reps, x.rates, laws)
		}
	}
	p := gather(&run.Run{}, []*point{madePoint("a", "server", 1, 1, 1000), madePoint("dry", "memory", 1, 1, 1e6)})
	if got, want := p.checked(), "5,000 reads and scans were compared with the keys and fields that must exist. No value was compared. 5,000 writes were acknowledged"; !strings.HasPrefix(got, want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// The sentence about what held a run back follows its figures.
func TestBottleneck(t *testing.T) {
	for want, change := range map[string]func(p *point){
		"Server CPU: the machine’s 4 cores were busy to 98 %; the server used 3 and the client 0.60.": func(p *point) {
			p.Machine.Busy, p.Server, p.Client.User = 0.98, &run.ServerLoad{Local: true, Used: measure.ProcessLoad{CPU: 30 * time.Second}}, 6*time.Second
		},
		"Client: the machine’s 4 cores were busy to 98 %; it used 3 and the server 0.50.": func(p *point) {
			p.Machine.Busy, p.Server, p.Client.User = 0.98, &run.ServerLoad{Local: true, Used: measure.ProcessLoad{CPU: 5 * time.Second}}, 30*time.Second
		},
		"Client: the machine’s 4 cores were busy to 98 %, and it used 3 of them": func(p *point) { p.Machine.Busy, p.Client.User = 0.98, 30*time.Second },
		"Other work: of 4 cores, busy to 98 %, the client used 0.30, the server 0.10, and something else 3.52": func(p *point) {
			p.Machine.Busy, p.Server = 0.98, &run.ServerLoad{Local: true, Used: measure.ProcessLoad{CPU: time.Second}}
		},
		"Locks: of 8.00 sessions at work on average, 6.00 waited for others, most of them for Lock:tuple;": func(p *point) {
			p.Server = &run.ServerLoad{Waits: []run.Waiting{{Kind: "lock", What: "Lock:tuple", Sessions: 6}, {Kind: "cpu", What: "running", Sessions: 2}}}
		},
		"Disk: of 8.00 sessions at work on average, 6.00 waited for it, most of them for IO:WALSync;": func(p *point) {
			p.Server = &run.ServerLoad{Waits: []run.Waiting{{Kind: "disk", What: "IO:WALSync", Sessions: 6}, {Kind: "cpu", What: "running", Sessions: 2}}}
		},
		"Disk: for 30 % of the time":       func(p *point) { p.Machine.Disk = 0.3 },
		"One core: ":                       func(p *point) { p.Place, p.Client.User = "embedded", 10*time.Second },
		"Waiting inside the engine":        func(p *point) { p.Place = "embedded" },
		"CPU: ":                            func(p *point) { p.Place, p.Machine.Busy, p.Client.User = "embedded", 0.9, 34*time.Second },
		"Round trips: nothing was used up": func(p *point) { p.Threads = 2 },
		"Not found: ":                      func(*point) {},
		"None: the target of 1,000 ":       func(p *point) { p.Target = 1000 },
		"Not known.":                       func(p *point) { p.Machine.Cores = 0 },
	} {
		p := madePoint("postgres", "server", 16, 1, 1000)
		change(p)
		if got := bottleneck(p); !strings.HasPrefix(got, want) {
			t.Errorf("got  %s\nwant %s…", got, want)
		}
	}
}

// A stand-in is measured, and named, and takes no place in a ranking.
func TestStandInIsNotRanked(t *testing.T) {
	var all []*point
	for rep := range 6 {
		all = append(all, madePoint("real", "server", 1, rep+1, 1000+float64(rep)), madePoint("mock", "server", 1, rep+1, 9000))
	}
	r := &run.Run{Archives: []run.Archive{{Engine: "real", Design: "columns"}, {Engine: "mock", Design: "columns", Unranked: "it is a stand-in"}}}
	got := gather(r, all).sentence("workloada")
	if !strings.HasPrefix(got, "Highest throughput: real ") || !strings.HasSuffix(got, "Not ranked: mock.") || strings.Contains(got, "mock 9") {
		t.Error(got)
	}
	var samples []run.Sample
	for _, x := range all {
		samples = append(samples, remade(x))
	}
	if w := OfPoints(r, samples).Warnings; len(w) != 1 || w[0] != "mock is in no ranking: it is a stand-in" {
		t.Errorf("%q", w)
	}
}
