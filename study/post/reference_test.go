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

// TestReferencesInGroups: the digest of a source is the same if it is computed by groups of stations or at once, for
// every design, after updates and deletion.
func TestReferencesInGroups(t *testing.T) {
	feed, err := synth.SHEF{Seed: 8, Messages: 40, Mean: 30}.Feed()
	if err != nil {
		t.Fatal(err)
	}
	atOnce, err := NewReferences(t.Context(), Feed{Feed: feed})
	if err != nil {
		t.Fatal(err)
	}
	middle := atOnce.contents.First/86400*86400 + 86400
	seen := map[record.Digest]bool{}
	for _, d := range posts.Designs() {
		for _, s := range []state{{[]float64{0}, never, 0}, {[]float64{0, 1}, never, 0}, {[]float64{0}, middle, 0}} {
			want, err := atOnce.digest(t.Context(), d, posts.GoodStays, s)
			if err != nil || want.Records == 0 {
				t.Fatal(err, want)
			}
			inGroups := &References{
				source: atOnce.source, contents: atOnce.contents, groupValues: 100, digests: map[string]record.Digest{},
			}
			if got, err := inGroups.digest(t.Context(), d, posts.GoodStays, s); err != nil || got != want {
				t.Errorf("%s, %v: %v in groups, %v at once: %v", d, s, got, want, err)
			}
			seen[want] = true
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := NewReferences(ctx, atOnce.source); !errors.Is(err, context.Canceled) {
		t.Errorf("after a signal: %v", err)
	}
	once := state{[]float64{0}, never, 0}
	if _, err := atOnce.digest(ctx, posts.Single, posts.IfDifferent, once); !errors.Is(err, context.Canceled) {
		t.Errorf("after a signal: %v", err)
	}
	// Two states without deletion, equal in all designs, and a deletion, which differs between arrays and single.
	if len(seen) < 4 {
		t.Errorf("%d different contents", len(seen))
	}
}

// TestProductsWithin: the number of products of a run of the report's tests follows from the time of a pilot.
func TestProductsWithin(t *testing.T) {
	for _, c := range []struct {
		limit, pilotTime time.Duration
		want             int
	}{
		{23 * time.Minute, 2 * time.Second, 1200}, // 23 passes: the pilot's two took a second each for 20 products
		{time.Second, time.Minute, pilotProducts},
		{0, 0, pilotProducts},
		{1000 * time.Hour, time.Second, backlogProducts},
	} {
		if got := productsWithin(c.limit, c.pilotTime); got != c.want {
			t.Errorf("%s after a pilot of %s: %d products, want %d", c.limit, c.pilotTime, got, c.want)
		}
	}
}
