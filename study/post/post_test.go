package post_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/all"
	"github.com/barograph/barograph/engine/posts"
	"github.com/barograph/barograph/formats"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study/post"
	"github.com/barograph/barograph/study/synth"
)

func smallFeed(t *testing.T, s synth.SHEF) post.Feed {
	t.Helper()
	f, err := s.Feed()
	if err != nil {
		t.Fatal(err)
	}
	return post.Feed{Feed: f, Text: "a small feed"}
}

func references(t *testing.T, s post.Source) *post.References {
	t.Helper()
	r, err := post.NewReferences(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func openStore(t *testing.T, d posts.Design) *posts.Store {
	t.Helper()
	return openTables(t, posts.Tables{Design: d, Make: true, Tests: true})
}

func openTables(t *testing.T, tables posts.Tables) *posts.Store {
	t.Helper()
	e, err := all.Registry().Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "post.db"), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	s, err := posts.DatabaseOf(e).Open(t.Context(), tables)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// folder creates a run folder in memory.
func folder(t *testing.T) *run.Folder {
	t.Helper()
	f, err := run.Create("", run.Run{Seed: 3, Started: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// emptyFirst is a source that returns products without values before those of another source.
type emptyFirst struct {
	post.Source
	n int
}

func (s emptyFirst) Products() iter.Seq2[*post.Message, error] {
	return func(yield func(*post.Message, error) bool) {
		for range s.n {
			if !yield(&post.Message{}, nil) {
				return
			}
		}
		for m, err := range s.Source.Products() {
			if !yield(m, err) {
				return
			}
		}
	}
}

// TestLiveEmptyDay: the test live continues after a day whose products have no values.
func TestLiveEmptyDay(t *testing.T) {
	feed := smallFeed(t, synth.SHEF{Seed: 4, Messages: 6, Mean: 10, Offices: 1, Stations: 3})
	source, result := emptyFirst{feed, 3}, folder(t)
	p := post.Programme{
		Store: openStore(t, posts.Single), Design: posts.Single, Policy: posts.Overwrite,
		Source: source, References: references(t, source), Folder: result, From: feed.From, PerDay: 3,
		Progress: func(string) {}, Options: post.Options{Method: posts.MultiRow},
	}
	if err := p.Admit(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if err := p.Run(t.Context(), post.Live); err != nil {
		t.Fatal(err)
	}
	days := map[string]int{}
	for _, s := range result.Samples() {
		if s.Proof != answer.DigestOnly {
			t.Errorf("%s is not proven: %q", s.Cell, result.Run.Warnings)
		}
		days[s.Cell.Value("day")]++
	}
	second, third := feed.From.AddDate(0, 0, 1), feed.From.AddDate(0, 0, 2)
	if len(days) != 2 || days[second.Format(time.DateOnly)] != 3 || days[third.Format(time.DateOnly)] != 3 {
		t.Errorf("the days are %v", days)
	}
}

// TestProgramme runs every test of the report on a small feed, and checks the counts and the proof of each cell.
func TestProgramme(t *testing.T) {
	feed := smallFeed(t, synth.SHEF{Seed: 3, Messages: 30, Mean: 20, Offices: 2, Stations: 4, PerDay: 15})
	for _, d := range []posts.Design{posts.Array96, posts.Single} {
		result := folder(t)
		p := post.Programme{
			Store: openStore(t, d), Design: d, Policy: posts.Overwrite,
			Source: feed, References: references(t, feed), Rounds: 2, Folder: result,
			From: feed.From, PerDay: feed.PerDay, SpeedUp: 1e7, Progress: func(string) {},
			Options: post.Options{Method: posts.MultiRow, Posters: 2, Together: 3},
		}
		if err := p.Admit(t.Context(), true); err != nil {
			t.Fatal(err)
		}
		for _, test := range post.Tests() {
			if err := p.Run(t.Context(), test); err != nil {
				t.Fatalf("%s: %v", test, err)
			}
		}
		values := int64(0)
		for m, err := range feed.Products() {
			if err != nil {
				t.Fatal(err)
			}
			values += int64(len(m.Values))
		}
		seen := map[string]int{}
		for _, s := range result.Samples() {
			test, m := s.Cell.Value("test"), s.Measured()
			seen[test]++
			if m == nil || s.Proof != answer.DigestOnly {
				t.Fatalf("%s: %q, not proven: %q", s.Cell, s.Digest, result.Run.Warnings)
			}
			if test == "delete" || test == "live" {
				continue
			}
			if m.Products != 30 || m.Values != values {
				t.Errorf("%s: %d products, %d values, want 30, %d", s.Cell, m.Products, m.Values, values)
			}
			if test == "noise" {
				continue // the second poster also inserts rows
			}
			if s.Cell.Value("scenario") == "update" && (m.RowsInserted != 0 && test == "quiet" || m.RowsUpdated == 0) {
				t.Errorf("%s: %d rows were inserted, %d updated", s.Cell, m.RowsInserted, m.RowsUpdated)
			}
		}
		want := map[string]int{"once": 1, "quiet": 2, "noise": 2, "queue": 1, "delete": 1, "bloat": 5, "live": 6}
		for test, n := range want {
			if seen[test] != n {
				t.Errorf("%s has %d cells, want %d", test, seen[test], n)
			}
		}
	}
}

// TestProgrammeDetectsLoss: the cells of a poster that loses the last value of each batch are wrong, and have no times.
func TestProgrammeDetectsLoss(t *testing.T) {
	feed := smallFeed(t, synth.SHEF{Seed: 4, Messages: 5, Mean: 10, Offices: 1, Stations: 3})
	s := *openStore(t, posts.Single)
	poster := s.Poster
	s.Poster = func(ctx context.Context, m posts.Method) (posts.Poster, error) {
		p, err := poster(ctx, m)
		return lossyPoster{p}, err
	}
	result := folder(t)
	p := post.Programme{
		Store: &s, Design: posts.Single, Policy: posts.Overwrite,
		Source: feed, References: references(t, feed), Folder: result,
		Progress: func(string) {}, Options: post.Options{Method: posts.PreparedRows},
	}
	if err := p.Admit(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	if err := p.Run(t.Context(), post.Queue); err != nil {
		t.Fatal(err)
	}
	if err := p.Run(t.Context(), post.Live); err != nil {
		t.Fatal(err)
	}
	samples := result.Samples()
	if len(samples) < 2 {
		t.Fatal(samples)
	}
	for _, x := range samples {
		if x.Verdict != run.Wrong || x.Proof != "" || x.Measured() != nil || x.Digest == "" {
			t.Errorf("a lost value was not detected: %+v", x)
		}
	}
}

// lossyPoster loses the last value of each batch.
type lossyPoster struct{ posts.Poster }

func (l lossyPoster) Post(ctx context.Context, messages []posts.Message) (posts.PostResult, error) {
	last := &messages[len(messages)-1]
	last.Values = last.Values[:len(last.Values)-1]
	return l.Poster.Post(ctx, messages)
}

// TestService: every cell of the service is proven, for every test and design.
func TestService(t *testing.T) {
	feed := smallFeed(t, synth.SHEF{Seed: 3, Messages: 30, Mean: 20, Offices: 2, Stations: 4, PerDay: 15})
	p := post.Posting{
		Registry: all.Registry(), URL: "sqlite:" + filepath.Join(t.TempDir(), "post.db"), Progress: func(string) {},
		Source: feed, Designs: []string{"array96", "single"}, Methods: []string{string(post.Service)},
		Policy: string(posts.Overwrite), Rounds: 2, SpeedUp: 1e7,
	}
	for _, test := range post.Tests() {
		p.Tests = append(p.Tests, string(test))
	}
	result, err := run.Create(filepath.Join(t.TempDir(), "run"), run.Run{Started: time.Now()})
	if err := errors.Join(err, p.Run(t.Context(), result)); err != nil {
		t.Fatal(err)
	}
	if n := len(result.Samples()); n != 36 {
		t.Errorf("%d cells", n)
	}
	for _, s := range result.Samples() {
		m := s.Measured()
		if m == nil || s.Proof != answer.DigestOnly {
			t.Fatalf("%s: not proven: %q", s.Cell, result.Run.Warnings)
		}
		if m.Post.Mean > m.Post.Max || m.Parse.Mean > m.Parse.Max {
			t.Errorf("%s: mean %s and %s above maximum %s and %s",
				s.Cell, m.Post.Mean, m.Parse.Mean, m.Post.Max, m.Parse.Max)
		}
		switch s.Cell.Value("test") {
		case "delete":
		case "live":
			if m.Products != 15 || m.Post.P50 < 100*time.Millisecond || m.Post.Total != m.Total {
				t.Errorf("%s: %d products, rename to committed row %s, in %s of %s",
					s.Cell, m.Products, m.Post.P50, m.Post.Total, m.Total)
			}
		default:
			if m.Products != 30 || m.Rate() == 0 || m.Post.Total != m.Total || s.Cell.Value("together") != "1000" {
				t.Errorf("%s: %d products in %s of %s", s.Cell, m.Products, m.Post.Total, m.Total)
			}
		}
	}
}

// TestServiceReportsDuplicates: the service posts a file that arrives twice only once, and the run warns.
func TestServiceReportsDuplicates(t *testing.T) {
	file := smallFeed(t, synth.SHEF{Seed: 5, Messages: 3, Mean: 20}).Files(5)[0].Append(nil)
	p := post.Posting{
		Registry: all.Registry(), URL: "sqlite:" + filepath.Join(t.TempDir(), "post.db"), Progress: func(string) {},
		Source:  files(t, string(file), string(file)),
		Designs: []string{"single"}, Methods: []string{string(post.Service)},
		Policy: string(posts.Overwrite), Tests: []string{"queue"}, Rounds: 1,
	}
	result, err := run.Create(filepath.Join(t.TempDir(), "run"), run.Run{Started: time.Now()})
	if err := errors.Join(err, p.Run(t.Context(), result)); err != nil {
		t.Fatal(err)
	}
	const warning = "queue insert, single, service: 3 products are duplicates, apart from sequence numbers, " +
		"trailing blanks and line ends; the service did not post them again"
	if w := fmt.Sprint(result.Run.Warnings); !strings.Contains(w, warning) {
		t.Error(w)
	}
}

// TestSourcesAgree: a feed has the same contents in files and in memory.
func TestSourcesAgree(t *testing.T) {
	feed := smallFeed(t, synth.SHEF{Seed: 5, Messages: 12, Mean: 400})
	dir := t.TempDir()
	var paths []string
	for _, s := range feed.Files(5) {
		path := filepath.Join(dir, filepath.Base(s.Path))
		if err := os.WriteFile(path, s.Append(nil), 0o644); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	texts, err := formats.NewTexts(t.Context(), paths, nil, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	files := post.Files{Texts: texts, Now: feed.Now()}
	fromMemory, err := post.Survey(t.Context(), feed)
	if err != nil {
		t.Fatal(err)
	}
	fromFiles, err := post.Survey(t.Context(), files)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(fromMemory, fromFiles) || fromMemory.Read.Values == 0 {
		t.Errorf("%d stations, %d series, %+v; from files %d, %d, %+v",
			len(fromMemory.Stations), len(fromMemory.Series), fromMemory.Read,
			len(fromFiles.Stations), len(fromFiles.Series), fromFiles.Read)
	}
	for m, err := range feed.Products() {
		if err != nil {
			t.Fatal(err)
		}
		if m.Product == "" || m.Issued == record.NoTime || strings.TrimSpace(m.Product) != m.Product {
			t.Errorf("product %q issued %d", m.Product, m.Issued)
		}
	}
}

// files writes texts into files, and returns them as a source.
func files(t *testing.T, texts ...string) post.Files {
	t.Helper()
	dir := t.TempDir()
	var paths []string
	for i, text := range texts {
		path := filepath.Join(dir, fmt.Sprintf("%03d", i))
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	out, err := formats.NewTexts(t.Context(), paths, nil, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	return post.Files{Texts: out, Now: time.Date(2006, 4, 1, 0, 0, 0, 0, time.UTC)}
}

// brieflyFull is a poster whose database is full at the first post.
type brieflyFull struct {
	posts.Poster
	calls *atomic.Int64
}

var errFull = errors.New("database or disk is full")

func (b brieflyFull) Post(ctx context.Context, messages []posts.Message) (posts.PostResult, error) {
	if b.calls.Add(1) == 1 {
		return posts.PostResult{}, errFull
	}
	return b.Poster.Post(ctx, messages)
}

// TestFirstErrorEndsEveryMethod: the first error of the database ends a run by any method. The service would otherwise
// wait for the database, and its time would contain the outage.
func TestFirstErrorEndsEveryMethod(t *testing.T) {
	feed := smallFeed(t, synth.SHEF{Seed: 4, Messages: 5, Mean: 10, Offices: 1, Stations: 3})
	for _, o := range []post.Options{
		{Method: posts.MultiRow},
		{Method: post.Service, Writes: posts.MultiRow},
		{Method: post.Service, Writes: posts.MultiRow, Pace: post.Pace{PerDay: 5, SpeedUp: 1e7}},
	} {
		s, calls := *openStore(t, posts.Single), &atomic.Int64{}
		poster := s.Poster
		s.Poster = func(ctx context.Context, m posts.Method) (posts.Poster, error) {
			p, err := poster(ctx, m)
			return brieflyFull{p, calls}, err
		}
		if _, err := post.Run(t.Context(), &s, feed, o); !errors.Is(err, errFull) {
			t.Errorf("%s, %v: %v after %d transactions", o.Method, o.Pace, err, calls.Load())
		}
	}
}

// slowPoster waits before each post.
type slowPoster struct{ posts.Poster }

func (s slowPoster) Post(ctx context.Context, messages []posts.Message) (posts.PostResult, error) {
	time.Sleep(time.Second)
	return s.Poster.Post(ctx, messages)
}

// TestServiceIsLate: the service's products are late if the database is slow. The time until an idle service notices a
// file does not make them late.
func TestServiceIsLate(t *testing.T) {
	feed := smallFeed(t, synth.SHEF{Seed: 4, Messages: 5, Mean: 10, Offices: 1, Stations: 3})
	pace := post.Pace{PerDay: 5000, SpeedUp: 200} // a minute of the feed has 300 ms
	for isSlow, late := range map[bool]int64{false: 0, true: 5} {
		s := *openStore(t, posts.Single)
		poster := s.Poster
		s.Poster = func(ctx context.Context, m posts.Method) (posts.Poster, error) {
			p, err := poster(ctx, m)
			if isSlow {
				p = slowPoster{p}
			}
			return p, err
		}
		tally, err := post.Run(t.Context(), &s, feed, post.Options{Method: post.Service, Writes: posts.MultiRow, Pace: pace})
		if err != nil || tally.Late != late {
			t.Errorf("slow database %t: %d products are late, want %d, %v", isSlow, tally.Late, late, err)
		}
	}
}

// TestRowsKeptByPolicy: an upsert does not report whether the policy kept a row, so the number of updated rows is not
// reported. The algorithm of 2006 counts them.
func TestRowsKeptByPolicy(t *testing.T) {
	feed := smallFeed(t, synth.SHEF{Seed: 3, Messages: 30, Mean: 20, Offices: 2, Stations: 4})
	for _, method := range []posts.Method{posts.MultiRow, posts.Row2006} {
		p := post.Programme{
			Store:  openTables(t, posts.Tables{Design: posts.Single, Policy: posts.RevisedOnly, Make: true, Tests: true}),
			Design: posts.Single, Policy: posts.RevisedOnly, Source: feed, References: references(t, feed), Folder: folder(t),
			Progress: func(string) {}, Options: post.Options{Method: method},
		}
		if err := errors.Join(p.Admit(t.Context(), false), p.Run(t.Context(), post.Quiet)); err != nil {
			t.Fatal(err)
		}
		for _, s := range p.Folder.Samples() {
			m := s.Measured()
			if m == nil {
				t.Fatalf("%s is not proven: %q", s.Cell, p.Folder.Run.Warnings)
			}
			isReported := m.RowsUpdated >= 0 && m.RowsUpdated < m.Values/2
			if isReported != (method == posts.Row2006) || !isReported && m.RowsUpdated != -1 || m.RowsInserted < 0 {
				t.Errorf("%s: %d values, %d rows inserted, %d updated", s.Cell, m.Values, m.RowsInserted, m.RowsUpdated)
			}
		}
	}
}

// stage is a product with a river stage.
func stage(sequence int, awips string, value float64) string {
	return fmt.Sprintf("\x01\r\r\n%03d \r\r\nSRUS54 KLCH 101813\r\r\n%s\r\r\n.A AAA 20060310 Z DH06/HG %g\r\r\n\x03",
		sequence, awips, value)
}

// TestRepeatedProduct: the service does not post a product whose text it has posted already, so an earlier contradiction
// stays. The other methods post it again. The reference of each method has the same values.
func TestRepeatedProduct(t *testing.T) {
	source := files(t, stage(1, "RR1LCH", 1), stage(2, "RR2LCH", 5), stage(3, "RR1LCH", 1))
	for _, c := range []struct {
		method posts.Method
		test   post.Test
		perDay int
		want   float64
	}{
		{posts.MultiRow, post.Queue, 1, 1},
		{post.Service, post.Queue, 1, 5},
		{post.Service, post.Delete, 1, 5},
		{post.Service, post.Quiet, 1, 5 + 1},  // quiet adds 1 to the values of its second post
		{posts.MultiRow, post.Live, 3, 1 + 2}, // live adds 2 to those of its third
		{post.Service, post.Live, 3, 5 + 2},   // one day, thus one spool
		{post.Service, post.Live, 2, 1 + 2},   // the repeated product is in the spool of the second day
		{post.Service, post.Live, math.MaxInt, 5 + 2},
	} {
		p := post.Programme{
			Store: openStore(t, posts.Single), Design: posts.Single, Policy: posts.Overwrite,
			Source: source, References: references(t, source), Folder: folder(t), PerDay: c.perDay,
			Progress: func(string) {}, Options: post.Options{Method: c.method, Writes: posts.MultiRow},
		}
		if err := errors.Join(p.Admit(t.Context(), false), p.Run(t.Context(), c.test)); err != nil {
			t.Fatal(err)
		}
		for _, s := range p.Folder.Samples() {
			if s.Proof != answer.DigestOnly {
				t.Errorf("%s: not proven: %q", s.Cell, p.Folder.Run.Warnings)
			}
		}
		for v, err := range p.Store.Values(t.Context()) {
			if err != nil || v.Value != c.want {
				t.Errorf("%s, %s, %d products a day: value %g, want %g: %v", c.method, c.test, c.perDay, v.Value, c.want, err)
			}
		}
	}
}

// TestServicePolicies: the service and its reference agree on each policy for a feed, whose products have times of
// issue. For files, whose products may have none, the service is refused, and not one of the default methods.
func TestServicePolicies(t *testing.T) {
	feed := smallFeed(t, synth.SHEF{Seed: 3, Messages: 60, Mean: 20, Offices: 2, Stations: 4})
	for _, policy := range posts.Policies() {
		p := post.Posting{
			Registry: all.Registry(), URL: "sqlite:" + filepath.Join(t.TempDir(), "post.db"), Progress: func(string) {},
			Source: feed, Designs: []string{"array96", "single"}, Methods: []string{string(post.Service)},
			Tests: []string{"quiet"}, Policy: string(policy),
		}
		result := folder(t)
		if err := p.Run(t.Context(), result); err != nil || len(result.Samples()) != 4 {
			t.Errorf("%s: %v, %d cells, %q", policy, err, len(result.Samples()), result.Run.Warnings)
		}
		if policy == posts.Overwrite {
			continue
		}
		p.Source = files(t, ".A AAA 20060310 Z DH06/HG 5\n", ".A AAA 20060310 Z DH06/HG 3\n")
		var status *fault.Status
		if err := p.Run(t.Context(), folder(t)); !errors.As(err, &status) || status.Code != fault.Usage {
			t.Errorf("%s with files: %v", policy, err)
		}
		p.Methods, result = nil, folder(t)
		if err := p.Run(t.Context(), result); err != nil || slices.Contains(p.Methods, string(post.Service)) ||
			len(result.Samples()) != 2*2*len(p.Methods) {
			t.Errorf("%s with files: %v, %d cells by %q", policy, err, len(result.Samples()), p.Methods)
		}
	}
}
