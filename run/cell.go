package run

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// Cell is one thing that was measured: by which workload, of which engine, and
// what was asked of it, as values on the axes of the tables. Cells are equal
// where all of these are.
type Cell struct {
	Workload, Engine string

	asked string // design=wide&case=test_1, in the order of the axes
}

// NewCell makes a cell of names and values in turn, in the order of the axes.
func NewCell(workload, engine string, asked ...any) Cell {
	var b strings.Builder
	for i := 0; i+1 < len(asked); i += 2 {
		if i > 0 {
			b.WriteByte('&')
		}
		fmt.Fprintf(&b, "%s=%s", asked[i], url.QueryEscape(fmt.Sprint(asked[i+1])))
	}
	return Cell{workload, engine, b.String()}
}

// Axes are the names and values of what was asked.
func (c Cell) Axes() (names, values []string) {
	for part := range strings.SplitSeq(c.asked, "&") {
		if name, value, ok := strings.Cut(part, "="); ok {
			text, _ := url.QueryUnescape(value) // it was escaped here
			names, values = append(names, name), append(values, text)
		}
	}
	return names, values
}

// At is the value on an axis; "" where there is none.
func (c Cell) At(name string) string {
	names, values := c.Axes()
	for i := range names {
		if names[i] == name {
			return values[i]
		}
	}
	return ""
}

// Number is the value on an axis of numbers; 0 where there is none.
func (c Cell) Number(name string) float64 {
	v, _ := strconv.ParseFloat(c.At(name), 64)
	return v
}

// String is the cell's key: met/duckdb?design=wide&case=test_1.
func (c Cell) String() string {
	return c.Workload + "/" + url.QueryEscape(c.Engine) + "?" + c.asked
}

// MarshalText is String.
func (c Cell) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (c *Cell) UnmarshalText(text []byte) (err error) {
	before, asked, _ := strings.Cut(string(text), "?")
	workload, engine, ok := strings.Cut(before, "/")
	if c.Workload, c.asked = workload, asked; !ok {
		return fmt.Errorf("%q names no cell", text)
	}
	c.Engine, err = url.QueryUnescape(engine)
	return err
}

// AnswerCell is a case that an archive is asked in a flavour.
func AnswerCell(engine, design, name, flavour string) Cell {
	return NewCell("met", engine, "case", name, "design", design, "flavour", flavour)
}
