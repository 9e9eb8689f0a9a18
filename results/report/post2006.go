package report

import (
	"cmp"
	_ "embed" // for recorded2006.tsv
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/barograph/barograph/internal/lists"
)

// table2006 contains the figures that section 6 of the report of 14 April 2006 printed: a line for each test, scenario
// and kind of design, with the columns Informix and PostgreSQL. Figures are values per second, those of deletes rows
// and time. An empty column means that the report has no figure.
//
//go:embed recorded2006.tsv
var table2006 string

// slots matches the number of slots in the name of an array design, such as array96.
var slots = regexp.MustCompile(`[0-9]+`)

// recorded2006 returns the line of a test in table2006. Tests 1 and 2 have figures by scenario and design. Test 3 has
// one figure. Days of the live feed were on PostgreSQL only.
func recorded2006(test, scenario, design string) (informix, postgres string, ok bool) {
	name := strings.TrimSpace(test+" "+scenario) + " " + slots.ReplaceAllString(design, "")
	_, line, ok := strings.Cut("\n"+table2006, "\n"+name+"\t")
	line, _, _ = strings.Cut(line, "\n")
	informix, postgres, _ = strings.Cut(line, "\t")
	return informix, postgres, ok
}

// post2006 lists the report's figures next to those of a run, for what both have.
func post2006(r *posts) *Table {
	t := table("test of 2006", "scenario", "design", "Informix 2006", "PostgreSQL 2006", "method here", "values here", r.product)
	t.Note = prose("figures of 2006")
	testNames := map[string]string{"quiet": "1", "noise": "2", "queue": "3", "live": "live feed", "delete": "deletes"}
	add := func(c *posting, scenario, values, here string) {
		informix, postgres, ok := recorded2006(c.Test, scenario, c.Design)
		if !ok {
			return
		}
		cells := texts(testNames[c.Test], scenario, c.Design, informix, postgres, c.Method, values, here)
		for i := range cells {
			cells[i].Text = cmp.Or(cells[i].Text, none)
		}
		t.add("", cells...)
	}
	for _, c := range r.cells {
		switch {
		case c.Posting == nil:
		case c.Test == "delete":
			add(c, "", "", fmt.Sprintf("%s in %s", several(c.RowsUpdated, "row"), c.Total.Round(time.Millisecond)))
		case c.Products > 0:
			add(c, c.Scenario, count(c.Values), rate2006(c.Rate()))
		}
	}
	type phase struct{ scenario, design, method string }
	proven := lists.Filter(r.days, func(d *posting) bool { return d.Posting != nil })
	phases, days := grouped(proven, func(d *posting) phase { return phase{d.Scenario, d.Design, d.Method} })
	for _, p := range phases {
		values, rates := int64(0), []float64(nil)
		for _, d := range days[p] {
			values, rates = values+d.Values, append(rates, d.Rate())
		}
		add(days[p][0], p.scenario, count(values), rate2006(slices.Min(rates))+" to "+rate2006(slices.Max(rates)))
	}
	return t
}

// rate2006 prints a rate as the tables do.
func rate2006(v float64) string { return numeric(v).Text }
