package flavour

import (
	"strconv"
	"strings"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/query/question"
)

// MeansFlavour is the flavour in which a question with Mean is put under a
// design; "" where there is none. It looks at every record, so that there are
// no ways to choose from.
func MeansFlavour(n design.Name) Name {
	switch n {
	case design.Normalized, design.Wide:
		return SQL
	case design.Document:
		return EpochRange
	}
	return ""
}

// means phrases a question with Mean. Its records are selected as those of any
// question; around that selection stand, one in the other, the partial sums'
// covariance and variances, the correlation where it is defined, its cut to ±1,
// and the groups. Nothing of it is computed by the client.
func (p *phrasing) means(n design.Name) (Phrase, error) {
	if p.flavour != MeansFlavour(n) || p.q.Mean != "ANOM_CORR" || p.q.Type.Name != "SAL1L2" {
		return Phrase{}, ErrCannotExpress
	}
	sums, err := question.Columns(p.q.Type, "fabar", "oabar", "foabar", "ffabar", "ooabar")
	if err != nil {
		return Phrase{}, err
	}
	by := p.q.By()
	records := *p.q
	records.Mean, records.Columns = "", append(by, sums...)
	inner := *p
	inner.q, inner.within = &records, true
	out, err := inner.put(n)
	if err != nil {
		return Phrase{}, err
	}
	key := func(c question.Column) string { return "r." + c.Name }
	named := p.list(by, func(c question.Column) string { return key(c) + " AS " + c.Name })
	nest := func(text string, exprs ...string) string {
		return "SELECT " + named + ", " + strings.Join(exprs, ", ") + "\nFROM (" + text + ") AS r"
	}
	text := nest(out.Text+p.d.Fence, "r.foabar - r.fabar * r.oabar AS cov", "r.ffabar - r.fabar * r.fabar AS fvar", "r.ooabar - r.oabar * r.oabar AS ovar")
	text = nest(text, "CASE WHEN r.fvar > 0 AND r.ovar > 0 THEN r.cov / (sqrt(r.fvar) * sqrt(r.ovar)) END AS corr") + p.d.Fence
	text = nest(text, "CASE WHEN r.corr BETWEEN -1.0 AND 1.0 THEN r.corr WHEN r.corr BETWEEN 1.0 AND 1.000000001 THEN 1.0 WHEN r.corr BETWEEN -1.000000001 AND -1.0 THEN -1.0 END AS acc")
	group := key
	if n == design.Normalized && p.d.Bytewise != nil { // texts that only look alike are not one
		group = func(c question.Column) string {
			if c.Kind == question.Text {
				return p.d.Bytewise(key(c))
			}
			return key(c)
		}
	}
	out.Text = p.grouped(by, key) + "\nFROM (" + text + ") AS r\nGROUP BY " + p.list(by, group)
	return out, nil
}

// grouped is what a question with Mean selects of each group.
func (p *phrasing) grouped(by []question.Column, key func(question.Column) string) string {
	double := p.d.Real
	if double == nil {
		double = func(e string) string { return "CAST(" + e + " AS DOUBLE)" }
	}
	columns := make([]string, 0, len(by)+3)
	for _, c := range by {
		columns = append(columns, key(c))
	}
	columns = append(columns, double("count(*)"), double("count(r.acc)"), "avg(r.acc)")
	if p.d.Select != nil {
		return p.d.Select(columns)
	}
	return "SELECT " + strings.Join(columns, ", ")
}

// held is a number of METviewer's tables, NULL where it is missing.
func held(expr string) string {
	return "CASE WHEN " + expr + " <> " + strconv.Itoa(design.MissingNumber) + " THEN " + expr + " END"
}
