package sqlengine

import (
	"time"

	"github.com/barograph/barograph/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/flavour"
	"github.com/barograph/barograph/question"
)

// Phrase puts a question as text, and tells what deriving its keys took. The
// error wraps flavour.ErrCannotExpress where the flavour cannot put it.
func Phrase(d *flavour.Dialect, n design.Name, f flavour.Name, q *question.Question, c *design.Catalog) (*engine.Query, error) {
	began := time.Now()
	p, err := flavour.Put(d, n, f, q, c)
	if err != nil {
		return nil, err
	}
	query := &engine.Query{Question: q, Flavour: f, Text: p.Text, Args: p.Args, Keys: p.Keys, Leads: p.Leads}
	if p.Keys != nil {
		query.Derive = time.Since(began)
	}
	return query, nil
}
