package all

import (
	"slices"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/query/flavour"
)

func TestEveryOfferIsKnown(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range Registry() {
		if seen[d.Scheme] {
			t.Errorf("%s is listed twice", d.Scheme)
		}
		seen[d.Scheme] = true
		for n, flavours := range archive.OfferOf(&d).Designs {
			if n.Summary() == "" {
				t.Errorf("%s offers the unknown design %q", d.Scheme, n)
			}
			for _, f := range flavours {
				if f.Summary() == "" || !slices.Contains(flavour.Names(), f) {
					t.Errorf("%s offers the unknown flavour %q of %s", d.Scheme, f, n)
				}
			}
		}
	}
	for _, n := range design.Names() {
		if n.Summary() == "" {
			t.Errorf("design %s is not explained", n)
		}
	}
}

// TestPackages: a server with artifacts lists no packages, because `lab install` cannot know which of the two is
// missing. The lab itself knows the packages that fetch and run artifacts.
func TestPackages(t *testing.T) {
	for _, d := range Registry() {
		if s := d.Server; s != nil && len(s.Artifacts) > 0 && len(s.Packages) > 0 {
			t.Errorf("%s lists artifacts and the packages %v", d.Scheme, s.Packages)
		}
	}
}
