package report

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// figures2006 contains the figures that section 6 of the report of 14 April 2006 printed for a
// test.
type figures2006 struct{ informix, postgres string }

// recorded2006 returns the report's figures in values per second, of deletes in rows and time; ""
// if it has none. Tests 1 and 2 have figures by scenario and design. Test 3 has one figure. Days of
// the live feed were on PostgreSQL only.
func recorded2006(test, scenario, design string) figures2006 {
	kind, _, _ := strings.Cut(strings.ReplaceAll(strings.ReplaceAll(design, "96", " "), "24", " "), " ")
	return map[string]figures2006{
		"quiet insert array": {"158.7", "32.0"}, "quiet insert single": {"150.0", "83.4"}, "quiet update array": {"162.3", "30.0"}, "quiet update single": {"152.5", "67.0"},
		"noise insert array": {"", "26.5"}, "noise insert single": {"", "33.0"}, "noise update array": {"", "23.3"}, "noise update single": {"", "35.3"},
		"queue insert array": {"142.5", "45.5"}, "queue insert single": {"142.5", "45.5"},
		"live maintenance on array": {"", "57.2 to 60.5"}, "live maintenance on single": {"", "57.2 to 60.5"},
		"live maintenance off array": {"", "52.4 falling to 32.8"}, "live maintenance off single": {"", "52.4 falling to 32.8"},
		"live after a full vacuum array": {"", "38.7 to 46.7"}, "live after a full vacuum single": {"", "38.7 to 46.7"},
		"delete array": {"", "3,794 rows in 3 s"}, "delete single": {"", "74,782 rows in 88 s"},
	}[strings.TrimSpace(test+" "+scenario)+" "+kind]
}

const note2006 = "2006: the report of 14 April 2006, Informix 9.3 and PostgreSQL 7.4.8, each on a machine of its own. Values a second of posting; of the live feed the " +
	"days of 24 February to 1 March (vacuumed), 2 to 8 March (not vacuumed) and 31 March to 6 April (after a full vacuum), and here the slowest and the fastest day. " +
	"Its test 3 filled both kinds of tables. Machines, products and network differ: the columns show how far things have come, not which database is better."

// post2006 lists the report's figures next to those of a run, for what both have.
func post2006(r *posts) *Table {
	t := table("test of 2006", "scenario", "design", "Informix 2006", "PostgreSQL 2006", "method here", "values here", r.product)
	t.Note = note2006
	number := map[string]string{"quiet": "1", "noise": "2", "queue": "3", "live": "live feed", "delete": "deletes"}
	add := func(c *posting, scenario, values, here string) {
		old := recorded2006(c.Test, scenario, c.Design)
		if old == (figures2006{}) {
			return
		}
		var cells []Cell
		for _, text := range []string{number[c.Test], scenario, c.Design, old.informix, old.postgres, c.Method, values, here} {
			if text == "" {
				text = none
			}
			cells = append(cells, texts(text)...)
		}
		t.add("", cells...)
	}
	for _, c := range r.cells {
		switch {
		case c.Posting == nil:
		case c.Test == "delete":
			add(c, "", "", fmt.Sprintf("%s rows in %s", count(c.RowsUpdated), c.Total.Round(time.Millisecond)))
		case c.Products > 0:
			add(c, c.Scenario, count(c.Values), rate2006(c.Rate()))
		}
	}
	type phase struct{ scenario, design, method string }
	days := map[phase][]*posting{}
	var order []phase
	for _, d := range r.days {
		if p := (phase{d.Scenario, d.Design, d.Method}); d.Posting != nil {
			if days[p] == nil {
				order = append(order, p)
			}
			days[p] = append(days[p], d)
		}
	}
	for _, p := range order {
		values, rates := int64(0), []float64(nil)
		for _, d := range days[p] {
			values, rates = values+d.Values, append(rates, d.Rate())
		}
		add(days[p][0], p.scenario, count(values), rate2006(slices.Min(rates))+" to "+rate2006(slices.Max(rates)))
	}
	return t
}

func rate2006(v float64) string { return numeric(v).Text }
