package all_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/barograph/barograph/engine/all"
	"github.com/barograph/barograph/results/plot"
)

// TestColours: each engine has a colour of its own, whatever stands next to it.
func TestColours(t *testing.T) {
	colour, seen := regexp.MustCompile(`#[0-9A-Fa-f]{6}`), map[string]string{}
	for _, d := range all.Registry() {
		p := plot.Rows{}
		p.AddRow("", plot.Row{Label: "x", Group: d.Scheme, Value: plot.Value{V: 1}})
		svg, err := p.Draw()
		if err != nil {
			t.Fatal(err)
		}
		drawn := strings.Join(colour.FindAllString(string(svg), -1), " ")
		if other := seen[drawn]; other != "" {
			t.Errorf("%s has the colours of %s: give it a line in results/plot/palette.go", d.Scheme, other)
		}
		seen[drawn] = d.Scheme
	}
}
