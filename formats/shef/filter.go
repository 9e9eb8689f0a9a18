package shef

import (
	"path"
	"slices"
	"strings"

	"github.com/barograph/barograph/record"
)

// Filter says which values are wanted; the zero value wants all. Each list has
// patterns (*, ?, [A-C]; see path.Match), of which one must match; one that
// begins with ! must not.
type Filter struct {
	Stations, Elements, Sources []string // lid, PE, TS
	From, To                    int64    // times of observation, both inclusive; 0 = any
	Known                       func(record.ID) bool
}

// Check reports the first pattern that is none, by path.ErrBadPattern.
func (f *Filter) Check() error {
	for _, p := range slices.Concat(f.Stations, f.Elements, f.Sources) {
		if _, err := path.Match(p, ""); err != nil {
			return err
		}
	}
	return nil
}

// Apply leaves the values that are wanted, and returns how many are not.
func (f *Filter) Apply(values *[]record.Gauge) (dropped int) {
	if len(f.Stations)+len(f.Elements)+len(f.Sources) == 0 && f.From == 0 && f.To == 0 && f.Known == nil {
		return 0
	}
	all := len(*values)
	*values = slices.DeleteFunc(*values, func(g record.Gauge) bool { return !f.wants(&g) })
	return all - len(*values)
}

func (f *Filter) wants(g *record.Gauge) bool {
	return (f.From == 0 || g.Time >= f.From) && (f.To == 0 || g.Time <= f.To) && (f.Known == nil || f.Known(g.Station)) &&
		matches(f.Elements, g.Code.PE()) && matches(f.Sources, string(g.Code[3:5])) && matches(f.Stations, g.Station.String())
}

func matches(patterns []string, text string) bool {
	ok := len(patterns) == 0 || strings.HasPrefix(patterns[0], "!")
	for _, p := range patterns {
		bare, not := strings.CutPrefix(p, "!")
		if is, _ := path.Match(strings.ToUpper(bare), text); is { // Check saw the patterns
			ok = !not
		}
	}
	return ok
}
