package run

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
)

// Plan is a query with the engine's plan. plans/NAME.txt contains the query and the plan as text, plans/NAME.json Cell
// and Access. The oldest folders have no NAME.json.
type Plan struct {
	Name   string   `json:"-"` // test_3.duckdb.wide.epoch-range, made by FileName
	Cell   Cell     `json:"cell"`
	Text   string   `json:"-"`      // the query text, then the plan
	Access []Access `json:"access"` // how the plan accesses stored data; nil = not recorded
}

// StorePlan stores the text and the plan of a query, and its accesses to stored data.
func (f *Folder) StorePlan(c Cell, text, plan string, access []Access) error {
	_, values := c.Axes()
	name := filepath.Join("plans", FileName(slices.Concat(values[:1], []string{c.Engine}, values[1:])...))
	title := "-- " + values[0] + ", " + strings.Join(append([]string{c.Engine}, values[1:]...), " ")
	body := []byte(fault.Redact(title + "\n" + text + "\n\n-- plan\n" + plan + "\n"))
	return cmp.Or(WriteFile(f.Dir, name+".txt", body), writeJSON(f.Dir, name+".json", Plan{Cell: c, Access: access}))
}

// ReadPlans reads plans/, sorted by file name.
func ReadPlans(dir string) ([]Plan, error) {
	var out []Plan
	for _, p := range lists.Files(dir, "plans/*.txt") {
		name := filepath.Join("plans", strings.TrimSuffix(filepath.Base(p), ".txt"))
		text, err := ReadFile(dir, name+".txt")
		if err != nil {
			return nil, err
		}
		plan := Plan{Name: filepath.Base(name), Text: string(text)}
		if err := readJSON(dir, name+".json", &plan); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		out = append(out, plan)
	}
	return out, nil
}

// Access is one step of a plan that reads stored rows, documents or pairs.
type Access struct {
	Object string `json:"object"` // the table, collection or keyspace
	Method string `json:"method"` // "full scan", "pruned scan", "index scan", "key lookup"
	Index  string `json:"index,omitempty"`

	// Examined is the number of rows, documents or pairs that the step read, including rejected ones, and Kept the number
	// that remained; −1 = not reported. If Counted is set, the engine counted them; otherwise it estimated them.
	Examined int64 `json:"examined"`
	Kept     int64 `json:"kept"`
	Counted  bool  `json:"counted" old:"measured"`
}

// Description describes the access: "index scan of wide_sal1l2 by series_idx".
func (a Access) Description() string {
	text := a.Method + map[bool]string{true: " in ", false: " of "}[a.Method == "key lookup"] + a.Object
	if a.Index != "" {
		text += " by " + a.Index
	}
	return text
}

// Counts formats Examined and Kept for people: "32,110 → 28,718", "~1,200" for an estimate, "not reported" for −1.
func (a Access) Counts() string {
	if a.Examined < 0 {
		return "not reported"
	}
	out := FormatCount(a.Examined)
	if a.Kept >= 0 {
		out += " → " + FormatCount(a.Kept)
	}
	if !a.Counted {
		out = "~" + out
	}
	return out
}

// FormatCount returns an integer as text, with commas between thousands.
func FormatCount[T int | int64 | uint64](n T) string {
	return strings.Replace(humanize.Comma(int64(n)), "-", "−", 1) //nolint:gosec // counts are far below 2^63
}

// CountOf returns a number and its noun: 1 case, 7 cases.
func CountOf[T int | int64 | uint64](n T, noun string) string {
	return FormatCount(n) + " " + english.PluralWord(int(n), noun, "") //nolint:gosec // counts are far below 2^63
}

// SumExamined sums the rows that the accesses of a plan examined. known is false if one of them reports none, or if
// there are no accesses. counted is false if one of the summed numbers is an estimate.
func SumExamined(all []Access) (n int64, known, counted bool) {
	known, counted = true, true
	for _, a := range all {
		if a.Examined < 0 {
			known = false
			continue
		}
		n += a.Examined
		counted = counted && a.Counted
	}
	return n, known && len(all) > 0, counted
}
