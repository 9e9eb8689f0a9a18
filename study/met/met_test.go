package met_test

import (
	"context"
	"errors"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/dry"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/pebble"
	"github.com/barograph/barograph/engine/sqlite"
	"github.com/barograph/barograph/formats"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study/met"
	"github.com/barograph/barograph/study/synth"
)

// day writes the anomaly files of one synthetic day and returns them.
func day(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	from := time.Date(2019, 1, 1, 0, 0, 0, 0, time.UTC)
	files, err := synth.VSDB{Seed: 1, From: from, Models: []string{"gfs"}, StatTypes: []string{synth.Anom}}.Files()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := synth.WriteAll(t.Context(), dir, files, 2, nil); err != nil {
		t.Fatal(err)
	}
	paths, err := formats.Expand([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func cases(t *testing.T, names ...string) []*question.Question {
	t.Helper()
	var out []*question.Question
	for _, n := range names {
		q, err := question.Find(n)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, q)
	}
	return out
}

// runStudy runs a study of three cases on targets, and returns the content of its folder.
func runStudy(t *testing.T, files []string, reg engine.Registry, targets []met.Target) (met.Outcome, *run.Run, []run.Sample) {
	t.Helper()
	out, r, samples, err := studyOf(t, met.Options{Registry: reg, Targets: targets, Files: files, Subset: "s"})
	if err != nil {
		t.Fatal(err)
	}
	return out, r, samples
}

func studyOf(t *testing.T, o met.Options) (met.Outcome, *run.Run, []run.Sample, error) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	folder, err := run.Create(dir, run.Run{ID: "test", Workload: "met", Started: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	o.Cases, o.Reps, o.Seed = cases(t, "test_3", "test_5", "test_6"), 2, 1
	out, failed := met.Run(t.Context(), folder, o)
	if err := folder.Close(); err != nil {
		t.Fatal(err)
	}
	r, samples, err := run.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	return out, r, samples, failed
}

func target(d *engine.Driver, dir string, n design.Name) met.Target {
	return met.Target{Driver: d, Design: n, URL: d.Scheme + ":" + filepath.Join(dir, d.Scheme+"-"+string(n))}
}

func TestStudyProvesThenTimes(t *testing.T) {
	files, dir := day(t), t.TempDir()
	reg := engine.Registry{dry.Driver(), pebble.Driver(), sqlite.Driver()}
	targets := []met.Target{
		{Driver: &reg[0], Design: design.Memory, URL: "dry:"},
		target(&reg[1], dir, design.KeyValue), target(&reg[2], dir, design.Normalized), target(&reg[2], dir, design.Document),
	}
	out, r, samples := runStudy(t, files, reg, targets)
	configurations := 0
	for _, target := range targets {
		configurations += len(archive.Flavours(target.Driver, target.Design))
	}
	if want := 3 * configurations; out.Equal != want || out.Wrong+out.Failed+out.IncompleteArchives != 0 || out.Err() != nil {
		t.Errorf("outcome %+v, want %d equal and nothing else", out, want)
	}
	if want := 3 * configurations * 2; len(samples) != want {
		t.Errorf("%d samples, want %d", len(samples), want)
	}
	// Archives are proven concurrently; the seed alone decides the order of the repetitions.
	var cells []run.Cell
	for _, target := range targets {
		for _, c := range r.Cases {
			for _, f := range archive.Flavours(target.Driver, target.Design) {
				cells = append(cells, run.MetCell(target.Driver.Scheme, string(target.Design), c.Name, string(f)))
			}
		}
	}
	i := 0
	for cell, rep := range measure.Interleave(1, len(cells), 2) {
		if i < len(samples) && (samples[i].Cell != cells[cell] || samples[i].Rep != rep) {
			t.Fatalf("sample %d is %s #%d, want %s #%d", i, samples[i].Cell, samples[i].Rep, cells[cell], rep)
		}
		i++
	}
	for _, s := range samples {
		if s.Verdict != run.Equal || s.Measured() == nil || s.Measured().FirstRow > s.Measured().Total || s.Digest == "" {
			t.Errorf("sample %+v is not a proven time", s)
		}
	}
	if r.Cases[0].Rows != 4*53*2 {
		t.Errorf("test_3 has %d rows on one day, want %d", r.Cases[0].Rows, 4*53*2)
	}
	for _, a := range r.Archives {
		if !a.Complete || a.Digest != r.Data.Digest {
			t.Errorf("%s %s: complete %v, digest %s, data %s", a.Engine, a.Design, a.Complete, a.Digest, r.Data.Digest)
		}
	}
}

// TestServersAreCounted: a study reads the counters of a server between repetitions, once for each URL, and writes them
// as events. A server that stops reporting them gives a warning.
func TestServersAreCounted(t *testing.T) {
	files, dir := day(t), t.TempDir()
	asked, silent := 0, false
	d := sqlite.Driver()
	open := d.Open
	d.Open = func(ctx context.Context, u *url.URL, o engine.Options) (*engine.Engine, error) {
		e, err := open(ctx, u, o)
		if err == nil {
			e.Metrics = func(context.Context) (engine.Metrics, error) {
				if asked++; silent {
					return engine.Metrics{}, errors.New("no permission")
				}
				return engine.Metrics{Totals: []engine.Total{{Name: "commits", Value: float64(7 * asked)}, {Name: "still", Value: 1}}}, nil
			}
		}
		return e, err
	}
	reg := engine.Registry{d}
	one := target(&reg[0], dir, design.Normalized)
	for _, silent = range []bool{false, true} {
		asked = 0
		folder, err := run.Create(filepath.Join(t.TempDir(), "run"), run.Run{ID: "test", Workload: "met", Started: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
		o := met.Options{Registry: reg, Targets: []met.Target{one}, Files: files, Subset: "s", Cases: cases(t, "test_6"), Reps: 2, Seed: 1}
		_, failed := met.Run(t.Context(), folder, o)
		events, err := run.ReadEvents(folder.Dir)
		if err := errors.Join(failed, err, folder.Close()); err != nil {
			t.Fatal(err)
		}
		counted, warned := 0, ""
		for _, e := range events {
			if e.Kind == run.CountersEvent {
				counted++
				if len(e.Counters) != 1 || e.Counters[0] != (run.Counter{Name: "commits", Value: 7}) || e.Text != "sqlite" {
					t.Errorf("%+v", e)
				}
			}
			if e.Kind == run.WarningEvent {
				warned += e.Text
			}
		}
		if silent && (counted > 0 || asked != 1 || warned != "sqlite reports no counters: no permission") || !silent && (counted == 0 || counted != asked-1 || warned != "") {
			t.Errorf("silent %v: asked %d times, reported %d times, warned %q", silent, asked, counted, warned)
		}
	}
}

// TestCasesWithoutRows: an empty result is proven, and has no time. A study in which no case has rows is incomplete.
func TestCasesWithoutRows(t *testing.T) {
	files := day(t) // without the winds of test_6
	winds := cases(t, "test_6")[0]
	winds.Header[record.Model] = []string{"NAM"}
	reg := engine.Registry{pebble.Driver()}
	for _, c := range []struct {
		cases []*question.Question
		code  int
		timed int
	}{
		{append(cases(t, "test_3"), winds), 0, 2 * 2},
		{[]*question.Question{winds}, fault.Incomplete, 0},
	} {
		folder, err := run.Create(filepath.Join(t.TempDir(), "run"), run.Run{})
		if err != nil {
			t.Fatal(err)
		}
		out, err := met.Run(t.Context(), folder, met.Options{Registry: reg, Targets: []met.Target{target(&reg[0], t.TempDir(), design.KeyValue)}, Cases: c.cases, Files: files, Subset: "s", Reps: 2})
		if err = errors.Join(err, folder.Close()); err != nil {
			t.Fatal(err)
		}
		if fault.Code(out.Err()) != c.code || out.Empty != 1 || out.Equal != 2*len(c.cases) {
			t.Errorf("%+v, %v; want status %d", out, out.Err(), c.code)
		}
		r, samples, err := run.Read(folder.Dir)
		if err != nil {
			t.Fatal(err)
		}
		timed := 0
		for _, s := range samples {
			if s.Measured() != nil {
				timed++
			}
			if s.Cell.Value("case") == "test_6" && (s.Measured() != nil || s.Verdict != run.Equal) {
				t.Errorf("the empty answer is %+v", s)
			}
		}
		if title := r.Cases[0].Title; timed != c.timed || c.timed > 0 && title != "Die-off of anomaly correlation: SAL1L2 HGT at P500; 2 regions, 1 day, 53 leads, 1 level" {
			t.Errorf("%d times, want %d; the title is %q", timed, c.timed, title)
		}
	}
}

// TestOneDamagedArchiveDoesNotStopTheOthers: an archive with a flipped bit in its file is reported and not timed, and the
// study measures the other one.
func TestOneDamagedArchiveDoesNotStopTheOthers(t *testing.T) {
	files, dir := day(t), t.TempDir()
	reg := engine.Registry{pebble.Driver(), sqlite.Driver()}
	targets := []met.Target{target(&reg[0], dir, design.KeyValue), target(&reg[1], dir, design.Document)}
	fill(t, targets[0], files, damages()[0].apply)
	e, err := reg.Open(t.Context(), targets[0].URL, engine.Options{}) // which writes the log's records into a table
	if err == nil {
		err = e.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	tables, err := filepath.Glob(filepath.Join(dir, "pebble-keyvalue", "*.sst"))
	if err != nil || len(tables) == 0 {
		t.Fatal("no file to damage: ", err)
	}
	for _, name := range tables {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text[len(text)/2] ^= 1
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, r, samples := runStudy(t, files, reg, targets)
	if out.IncompleteArchives != 1 || len(r.Archives) != 2 || r.Archives[0].Complete || r.Archives[0].Problem == "" || !r.Archives[1].Complete {
		t.Fatalf("%+v, %+v", out, r.Archives)
	}
	timed := 0
	for _, s := range samples {
		if s.Measured() != nil {
			timed++
			if s.Cell.Engine == "pebble" {
				t.Errorf("the damaged archive has a time: %+v", s)
			}
		}
	}
	if timed != 2*3*len(archive.Flavours(&reg[1], design.Document)) {
		t.Errorf("%d answers of the other archive were timed", timed)
	}
}

// damage changes the records that an archive is given to load.
type damage struct {
	name  string
	apply func(*record.Batch) *record.Batch
}

// damages lists damages of the stored records: one bit of one value, one missing lead, and two rows with their values
// exchanged. All concern SAL1L2 HGT P500 over G2/NHX.
func damages() []damage {
	hit := func(b *record.Batch, lead int32) int {
		for i := range b.Len() {
			h := b.Header(i)
			if b.Type.Name == "SAL1L2" && h[record.FcstVar] == "HGT" && h[record.FcstLev] == "P500" && h[record.VxMask] == "G2/NHX" && b.Lead[i] == lead {
				return i
			}
		}
		return -1
	}
	const h24, h48 = 24 * 3600, 48 * 3600
	return []damage{
		{"one bit of one value", func(b *record.Batch) *record.Batch {
			if i := hit(b, h24); i >= 0 {
				b.Num[1][i] = math.Float64frombits(math.Float64bits(b.Num[1][i]) ^ 1)
			}
			return b
		}},
		{"one missing lead", func(b *record.Batch) *record.Batch {
			i := hit(b, h24)
			out := &record.Batch{}
			out.Reset(b.Type, b.File)
			for _, h := range b.Headers {
				out.AddHeader(h)
			}
			for k := range b.Len() {
				if k != i {
					out.AppendRow(b, k, b.HeaderIndex[k])
				}
			}
			return out
		}},
		{"two rows exchanged", func(b *record.Batch) *record.Batch {
			if i, j := hit(b, h24), hit(b, h48); i >= 0 && j >= 0 {
				for k := range b.Num {
					b.Num[k][i], b.Num[k][j] = b.Num[k][j], b.Num[k][i]
				}
			}
			return b
		}},
	}
}

// TestDamageThatNoCaseReads: an archive with one different value gives exit status 3, even if every result is correct.
func TestDamageThatNoCaseReads(t *testing.T) {
	files, dir, isDamaged := day(t), t.TempDir(), false
	reg := engine.Registry{sqlite.Driver()}
	targets := []met.Target{target(&reg[0], dir, design.Document)}
	fill(t, targets[0], files, func(b *record.Batch) *record.Batch {
		if b.Type.Name == "VAL1L2" && !isDamaged {
			b.Num[1][0], isDamaged = b.Num[1][0]+1, true
		}
		return b
	})
	out, _, _ := runStudy(t, files, reg, targets)
	if err := out.Err(); !isDamaged || out.Wrong > 0 || out.IncompleteArchives != 1 || fault.Code(err) != fault.Differs {
		t.Errorf("%+v, status %d: %v", out, fault.Code(err), err)
	}
	var sum met.Outcome
	if sum.Add(out); fault.Code(sum.Err()) != fault.Differs {
		t.Errorf("the sum of studies has status %d", fault.Code(sum.Err()))
	}
	if sum.Add(met.Outcome{}); fault.Code(sum.Err()) != fault.Differs {
		t.Errorf("the sum with an intact archive has status %d", fault.Code(sum.Err()))
	}
}

// TestDamagedArchiveIsWrong: an archive that was damaged after its complete load has wrong results, is not timed, and
// gives exit status 3.
func TestDamagedArchiveIsWrong(t *testing.T) {
	enginetest.NotUnderRace(t)
	files := day(t)
	reg := engine.Registry{sqlite.Driver(), pebble.Driver()}
	for _, d := range damages() {
		t.Run(d.name, func(t *testing.T) {
			dir := t.TempDir()
			targets := []met.Target{target(&reg[0], dir, design.Normalized), target(&reg[0], dir, design.Document), target(&reg[1], dir, design.KeyValue)}
			for _, target := range targets {
				fill(t, target, files, d.apply)
			}
			out, r, samples := runStudy(t, files, reg, targets)
			if out.Wrong == 0 || out.IncompleteArchives != len(targets) || fault.Code(out.Err()) != fault.Differs {
				t.Errorf("outcome %+v with status %d; want wrong answers in every archive, status 3", out, fault.Code(out.Err()))
			}
			for _, s := range samples {
				if s.Measured() != nil {
					t.Errorf("a damaged archive has a time: %+v", s)
				}
				if s.Cell.Value("case") == "test_3" && (s.Verdict != run.Wrong || s.Problem == "") {
					t.Errorf("test_3 by %s is %s, want wrong with its differing rows", s.Cell, s.Verdict)
				}
			}
			for _, a := range r.Archives {
				if a.Complete {
					t.Errorf("%s %s counts as complete", a.Engine, a.Design)
				}
			}
		})
	}
}

// fill loads a target with damaged records and the marks of the correct files, like an archive that was damaged after its
// load.
func fill(t *testing.T, target met.Target, files []string, apply func(*record.Batch) *record.Batch) {
	t.Helper()
	u, err := url.Parse(target.URL)
	if err != nil {
		t.Fatal(err)
	}
	e, err := target.Driver.Open(t.Context(), u, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	a, err := archive.DatabaseOf(e).Open(t.Context(), target.Design)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	done := false
	wrapped := &damaging{Archive: a, apply: func(b *record.Batch) *record.Batch {
		if done {
			return b
		}
		before := digestOf(b)
		b = apply(b.Clone())
		done = digestOf(b) != before
		return b
	}}
	_, err = load.Run(t.Context(), wrapped, "s", files, load.Options{})
	if err != nil && !done {
		t.Fatal(err)
	}
	if !done {
		t.Fatal("nothing was damaged")
	}
}

func digestOf(b *record.Batch) record.Digest {
	var h record.Hasher
	return h.DigestOf(b)
}

type damaging struct {
	archive.Archive
	apply func(*record.Batch) *record.Batch
}

func (d *damaging) Loader(ctx context.Context, subset string) (archive.Loader, error) {
	l, err := d.Archive.Loader(ctx, subset)
	return &damagingLoader{l, d}, err
}

type damagingLoader struct {
	archive.Loader
	d *damaging
}

func (l *damagingLoader) Add(ctx context.Context, b *record.Batch) error {
	return l.Loader.Add(ctx, l.d.apply(b))
}

// TestClickBench945FaultyEnginesHaveNoTimes: an engine with wrong results is detected and not timed, although its data
// are correct. (ClickBench#945: failing queries win; here an error has no time.)
func TestClickBench945FaultyEnginesHaveNoTimes(t *testing.T) {
	enginetest.NotUnderRace(t)
	files := day(t)
	for _, f := range enginetest.Faults() {
		if f == enginetest.StaleRead {
			continue // nothing changes during a study
		}
		t.Run(string(f), func(t *testing.T) {
			d := faulty(pebble.Driver(), f)
			reg := engine.Registry{d}
			out, _, samples := runStudy(t, files, reg, []met.Target{target(&reg[0], t.TempDir(), design.KeyValue)})
			if out.Err() == nil {
				t.Errorf("fault %q was not found: %+v", f, out)
			}
			for _, s := range samples {
				if s.Verdict != run.Equal && s.Measured() != nil {
					t.Errorf("a %s answer has a time: %+v", s.Verdict, s)
				}
			}
		})
	}
}

// faulty wraps every archive that d opens.
func faulty(d engine.Driver, f enginetest.Fault) engine.Driver {
	open := d.Open
	d.Open = func(ctx context.Context, u *url.URL, o engine.Options) (*engine.Engine, error) {
		e, err := open(ctx, u, o)
		if err != nil {
			return nil, err
		}
		e.Abilities = slices.Insert(e.Abilities, 0, any(faultyArchives{archive.DatabaseOf(e), f}))
		return e, nil
	}
	return d
}

type faultyArchives struct {
	archive.Database
	f enginetest.Fault
}

func (a faultyArchives) Open(ctx context.Context, d design.Name) (archive.Archive, error) {
	archive, err := a.Database.Open(ctx, d)
	if err != nil {
		return nil, err
	}
	return enginetest.Faulty(archive, a.f), nil
}

// TestCasesWithoutCurves: a case whose drawing excludes all records is timed, and has no curves.
func TestCasesWithoutCurves(t *testing.T) {
	q := cases(t, "test_3")[0]
	q.Drawing = question.NewDrawing(q.Type, question.DefaultStat(q.Type), "fcst_lead")
	q.Drawing.ValueConditions = []question.ValueCondition{{Column: "total", Op: "<", Value: 0}}
	q.SelectColumns()
	reg := engine.Registry{pebble.Driver()}
	folder, err := run.Create(filepath.Join(t.TempDir(), "run"), run.Run{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := met.Run(t.Context(), folder, met.Options{Registry: reg, Targets: []met.Target{target(&reg[0], t.TempDir(), design.KeyValue)}, Cases: []*question.Question{q}, Files: day(t), Subset: "s", Reps: 1})
	if err = errors.Join(err, folder.Close()); err != nil || out.Equal == 0 || out.Empty != 0 {
		t.Fatalf("%v, %+v", err, out)
	}
	if plots, err := run.ReadVerificationPlots(folder.Dir); err != nil || len(plots) > 0 {
		t.Errorf("%v, %v", plots, err)
	}
}
