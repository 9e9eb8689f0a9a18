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
// NAME.txt, the rest as NAME.json, which folders of earlier versions lack: there
// the cell is read from the name, in which only the case may contain points.
type Plan struct {
	Name   string // test_3.duckdb.wide.epoch-range, as FileName makes it
	Cell   Cell
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
	name := filepath.Join("plans", FileName(c.Case, c.Engine, c.Design, c.Flavour))
	body := "-- " + c.Case + ", " + c.Way() + "\n" + text + "\n\n-- plan\n" + fault.Redact(plan) + "\n"
	if err := write(f.Dir, name+".txt", []byte(body)); err != nil {
		return err
	}
	return writeJSON(f.Dir, name+".json", planFile{c, access})
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
		if err := plan.read(base + ".json"); err != nil {
			return nil, err
		}
		out = append(out, plan)
	}
	return out, nil
}

func (p *Plan) read(path string) error {
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		if parts := strings.Split(p.Name, "."); len(parts) >= 4 {
			n := len(parts) - 3
			p.Cell = Cell{Case: strings.Join(parts[:n], "."), Engine: parts[n], Design: parts[n+1], Flavour: parts[n+2]}
		}
		return nil
	}
	if err != nil {
		return err
	}
	var in planFile
	if err := json.Unmarshal(text, &in); err != nil {
		return &fault.Error{File: path, Err: err}
	}
	p.Cell, p.Access = in.Cell, in.Access
	return nil
}
