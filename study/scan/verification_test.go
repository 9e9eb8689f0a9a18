package scan_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/all"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/formats"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study/scan"
	"github.com/barograph/barograph/study/synth"
)

// anomalyFiles returns files with synthetic anomaly correlations of a day.
func anomalyFiles(t *testing.T, day int) []string {
	t.Helper()
	from := time.Date(2019, 1, day, 0, 0, 0, 0, time.UTC)
	specs, err := (&synth.VSDB{Seed: 1, From: from, To: from, StatTypes: []string{synth.Anom}, Models: []string{"gfs"}}).Files()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if _, err := synth.WriteAll(t.Context(), dir, specs, 1, func(int64) {}); err != nil {
		t.Fatal(err)
	}
	files, err := formats.Expand([]string{dir})
	if err != nil || len(files) == 0 {
		t.Fatal(len(files), err)
	}
	return files
}

// verification returns a short run on DuckDB. wrap may change its archives; nil = it changes nothing.
func verification(t *testing.T, wrap func(archive.Archive) archive.Archive) scan.Verification {
	t.Helper()
	url := "duckdb:" + filepath.Join(t.TempDir(), "a.db")
	return scan.Verification{
		Files: anomalyFiles(t, 1), Subset: "a", Designs: []design.Name{design.Wide, design.Document}, Warm: 2, Cold: 1, Seed: 3,
		Open: func(ctx context.Context) (*engine.Engine, error) {
			e, err := all.Registry().Open(ctx, url, engine.Options{})
			if err == nil && wrap != nil {
				e.Abilities = slices.Insert(e.Abilities, 0, any(archives{archive.DatabaseOf(e), wrap}))
			}
			return e, err
		},
		Drop:     func([]string) (string, error) { return "nothing was dropped", nil },
		Progress: func(string) {},
	}
}

type archives struct {
	archive.Database
	wrap func(archive.Archive) archive.Archive
}

func (w archives) Open(ctx context.Context, d design.Name) (archive.Archive, error) {
	a, err := w.Database.Open(ctx, d)
	if err != nil {
		return nil, err
	}
	return w.wrap(a), nil
}

// TestVerify: two runs time two designs. The second run loads nothing, because the archive has all files.
func TestVerify(t *testing.T) {
	o := verification(t, nil)
	for round := range 2 {
		result := folder(t, run.Run{}, run.Scan{})
		if err := scan.Verify(t.Context(), o, result); err != nil {
			t.Fatal(err)
		}
		samples, of := result.Samples(), result.Run.Scan
		if want := 2 * (2 + 1); len(samples) != want {
			t.Errorf("%d samples, not %d", len(samples), want)
		}
		for _, s := range samples {
			if s.Verdict != run.Equal || s.Measured().Total <= 0 || s.Rows != of.Archive.Groups {
				t.Errorf("%+v", s)
			}
		}
		for _, c := range of.Configs {
			if c.Loads != 1-round || c.Bytes[0] <= 0 || len(c.Plans) != 1 || c.Plans[0].Plan == "" || !strings.Contains(c.Plans[0].Text, "GROUP BY") {
				t.Errorf("round %d: %+v", round, c)
			}
		}
		if a := of.Archive; a.Groups == 0 || a.Records <= a.Groups || a.Quarantined != 0 {
			t.Errorf("%+v", a)
		}
		if result.Run.ColdMethod != "the database was closed and reopened; nothing was dropped" {
			t.Errorf("cold: %s", result.Run.ColdMethod)
		}
	}
	// The run reports a file that it cannot read, and scans the others.
	result := folder(t, run.Run{}, run.Scan{})
	o.Files = append(o.Files, filepath.Join(t.TempDir(), "none.vsdb"))
	if err := scan.Verify(t.Context(), o, result); fault.Code(err) != fault.Incomplete || len(result.Samples()) == 0 || len(result.Run.Warnings) != 1 {
		t.Errorf("a file that is not there: %v, %d points, %v", err, len(result.Samples()), result.Run.Warnings)
	}
	// The run refuses an archive that contains the records of other files, too.
	o.Files = o.Files[:1]
	if err := scan.Verify(t.Context(), o, folder(t, run.Run{}, run.Scan{})); err == nil || !strings.Contains(err.Error(), "name all files") {
		t.Errorf("an archive of more files: %v", err)
	}
}

// TestVerifyCatches: wrong results have no times.
func TestVerifyCatches(t *testing.T) {
	for name, wrap := range map[string]func(archive.Archive) archive.Archive{
		"a lost group":    func(a archive.Archive) archive.Archive { return enginetest.Faulty(a, enginetest.LostRow) },
		"a group twice":   func(a archive.Archive) archive.Archive { return enginetest.Faulty(a, enginetest.DuplicatedRow) },
		"a stored value":  func(a archive.Archive) archive.Archive { return &changedRecord{a, false} },
		"a record of NHX": func(a archive.Archive) archive.Archive { return &changedRecord{a, true} },
	} {
		t.Run(name, func(t *testing.T) {
			o, result := verification(t, wrap), folder(t, run.Run{}, run.Scan{})
			if err := scan.Verify(t.Context(), o, result); !errors.Is(err, scan.ErrWrong) {
				t.Fatalf("%v", err)
			}
			samples := result.Samples()
			if len(samples) != len(o.Designs) {
				t.Errorf("%d samples", len(samples))
			}
			for _, s := range samples {
				if s.Verdict != run.Wrong || s.Measured() != nil || s.Problem == "" {
					t.Errorf("%+v", s)
				}
			}
		})
	}
}

// changedRecord is an archive that stores one record with another value or, if region is true, with another region.
type changedRecord struct {
	archive.Archive
	region bool
}

func (s *changedRecord) Loader(ctx context.Context, subset string) (archive.Loader, error) {
	l, err := s.Archive.Loader(ctx, subset)
	return &changingLoader{Loader: l, region: s.region}, err
}

type changingLoader struct {
	archive.Loader
	region, done bool
}

func (l *changingLoader) Add(ctx context.Context, b *record.Batch) error {
	if t := question.MeanAnomalyCorrelation("").Type; l.done || b.Type != t || b.Len() == 0 {
		return l.Loader.Add(ctx, b)
	}
	l.done = true
	b = b.Clone()
	if l.region {
		h := *b.Header(0)
		h[record.VxMask] = "G2/XXX"
		b.HeaderIndex[0] = b.AddHeader(h)
	} else {
		c, _ := b.Type.Column("foabar")
		b.Num[c.Slot][0] *= 1.001
	}
	return l.Loader.Add(ctx, b)
}

func TestVerifyRefuses(t *testing.T) {
	o := verification(t, nil)
	none := filepath.Join(t.TempDir(), "none.vsdb")
	if err := os.WriteFile(none, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, files := range map[string][]string{"no records": {none}, "no file": {none + "x"}} {
		o.Files = files
		if err := scan.Verify(t.Context(), o, folder(t, run.Run{}, run.Scan{})); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for _, d := range all.Registry() {
		designs, err := scan.DesignsOf(all.Registry(), &d, nil)
		if _, ok := errors.AsType[*fault.Error](err); ok == (len(archive.OfferOf(&d).MeanDesigns) > 0) || len(designs) != len(archive.OfferOf(&d).MeanDesigns) {
			t.Errorf("%s: %v, %v", d.Scheme, designs, err)
		}
		if _, err := scan.DesignsOf(all.Registry(), &d, []string{string(design.Memory)}); err == nil {
			t.Errorf("%s computes means in the client's memory", d.Scheme)
		}
	}
}
