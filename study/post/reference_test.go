package post

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/barograph/barograph/engine/posts"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/study/synth"
)

// TestReferencesInParts: looked at part by part, a source has the digest that it
// has at once, for every design, after updates and deletion.
func TestReferencesInParts(t *testing.T) {
	feed, err := synth.SHEF{Seed: 8, Messages: 40, Mean: 30}.Feed()
	if err != nil {
		t.Fatal(err)
	}
	whole, err := NewReferences(t.Context(), Feed{Feed: feed})
	if err != nil {
		t.Fatal(err)
	}
	middle := whole.contents.First/86400*86400 + 86400
	seen := map[record.Digest]bool{}
	for _, d := range posts.Designs() {
		for _, s := range []state{{[]float64{0}, never}, {[]float64{0, 1}, never}, {[]float64{0}, middle}} {
			want, err := whole.digest(t.Context(), d, posts.GoodStays, s)
			if err != nil || want.Records == 0 {
				t.Fatal(err, want)
			}
			parts := &References{source: whole.source, contents: whole.contents, groupValues: 100, digests: map[string]record.Digest{}}
			if got, err := parts.digest(t.Context(), d, posts.GoodStays, s); err != nil || got != want {
				t.Errorf("%s, %v: %v in parts, %v at once: %v", d, s, got, want, err)
			}
			seen[want] = true
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := NewReferences(ctx, whole.source); !errors.Is(err, context.Canceled) {
		t.Errorf("after a signal: %v", err)
	}
	if _, err := whole.digest(ctx, posts.Single, posts.IfDifferent, state{[]float64{0}, never}); !errors.Is(err, context.Canceled) {
		t.Errorf("after a signal: %v", err)
	}
	if len(seen) < 4 { // the archive's designs keep the same until something is deleted
		t.Errorf("%d different contents", len(seen))
	}
}

// TestFitting: the products of a run of the report's tests, by what a pilot took.
func TestFitting(t *testing.T) {
	for _, c := range []struct {
		limit, took time.Duration
		want        int
	}{
		{15 * time.Minute, 2 * time.Second, 1200}, // 15 passes: the pilot's two took a second each for 20 products
		{time.Second, time.Minute, pilotProducts},
		{0, 0, pilotProducts},
		{1000 * time.Hour, time.Second, backlogProducts},
	} {
		if got := fitting(c.limit, c.took); got != c.want {
			t.Errorf("%s after a pilot of %s: %d products, want %d", c.limit, c.took, got, c.want)
		}
	}
}
