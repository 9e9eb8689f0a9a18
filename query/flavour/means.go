package flavour

import (
	"strconv"
	"strings"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/question"
)

// MeansFlavour is the flavour of a question with Mean under a design; "" if there is none. Such a question usually reads
// all records, not a selection that some flavours find faster. Therefore a design has only one flavour for it.
func MeansFlavour(n design.Name) Name {
	switch n {
	case design.Normalized, design.Wide:
		return SQL
	case design.Document:
		return EpochRange
	}
	return ""
}

// means writes a question with Mean. It selects the records as for any question. Nested around that
// selection are the covariance and variances of the partial sums, the correlation where it is
// defined, its limitation to ±1, and the groups. The client computes nothing.
func (p *builder) means(n design.Name) (Query, error) {
	if p.flavour != MeansFlavour(n) || p.q.Mean != "ANOM_CORR" || p.q.Type.Name != "SAL1L2" {
		return Query{}, ErrCannotExpress
	}
	sums, err := question.Columns(p.q.Type, "fabar", "oabar", "foabar", "ffabar", "ooabar")
	if err != nil {
		return Query{}, err
	}
	grouping := p.q.GroupingColumns()
	records := *p.q
	records.Mean, records.Columns = "", append(grouping, sums...)
	inner := *p
	inner.q, inner.isSubquery = &records, true
	out, err := inner.build(n)
	if err != nil {
		return Query{}, err
	}
	key := func(c question.Column) string { return "r." + c.Name }
	groupColumns := Join(grouping, ", ", func(c question.Column) string { return key(c) + " AS " + c.Name })
	nest := func(text string, exprs ...string) string {
		return "SELECT " + groupColumns + ", " + strings.Join(exprs, ", ") + "\nFROM (" + text + ") AS r"
	}
	text := nest(out.Text+p.d.MaterializeHint,
		"r.foabar - r.fabar * r.oabar AS cov", "r.ffabar - r.fabar * r.fabar AS fvar", "r.ooabar - r.oabar * r.oabar AS ovar")
	text = nest(text, "CASE WHEN r.fvar > 0 AND r.ovar > 0 THEN r.cov / (sqrt(r.fvar) * sqrt(r.ovar)) END AS corr") + p.d.MaterializeHint
	text = nest(text, "CASE WHEN r.corr BETWEEN -1.0 AND 1.0 THEN r.corr WHEN r.corr BETWEEN 1.0 AND 1.000000001 THEN 1.0 "+
		"WHEN r.corr BETWEEN -1.000000001 AND -1.0 THEN -1.0 END AS acc")
	group := key
	if n == design.Normalized && p.d.Bytewise != nil { // texts that are equal only under a collation are different groups
		group = func(c question.Column) string {
			if c.Kind == question.Text {
				return p.d.Bytewise(key(c))
			}
			return key(c)
		}
	}
	out.Text = p.selectGroups(grouping, key) + "\nFROM (" + text + ") AS r\nGROUP BY " + Join(grouping, ", ", group)
	return out, nil
}

// selectGroups writes what a question with Mean selects for each group: the group, its records, the records with a
// defined value, and their mean.
func (p *builder) selectGroups(grouping []question.Column, key func(question.Column) string) string {
	double := p.d.Real
	if double == nil {
		double = func(e string) string { return "CAST(" + e + " AS DOUBLE)" }
	}
	return p.d.selectColumns(append(lists.Map(grouping, key), double("count(*)"), double("count(r.acc)"), "avg(r.acc)"))
}

// nullIfMissing is a number of METviewer's tables, NULL if it is missing.
func nullIfMissing(expr string) string {
	return "CASE WHEN " + expr + " <> " + strconv.Itoa(design.MissingNumber) + " THEN " + expr + " END"
}
