package post

import (
	"testing"

	"barograph/engine"
	"barograph/record"
	"barograph/synth"
)

// TestReferencesInParts: looked at part by part, a source has the digest that it
// has at once, for every design, after updates and deletion.
func TestReferencesInParts(t *testing.T) {
	feed, err := synth.SHEF{Seed: 8, Messages: 40, Mean: 30}.Feed()
	if err != nil {
		t.Fatal(err)
	}
	whole, err := NewReferences(Feed{Feed: feed})
	if err != nil {
		t.Fatal(err)
	}
	middle := whole.contents.First/86400*86400 + 86400
	seen := map[record.Digest]bool{}
	for _, d := range engine.PostDesigns() {
		for _, s := range []state{{[]float64{0}, never}, {[]float64{0, 1}, never}, {[]float64{0}, middle}} {
			want, err := whole.digest(d, engine.GoodStays, s)
			if err != nil || want.Records == 0 {
				t.Fatal(err, want)
			}
			parts := &References{source: whole.source, contents: whole.contents, most: 100, known: map[string]record.Digest{}}
			if got, err := parts.digest(d, engine.GoodStays, s); err != nil || got != want {
				t.Errorf("%s, %v: %v in parts, %v at once: %v", d, s, got, want, err)
			}
			seen[want] = true
		}
	}
	if len(seen) < 7 { // the archive's designs keep the same until something is deleted
		t.Errorf("%d different contents", len(seen))
	}
}
