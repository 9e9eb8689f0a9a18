package design

import (
	"slices"

	"github.com/barograph/barograph/record"
)

// Inventory is what a catalog knows of one line type: what can be asked for.
type Inventory struct {
	LineType   string   `json:"line_type"`
	Records    int64    `json:"records"`
	Versions   []string `json:"version"`
	Models     []string `json:"model"`
	Variables  []string `json:"fcst_var"`
	Levels     []string `json:"fcst_lev"`
	Regions    []string `json:"vx_mask"`
	ObTypes    []string `json:"obtype"`
	Thresholds []string `json:"fcst_thresh,omitempty"`
	Leads      []int32  `json:"fcst_lead"`      // seconds
	Valid      Moments  `json:"fcst_valid_beg"` // of any series
	Step       int64    `json:"fcst_valid_step"`
	Holes      []Gap    `json:"holes,omitempty"` // times at which no series has records
}

// Inventory sums the catalog up, by line type in the order of record.Types.
func (c *Catalog) Inventory() []Inventory {
	var out []Inventory
	for _, t := range record.Types() {
		in := Inventory{LineType: t.Name}
		for _, g := range c.Groups {
			if g.LineType == t.Name {
				in.add(g)
			}
		}
		if in.Records > 0 {
			in.Step = in.Valid.Step()
			in.Holes = in.Valid.Gaps(in.Step)
			out = append(out, in)
		}
	}
	return out
}

func (in *Inventory) add(g *Group) {
	in.Records += g.Held.Records
	in.Versions, in.Models = insert(in.Versions, g.Version), insert(in.Models, g.Model)
	in.ObTypes, in.Variables = insert(in.ObTypes, g.ObType), insert(in.Variables, g.FcstVar)
	for _, v := range g.Levels {
		in.Levels = insert(in.Levels, v)
	}
	for _, v := range g.Masks {
		in.Regions = insert(in.Regions, v)
	}
	for _, v := range g.Thresholds() {
		in.Thresholds = insert(in.Thresholds, v)
	}
	for _, v := range g.Leads {
		in.Leads = insert(in.Leads, v)
	}
	in.Valid = Moments(slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(in.Valid), g.Valid...)))))
}

// Thresholds are those of the forecasts of a group, sorted; none where it has none.
func (g *Group) Thresholds() (out []string) {
	for _, rest := range g.Further {
		h := record.DefaultHeader()
		if setFurther(&h, rest) == nil && h[record.FcstThresh] != record.NA && h[record.FcstThresh] != "" {
			out = insert(out, h[record.FcstThresh])
		}
	}
	return out
}
