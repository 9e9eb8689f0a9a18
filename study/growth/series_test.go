package growth

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/dry"
	"github.com/barograph/barograph/engine/pebble"
	"github.com/barograph/barograph/engine/sqlite"
	"github.com/barograph/barograph/formats"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study/met"
	"github.com/barograph/barograph/study/synth"
)

// line is one record of a series as text: header, lead and times, and all values.
func line(b *record.Batch, i int, model string, days int64) string {
	h, by := *b.Header(i), days*86400
	h[record.Model] = model
	text := fmt.Sprint(b.Type.Name, h, b.Lead[i], b.ObsLead[i], b.Valid[i]+by, b.ValidEnd[i]+by, b.ObsBeg[i]+by, b.ObsEnd[i]+by, b.Repeats(i))
	for k := range b.Num {
		text += fmt.Sprint(" ", b.Num[k][i])
	}
	for k := range b.Text {
		text += " " + b.Text[k][i]
	}
	return text
}

// day writes the files of two cycles of one synthetic day and returns them.
func day(t *testing.T, n int) []string {
	t.Helper()
	dir := t.TempDir()
	from := time.Date(2019, 1, n, 0, 0, 0, 0, time.UTC)
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
	for _, path := range paths[:2] { // one variable is enough
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var some []byte
		for l := range bytes.Lines(text) {
			if bytes.Contains(l, []byte(" HGT P500 ")) {
				some = append(some, l...)
			}
		}
		if err := os.WriteFile(path, some, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return paths[:2]
}

func target(d *engine.Driver, dir string, n design.Name) met.Target {
	return met.Target{Driver: d, Design: n, URL: d.Scheme + ":" + filepath.Join(dir, d.Scheme+"-"+string(n))}
}

// growOf studies a series of each number of days in the same archives.
func growOf(t *testing.T, reg engine.Registry, targets []met.Target, files []string, models int, days ...int) (outs []met.Outcome, runs []*run.Run) {
	t.Helper()
	var cases []*question.Question
	for _, n := range []string{"test_3", "test_5"} {
		q, err := question.Find(n)
		if err != nil {
			t.Fatal(err)
		}
		cases = append(cases, q)
	}
	s, err := Open(t.Context(), Options{Files: files, Dir: t.TempDir(), MaxDays: slices.Max(days), Models: models, Cases: cases})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range days {
		paths, err := s.Through(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		qs, notes, err := s.Questions(t.Context(), n)
		if err != nil || len(notes) > 0 {
			t.Fatal(err, notes)
		}
		folder, err := run.Create(filepath.Join(t.TempDir(), "run"), run.Run{ID: "test", Workload: "met", Started: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
		out, err := met.Run(t.Context(), folder, met.Options{Registry: reg, Targets: targets, Files: paths, Cases: qs, Subset: "s", Reps: 1, Seed: 1})
		if err = errors.Join(err, folder.Close()); err != nil {
			t.Fatal(err)
		}
		r, err := run.ReadRun(folder.Dir)
		if err != nil {
			t.Fatal(err)
		}
		outs, runs = append(outs, out), append(runs, r)
	}
	return outs, runs
}

// TestSeries compares the records of a series with the records of the files, which the test shifts itself: leads and
// values stay, all times move by days. Each archive has these records and no others.
func TestSeries(t *testing.T) {
	const (
		days   = 3
		models = 2
	)
	oneDay := day(t, 1)
	for name, c := range map[string]struct {
		files    []string
		fileDays int64
	}{"one day": {oneDay, 1}, "two days": {append(slices.Clone(oneDay), day(t, 2)...), 2}} {
		t.Run(name, func(t *testing.T) {
			want := map[string]bool{}
			var first int64
			each := func(_ *load.File, b *record.Batch) error {
				for i := range b.Len() {
					if first == 0 {
						first = b.Valid[i] - b.Valid[i]%86400
					}
					for d := (b.Valid[i] - first) / 86400; d < days; d += c.fileDays {
						for _, m := range []string{"GFS", "GFS_2"} {
							want[line(b, i, m, d-(b.Valid[i]-first)/86400)] = true
						}
					}
				}
				return nil
			}
			if err := load.Read(t.Context(), c.files, load.ReadOptions{Workers: 1}, each, func(*load.File) error { return nil }); err != nil {
				t.Fatal(err)
			}
			reg, dir := engine.Registry{pebble.Driver(), sqlite.Driver()}, t.TempDir()
			targets := []met.Target{target(&reg[0], dir, design.KeyValue), target(&reg[1], dir, design.Normalized)}
			outs, runs := growOf(t, reg, targets, c.files, models, 1, days)
			for _, out := range outs {
				if out.Err() != nil || out.Equal == 0 {
					t.Errorf("outcome %+v", out)
				}
			}
			if r := runs[1]; r.Data.Records != int64(len(want)) || r.Data.Quarantined != 0 {
				t.Errorf("%+v; want %d records", r.Data, len(want))
			}
			for _, x := range targets {
				got := dump(t, reg, x)
				if !maps.Equal(got, want) {
					t.Errorf("%s has %d records; want the %d that the test made", x, len(got), len(want))
				}
			}
		})
	}
}

func dump(t *testing.T, reg engine.Registry, x met.Target) map[string]bool {
	t.Helper()
	e, err := reg.Open(t.Context(), x.URL, engine.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	a, err := archive.DatabaseOf(e).Open(t.Context(), x.Design)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	got := map[string]bool{}
	for b, err := range a.Dump(t.Context(), "s") {
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.Len() {
			got[line(b, i, b.Header(i)[record.Model], 0)] = true
		}
	}
	return got
}

// TestSeriesQuestions: the answer to a question about the first day has the same rows at every number of days, and the
// answer to the same question about all days has a multiple of them.
func TestSeriesQuestions(t *testing.T) {
	reg := engine.Registry{dry.Driver(), pebble.Driver()}
	targets := []met.Target{{Driver: &reg[0], Design: design.Memory, URL: "dry:"}, target(&reg[1], t.TempDir(), design.KeyValue)}
	sizes := []int{1, 2, 4}
	outs, runs := growOf(t, reg, targets, day(t, 1), 0, sizes...)
	base := runs[0].Cases
	if len(base) != 4 {
		t.Fatalf("%d cases, want each of 2 twice", len(base))
	}
	for i, r := range runs {
		if outs[i].Err() != nil {
			t.Error(outs[i].Err())
		}
		for k, c := range r.Cases {
			want, digest := base[k].Rows, base[k].Digest
			allDays := strings.HasSuffix(c.Name, AllDays)
			if allDays != (k >= 2) {
				t.Errorf("case %d is %+v", k, c)
			}
			if allDays {
				want *= sizes[i]
			}
			if c.Rows != want || c.Rows == 0 || !allDays && c.Digest != digest {
				t.Errorf("%s at %d days has %d rows, want %d", c.Name, sizes[i], c.Rows, want)
			}
		}
	}
}

// TestSeriesOfAFaultyStore: a store that returns only the rows of the first day gives wrong results of the questions
// about all days, at every number of days above 1.
func TestSeriesOfAFaultyStore(t *testing.T) {
	d := pebble.Driver()
	open := d.Open
	d.Open = func(ctx context.Context, u *url.URL, o engine.Options) (*engine.Engine, error) {
		e, err := open(ctx, u, o)
		if err == nil {
			e.Abilities = slices.Insert(e.Abilities, 0, any(firstDayStore{archive.DatabaseOf(e)}))
		}
		return e, err
	}
	reg := engine.Registry{d}
	targets := []met.Target{{Driver: &reg[0], Design: design.KeyValue, URL: "pebble:" + filepath.Join(t.TempDir(), "x")}}
	outs, _ := growOf(t, reg, targets, day(t, 1), 0, 1, 3)
	if outs[0].Wrong != 0 || outs[0].Equal == 0 || outs[1].Wrong == 0 || outs[1].Wrong != outs[1].Equal || fault.Code(outs[1].Err()) != fault.Differs {
		t.Errorf("one day: %+v; three days, of which the store returns one: %+v", outs[0], outs[1])
	}
}

// firstDayStore returns only the rows of 2019-01-01.
type firstDayStore struct{ archive.Database }

func (s firstDayStore) Open(ctx context.Context, n design.Name) (archive.Archive, error) {
	a, err := s.Database.Open(ctx, n)
	return firstDayArchive{a}, err
}

type firstDayArchive struct{ archive.Archive }

func (a firstDayArchive) Ask(ctx context.Context, q *archive.Query, into *answer.Builder) error {
	first := *q.Question
	first.Valid.Last = min(first.Valid.Last, time.Date(2019, 1, 1, 23, 59, 59, 0, time.UTC).Unix())
	less, err := a.Phrase(ctx, &first, q.Flavour)
	if err != nil {
		return err
	}
	return a.Archive.Ask(ctx, less, into)
}

// TestModels: fewer models than the files have are refused, and a copy never has the name of another
// model.
func TestModels(t *testing.T) {
	dir := t.TempDir()
	files := []string{filepath.Join(dir, "a.vsdb"), filepath.Join(dir, "b.vsdb")}
	for i, model := range []string{"GFS", "GFS_2"} {
		text := "V01 " + model + " 0 2019010100 GFS G2/NHX SL1L2 HGT P500 = 100 5000 5001 25010000 25000000 25020000\n"
		if err := os.WriteFile(files[i], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := Options{Files: files, Dir: t.TempDir(), MaxDays: 1, Models: 1}
	if _, err := Open(t.Context(), o); fault.Code(err) != fault.Usage || !strings.Contains(err.Error(), "--models 1") {
		t.Errorf("fewer models: %v", err)
	}
	o.Models = 5
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	paths, err := s.Through(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	models := map[string]int{}
	each := func(_ *load.File, b *record.Batch) error {
		for i := range b.Len() {
			models[b.Header(i)[record.Model]]++
		}
		return nil
	}
	if err := load.Read(t.Context(), paths, load.ReadOptions{}, each, func(*load.File) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if want := map[string]int{"GFS": 1, "GFS_2": 1, "GFS_2_2": 1, "GFS_2_2_2": 1, "GFS_3": 1}; !maps.Equal(models, want) {
		t.Errorf("the models are %v, want %v", models, want)
	}
}

// stat is two lines of MET, and a line that cannot be read.
const stat = `VERSION MODEL DESC FCST_LEAD FCST_VALID_BEG FCST_VALID_END OBS_LEAD OBS_VALID_BEG OBS_VALID_END FCST_VAR FCST_UNITS FCST_LEV OBS_VAR OBS_UNITS OBS_LEV OBTYPE VX_MASK INTERP_MTHD INTERP_PNTS FCST_THRESH OBS_THRESH COV_THRESH ALPHA LINE_TYPE TOTAL FBAR OBAR FOBAR FFBAR OOBAR MAE
V12.0.0 GFS NA 240000 20190101_000000 20190101_060000 000000 20181231_230000 20190101_010000 TMP K P500 TMP K P500 ANALYS FULL NEAREST 1 NA NA NA NA SL1L2 100 250.5 250.25 62700 62800.125 62700 1.5
V12.0.0 GFS NA 240000 20190102_000000 20190102_000000 000000 20190102_000000 20190102_000000 TMP K P500 TMP K P500 ANALYS FULL NEAREST 1 NA NA NA NA SL1L2 100 251 251 63000 63001 63000 1.25
this line cannot be read
`

// TestMETFiles: all times of MET's lines move, compressed or not. A line that cannot be read is on the
// first day only, so that a study reports it once.
func TestMETFiles(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.stat.gz")
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte(stat)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(z.Close(), os.WriteFile(file, packed.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), Options{Files: []string{file}, Dir: t.TempDir(), MaxDays: 3})
	if err != nil {
		t.Fatal(err)
	}
	paths, err := s.Through(t.Context(), 3)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	rejects := 0
	each := func(_ *load.File, b *record.Batch) error {
		rejects += len(b.Rejects)
		for i := range b.Len() {
			got = append(got, line(b, i, "GFS", 0))
		}
		return nil
	}
	if err := load.Read(t.Context(), paths, load.ReadOptions{Workers: 1}, each, func(f *load.File) error { return f.Err }); err != nil {
		t.Fatal(err)
	}
	var want []string
	each = func(_ *load.File, b *record.Batch) error {
		for i := range b.Len() { // two records, of two days
			want = append(want, line(b, i, "GFS", 0))
		}
		if b.Len() > 0 {
			want = append(want, line(b, 0, "GFS", 2))
		}
		return nil
	}
	if err := load.Read(t.Context(), []string{file}, load.ReadOptions{}, each, func(*load.File) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) || rejects != 1 {
		t.Errorf("%d lines rejected, records\n%s\nwant\n%s", rejects, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestCheck: a written day whose records are not those of the real day is refused: one value, one
// time or one line differs.
func TestCheck(t *testing.T) {
	const text = "V01 GFS 0 2019010100 GFS G2/NHX SL1L2 HGT P500 = 100 5000 5001 25010000 25000000 25020000\n" +
		"V01 GFS 24 2019010100 GFS G2/NHX SL1L2 HGT P500 = 100 5000 5001 25010000 25000000 25020000\n"
	file := filepath.Join(t.TempDir(), "a.vsdb")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(string) string{
		"none":  func(s string) string { return s },
		"value": func(s string) string { return strings.Replace(s, "5001", "5002", 1) },
		"time":  func(s string) string { return strings.Replace(s, "2019010200", "2019010206", 1) },
		"line":  func(s string) string { return s[strings.Index(s, "\n")+1:] },
		"twice": func(s string) string { return s + s },
	} {
		s, err := Open(t.Context(), Options{Files: []string{file}, Dir: t.TempDir(), MaxDays: 2})
		if err != nil {
			t.Fatal(err)
		}
		written, err := s.write(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		for path := range written {
			text, err := os.ReadFile(path)
			if err == nil {
				err = os.WriteFile(path, []byte(change(string(text))), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := s.check(t.Context(), 1, written); (err == nil) != (name == "none") || err != nil && !strings.Contains(err.Error(), "cannot be shifted") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestUnreadFile: a file that cannot be read to its end is on the first day as it is, so that a study
// reports it, and on no other day. The other files are on every day.
func TestUnreadFile(t *testing.T) {
	dir := t.TempDir()
	good, cut := filepath.Join(dir, "a.stat"), filepath.Join(dir, "b.stat.gz")
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte(stat)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(z.Close(), os.WriteFile(good, []byte(stat), 0o600), os.WriteFile(cut, packed.Bytes()[:packed.Len()-20], 0o600)); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), Options{Files: []string{good, cut}, Dir: t.TempDir(), MaxDays: 3})
	if err != nil {
		t.Fatal(err)
	}
	paths, err := s.Through(t.Context(), 3)
	if err != nil {
		t.Fatal(err)
	}
	cuts := len(slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return p != cut }))
	if cuts != 1 || len(paths) != 4 || len(s.Notes) != 1 || !strings.Contains(s.Notes[0], cut) {
		t.Errorf("the days have the files %v, notes %v", paths, s.Notes)
	}
}
