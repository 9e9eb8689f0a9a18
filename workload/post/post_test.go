package post_test

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"barograph/engine"
	"barograph/engine/all"
	"barograph/formats"
	"barograph/record"
	"barograph/run"
	"barograph/synth"
	"barograph/workload/post"
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

func openStore(t *testing.T, d engine.PostDesign) *engine.PostStore {
	t.Helper()
	e, err := all.Registry().Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "post.db"), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	s, err := e.Posts.Open(t.Context(), engine.PostTables{Design: d, Make: true})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestProgramme runs every test of the report, small, and looks at what it says.
func TestProgramme(t *testing.T) {
	feed := smallFeed(t, synth.SHEF{Seed: 3, Messages: 30, Mean: 20, Offices: 2, Stations: 4, PerDay: 15})
	for _, d := range []engine.PostDesign{engine.Array96Design, engine.SingleDesign, engine.IHFSDesign} {
		result := &run.Posts{Seed: 3}
		p := post.Programme{
			Store: openStore(t, d), Design: d, Policy: engine.Overwrite, Source: feed, References: references(t, feed), Rounds: 2, Result: result,
			From: feed.From, PerDay: feed.PerDay, SpeedUp: 1e7, Progress: func(string) {},
			Options: post.Options{Method: engine.MultiRow, Posters: 2, Together: 3},
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
		for _, c := range result.Cells {
			seen[c.Test]++
			if c.Proof == "" {
				t.Fatalf("%s %s, %s: %q, not proven: %q", c.Test, c.Scenario, d, c.Digest, result.Warnings)
			}
			if c.Test == "delete" {
				continue
			}
			if c.Products != 30 || c.Values != values {
				t.Errorf("%s %s: %d products, %d values, want 30, %d", c.Test, c.Scenario, c.Products, c.Values, values)
			}
			if c.Test == "noise" {
				continue // another poster's rows are among those that there are more
			}
			if c.Scenario == "update" && (c.RowsInserted != 0 && c.Test == "quiet" || c.RowsUpdated == 0) {
				t.Errorf("%s update: %d rows were inserted, %d updated", c.Test, c.RowsInserted, c.RowsUpdated)
			}
		}
		if result.Wrong() {
			t.Errorf("%s: something is not proven: %q", d, result.Warnings)
		}
		for test, n := range map[string]int{"once": 1, "quiet": 2, "noise": 2, "queue": 1, "delete": 1, "bloat": 5} {
			if seen[test] != n {
				t.Errorf("%s has %d cells, want %d", test, seen[test], n)
			}
		}
		if len(result.Days) != 6 {
			t.Errorf("%d days of the live feed, want 2 of 3 phases", len(result.Days))
		}
	}
}

// TestProgrammeCatchesALoss has a poster that loses the last value of each product.
func TestProgrammeCatchesALoss(t *testing.T) {
	feed := smallFeed(t, synth.SHEF{Seed: 4, Messages: 5, Mean: 10, Offices: 1, Stations: 3})
	s := *openStore(t, engine.SingleDesign)
	poster := s.Poster
	s.Poster = func(ctx context.Context, m engine.PostMethod) (engine.Poster, error) {
		p, err := poster(ctx, m)
		return loser{p}, err
	}
	result := &run.Posts{}
	p := post.Programme{Store: &s, Design: engine.SingleDesign, Policy: engine.Overwrite, Source: feed, References: references(t, feed), Result: result,
		Progress: func(string) {}, Options: post.Options{Method: engine.PreparedRows}}
	if err := p.Admit(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	if err := p.Run(t.Context(), post.Queue); err != nil {
		t.Fatal(err)
	}
	if err := p.Run(t.Context(), post.Live); err != nil {
		t.Fatal(err)
	}
	if c := result.Cells[0]; c.Proof != "" || c.PostFigures != nil || c.Digest == "" || !result.Wrong() {
		t.Errorf("a lost value was not noticed: %+v", c)
	}
	for _, d := range result.Days {
		if d.Proof != "" || d.Post.Total != 0 {
			t.Errorf("a day without a proof has times: %+v", d)
		}
	}
}

type loser struct{ engine.Poster }

// Post loses a value.
func (l loser) Post(ctx context.Context, messages []engine.PostMessage) (engine.Posted, error) {
	last := &messages[len(messages)-1]
	last.Values = last.Values[:len(last.Values)-1]
	return l.Poster.Post(ctx, messages)
}

// TestSourcesAgree decodes a feed from files and from memory.
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
	one, err := post.Survey(t.Context(), feed)
	if err != nil {
		t.Fatal(err)
	}
	two, err := post.Survey(t.Context(), files)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(one, two) || one.Read.Values == 0 {
		t.Errorf("%d stations, %d series, %+v; from files %d, %d, %+v", len(one.Stations), len(one.Series), one.Read, len(two.Stations), len(two.Series), two.Read)
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
