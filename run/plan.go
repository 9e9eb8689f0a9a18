package run

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/barograph/barograph/fault"
)

// Plan is a query and the engine's plan of it, as kept in plans/: the text as
// NAME.txt, the rest as NAME.json, which the oldest folders lack.
type Plan struct {
	Name   string   `json:"-"` // test_3.duckdb.wide.epoch-range, as FileName makes it
	Cell   Cell     `json:"cell"`
	Text   string   `json:"-"`
	Access []Access `json:"access"` // how the plan reaches what is stored; nil = not recorded
}

// Plan keeps the text and the plan of a query, and how it reaches what is stored.
func (f *Folder) Plan(c Cell, text, plan string, access []Access) error {
	_, values := c.Axes()
	name := filepath.Join("plans", FileName(slices.Concat(values[:1], []string{c.Engine}, values[1:])...))
	body := "-- " + values[0] + ", " + strings.Join(append([]string{c.Engine}, values[1:]...), " ") + "\n" + text + "\n\n-- plan\n" + fault.Redact(plan) + "\n"
	if err := write(f.Dir, name+".txt", []byte(body)); err != nil {
		return err
	}
	return writeJSON(f.Dir, name+".json", Plan{Cell: c, Access: access})
}

// ReadPlans reads plans/, sorted by name.
func ReadPlans(dir string) ([]Plan, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "plans", "*.txt"))
	if err != nil {
		return nil, err
	}
	slices.Sort(paths)
	var out []Plan
	for _, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			return nil, err
		}
		base := strings.TrimSuffix(p, ".txt")
		plan := Plan{Name: filepath.Base(base), Text: string(text)}
		if err := readJSON(base+".json", &plan); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		if plan.Cell == (Cell{}) {
			plan.Cell = landedPlan(base)
		}
		out = append(out, plan)
	}
	return out, nil
}
