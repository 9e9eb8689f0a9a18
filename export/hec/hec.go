// Package hec keeps values of SHEF where programs of the Hydrologic Engineering
// Center read them: in HEC-DSS files, by its own library, and behind the CWMS
// Data API. Names of series come from HEC's sensor and parameter files, or from
// aliases as CWMS has them.
package hec

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/barograph/barograph/record"
)

// Where says where a value is kept.
type Where struct {
	Name    string // a path of DSS without its date; of CWMS the time series id
	Unit    string
	Type    string // of DSS: INST-VAL …
	Step    int64  // seconds from one value to the next, 30 and 365 days for a month and a year; 0 = irregular
	Office  string // of CWMS
	Version int64  // of CWMS: when it was forecast; record.NoTime = not kept
}

// Point is a value of a series.
type Point struct {
	Time    int64 // Unix seconds
	Value   float64
	Quality byte // SHEF's qualifier
	Missing bool

	revised bool
}

// Series are values of one place.
type Series struct {
	Where
	Points []Point
}

// Names give the place of a value, and the value in its unit. An error says why
// there is none.
type Names interface {
	Of(g *record.Gauge) (Where, float64, error)
}

// Account says what became of values; each is counted once beside Values.
type Account struct {
	Values   int `json:"values"`
	Stored   int `json:"stored"`
	Missing  int `json:"missing"`  // they say so themselves; DSS is not given them
	Replaced int `json:"replaced"` // by a later one of the same series and time
	Unnamed  int `json:"unnamed"`  // they have no series
	Refused  int `json:"refused"`  // with their series
	Series   int `json:"series"`   // that values were stored in
}

// Collection gathers values by series.
type Collection struct {
	Account
	Names Names
	Told  func(error) // of what has no series, the first ten of them; and of what is refused

	series map[Where]*Series
	told   map[string]bool
}

const mostTold = 10

// Add adds a value.
func (c *Collection) Add(g *record.Gauge) {
	if c.series == nil {
		c.series, c.told = map[Where]*Series{}, map[string]bool{}
	}
	c.Values++
	w, value, err := c.Names.Of(g)
	if err != nil {
		c.Unnamed++
		if text := err.Error(); !c.told[text] && len(c.told) < mostTold {
			c.told[text] = true
			c.Told(err)
		}
		return
	}
	s := c.series[w]
	if s == nil {
		s = &Series{Where: w}
		c.series[w] = s
	}
	s.Points = append(s.Points, Point{Time: g.Time, Value: value, Quality: g.Quality, Missing: g.IsMissing(), revised: g.Revised})
}

// settled are the series by their names. Of two values of one time the later one
// is taken, but for a missing one that is no revision (SHEF manual 5.1.6).
func (c *Collection) settled() []*Series {
	all := slices.SortedFunc(maps.Values(c.series), func(a, b *Series) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Version, b.Version), cmp.Compare(fmt.Sprint(a.Where), fmt.Sprint(b.Where)))
	})
	for _, s := range all {
		slices.SortStableFunc(s.Points, func(a, b Point) int { return cmp.Compare(a.Time, b.Time) })
		out := s.Points[:0]
		for _, p := range s.Points {
			n := len(out)
			switch {
			case n == 0 || out[n-1].Time != p.Time:
				out = append(out, p)
				continue
			case !p.Missing || p.revised || out[n-1].Missing:
				out[n-1] = p
			}
			c.Replaced++
		}
		s.Points = out
	}
	return all
}
