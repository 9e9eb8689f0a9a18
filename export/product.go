package export

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/barograph/barograph/formats/shef"
)

// Product is what a product held, over its parts.
type Product struct {
	File     string `json:"file"`
	Product  int    `json:"product"`
	Line     int    `json:"line"`
	AWIPS    string `json:"awips,omitempty"`
	Heading  string `json:"heading,omitempty"`
	Lines    int64  `json:"lines"`
	Messages int64  `json:"messages"`
	Values   int64  `json:"values"`
	Missing  int64  `json:"missing"` // of Values
	Lost     int64  `json:"lost"`
	Nulls    int64  `json:"nulls"`
	Errors   int64  `json:"errors"`
	Warnings int64  `json:"warnings"`
}

// NewProduct begins to count what a product holds.
func NewProduct(p *shef.Product) Product {
	return Product{File: p.File, Product: p.Number, Line: p.Line, AWIPS: p.AWIPS, Heading: p.Heading}
}

// Add counts a part of it.
func (p *Product) Add(r *shef.Result) {
	a := &r.Account
	p.Lines += a.Lines
	p.Messages += a.Messages
	p.Values += a.Values
	p.Lost += a.Lost
	p.Nulls += a.Nulls
	p.Errors += a.Errors
	p.Warnings += a.Warnings
	for i := range r.Values {
		if r.Values[i].IsMissing() {
			p.Missing++
		}
	}
}

// ProductHead stands above the rows of products.
const ProductHead = "  lines  messages   values  missing     lost    nulls   errors  warnings  awips   heading                 product"

// Write writes a row of the list of products.
func (p *Product) Write(w io.Writer, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(p)
	}
	_, err := fmt.Fprintf(w, "%7d  %8d  %7d  %7d  %7d  %7d  %7d  %8d  %-6s  %-22s  %s:%d\n",
		p.Lines, p.Messages, p.Values, p.Missing, p.Lost, p.Nulls, p.Errors, p.Warnings, p.AWIPS, p.Heading, p.File, p.Line)
	return err
}
