package run

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"barograph/fault"
)

// Plan is a query and the engine's plan of it, as kept in plans/: the text as
// NAME.txt, the rest as NAME.json, which folders of earlier versions lack.
type Plan struct {
	Name   string // test_3.duckdb.wide.epoch-range
	Text   string
	Access []Access // how the plan reaches what is stored; nil = not recorded
}

// planFile is NAME.json.
type planFile struct {
	Cell
	Access []Access `json:"access"`
}

// Plan keeps the text and the plan of a query, and how it reaches what is stored.
func (f *Folder) Plan(c Cell, text, plan string, access []Access) error {
	name := filepath.Join(f.Dir, "plans", strings.Join([]string{c.Case, c.Engine, c.Design, c.Flavour}, "."))
	body := "-- " + c.Case + ", " + c.Way() + "\n" + text + "\n\n-- plan\n" + plan + "\n"
	if err := os.WriteFile(name+".txt", []byte(body), 0o644); err != nil || access == nil {
		return err
	}
	out, err := json.MarshalIndent(planFile{c, access}, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(name+".json", append(out, '\n'), 0o644)
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
		if plan.Access, err = readAccess(base + ".json"); err != nil {
			return nil, err
		}
		out = append(out, plan)
	}
	return out, nil
}

func readAccess(path string) ([]Access, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var in planFile
	if err := json.Unmarshal(text, &in); err != nil {
		return nil, &fault.Error{File: path, Err: err}
	}
	return in.Access, nil
}
