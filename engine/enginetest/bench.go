package enginetest

import (
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
)

// Benchmark loads an archive in which the seven cases have answers of their recorded sizes. It times loads,
// phrasing and queries for every design and flavour of an engine: BenchmarkX/design=document/load (and
// load-merging), BenchmarkX/design=document/case=test_3/flavour=keys. It proves each answer before it times
// it. Use `barograph met` for published comparisons.
func Benchmark(b *testing.B, d engine.Driver, url func(b *testing.B) string) {
	files := Generate(41, 8, fullSeries()...)
	for _, n := range slices.Sorted(maps.Keys(archive.OfferOf(&d).Designs)) {
		b.Run("design="+string(n), func(b *testing.B) {
			a, err := openFor(b, d, url(b), n)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := store(b.Context(), a, "copy_0", files, 1); err != nil {
				b.Fatal(err)
			}
			for _, q := range benchmarkCases(b, files) {
				for _, f := range archive.Flavours(&d, n) {
					b.Run("case="+q.question.Name+"/flavour="+string(f), func(b *testing.B) { benchmarkAsk(b, a, q, f) })
				}
			}
			b.Run("load", func(b *testing.B) { benchmarkLoad(b, a, "whole", files, len(files)) })
			b.Run("load-merging", func(b *testing.B) { benchmarkLoad(b, a, "parts", files, 1) })
		})
	}
}

// openFor opens the archive of a design until b ends.
func openFor(b *testing.B, d engine.Driver, url string, n design.Name) (archive.Archive, error) {
	e, err := engine.Registry{d}.Open(b.Context(), url, engine.Options{})
	if err != nil {
		return nil, err
	}
	b.Cleanup(func() {
		if err := e.Close(); err != nil {
			b.Error(err)
		}
	})
	a, err := archive.DatabaseOf(e).Open(b.Context(), n)
	if err != nil {
		return nil, err
	}
	b.Cleanup(func() {
		if err := a.Close(); err != nil {
			b.Error(err)
		}
	})
	return a, nil
}

// fullSeries are the records of the cases: all valid times and leads that test_3, test_4, test_6 and test_9
// select, and few of the others.
func fullSeries() []Series {
	early, late := every(newYear2018, 6*hour, 16), every(newYear2019, 6*hour, 273)
	late = slices.Delete(late, 90, 92) // 2019-01-23 12:00 and 18:00, for which there were no data
	var lead []int32
	for h := int32(0); h <= 240; h += 6 {
		lead = append(lead, h*hour)
	}
	for h := int32(252); h <= 384; h += 12 {
		lead = append(lead, h*hour)
	}
	var all []Series
	for i, mask := range []string{"G2/NHX", "G2/SHX", "G2/TRO", "G2/PNA", "G2"} {
		for _, level := range []string{"P1000", "P700", "P500", "P250"} {
			s := Series{Type: lineType("SAL1L2"), Header: vsdb("GFS", "ANL", mask, "HGT", level), Valid: early, Lead: lead}
			all = append(all, s)
			s.Valid = late
			if level != "P500" || i > 1 {
				s.Lead = hours(0, 144)
			}
			all = append(all, s)
		}
		if i < 2 {
			all = append(all, Series{Type: lineType("VAL1L2"), Header: vsdb("GFS", "ANL", mask, "WIND", "P500"), Valid: late, Lead: lead})
		}
	}
	return all
}

type benchmarkCase struct {
	question *question.Question
	want     *answer.Answer
}

func benchmarkCases(b *testing.B, files []File) []benchmarkCase {
	b.Helper()
	cases, err := question.Cases()
	if err != nil {
		b.Fatal(err)
	}
	for i, q := range cases {
		cases[i] = q.InSubset("copy_0")
	}
	var out []benchmarkCase
	for i, want := range references(files, cases) {
		out = append(out, benchmarkCase{cases[i], want})
	}
	return out
}

// benchmarkLoad loads the files into a new subset in each step, with perCommit files in each commit. Each document's
// leads are distributed over all files: with one file per commit every commit merges.
func benchmarkLoad(b *testing.B, a archive.Archive, name string, files []File, perCommit int) {
	var records int64
	copies := 0
	for i := range files {
		records += files[i].Records()
	}
	for b.Loop() {
		copies++
		if _, err := store(b.Context(), a, name+"_"+strconv.Itoa(copies), files, perCommit); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(records)*float64(copies)/b.Elapsed().Seconds(), "records/s")
}

func benchmarkAsk(b *testing.B, a archive.Archive, c benchmarkCase, f flavour.Name) {
	p, err := a.Phrase(b.Context(), c.question, f)
	if err != nil {
		b.Fatal(err)
	}
	var into answer.Builder
	if err := askInto(b.Context(), a, p, &into, c.want); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := a.Ask(b.Context(), p, &into); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(c.want.Rows), "rows")
	b.ReportMetric(float64(p.DeriveTime.Microseconds()), "derive-µs")
}
