package flavour

import (
	"slices"
	"strconv"
	"strings"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// Query is a question in the form that is sent to an engine.
type Query struct {
	Text string
	Args []any    // bound to the placeholders of Text
	Keys []string // the derived ids, for keys; an engine with keys-native derives them without Build

	LeadCoding LeadCoding // coding of fcst_lead in the result
}

// LeadCoding is the coding of the column fcst_lead in a result.
type LeadCoding uint8

// The codings. METviewer stores the leads of records of VSDB as Hours, and of records of MET as HMS.
const (
	Seconds LeadCoding = iota
	Hours              // 24 is a lead of a day
	HMS                // [H]HHMMSS: 240000 is a lead of a day
)

// Seconds decodes a lead.
func (l LeadCoding) Seconds(code int64) int64 {
	switch l {
	case Hours:
		return code * 3600
	case HMS:
		return design.LeadSeconds("", code)
	}
	return code
}

// Build writes q for the subset that c describes.
func Build(d *Dialect, n design.Name, f Name, q *question.Question, c *design.Catalog) (Query, error) {
	p := builder{d: d, q: q, flavour: f, facts: c.Facts(q), catalog: c}
	if q.Mean != "" {
		return p.means(n)
	}
	return p.build(n)
}

func (p *builder) build(n design.Name) (Query, error) {
	switch n {
	case design.Normalized:
		return p.normalized()
	case design.Document:
		return p.document()
	case design.Wide:
		return p.wide()
	}
	return Query{}, ErrCannotExpress
}

// builder contains what every clause needs.
type builder struct {
	d          *Dialect
	q          *question.Question
	flavour    Name
	facts      design.Facts
	catalog    *design.Catalog
	isSubquery bool // the text is the inner query of means: columns have names, rows have no order
}

// orderColumns lists the columns to sort by: those of the question and, of its tie breakers, those that
// can differ in this archive.
func (p *builder) orderColumns() []question.Column {
	if p.isSubquery {
		return nil
	}
	return append(slices.Clone(p.q.Order), lists.Filter(p.q.TieBreakers(), func(c question.Column) bool {
		return (c.Role != question.HeaderField || p.facts.Varies[c.Field]) && (c.Role < question.ValidEnd || !p.facts.Plain)
	})...)
}

// conditions joins conditions; "1 = 1", which is always true, if there are none.
func conditions(parts []string) string {
	if len(parts) == 0 {
		return "1 = 1"
	}
	return strings.Join(parts, "\n     AND ")
}

// headerConditions writes the conditions on header fields. expr returns a field's column. equal, if not
// nil, writes the condition that a column has one of several values.
func (p *builder) headerConditions(
	expr func(record.Field) string, literal func(string) string, equal func(string, []string) string,
) []string {
	var out []string
	for f, values := range p.q.Header {
		switch e := expr(record.Field(f)); {
		case len(values) == 0:
		case equal != nil:
			out = append(out, equal(e, values))
		case p.d.EmptyIsNull && slices.Contains(values, ""):
			out = append(out, p.orEmpty(e, values, literal))
		case len(values) == 1:
			out = append(out, e+" = "+literal(values[0]))
		default:
			out = append(out, oneOf(p.d, e, values, literal))
		}
	}
	return out
}

// orEmpty is the condition that a text is empty, which is stored as NULL, or equals one of the
// remaining values.
func (p *builder) orEmpty(expr string, values []string, literal func(string) string) string {
	null := expr + " IS NULL"
	others := slices.DeleteFunc(slices.Clone(values), func(v string) bool { return v == "" })
	if len(others) == 0 {
		return null
	}
	return "(" + null + " OR " + oneOf(p.d, expr, others, literal) + ")"
}

// validTimes writes the conditions on the valid time. text is a column with the valid time in the
// form that literal writes, and epoch an expression for Unix seconds.
func (p *builder) validTimes(text, epoch string, literal func(int64) string) ([]string, error) {
	v := &p.q.Valid
	if v.IsAll() {
		return nil, nil
	}
	switch p.flavour {
	case ISOList, MetviewerSQL, SQL, CachedSQL:
		if v.IsDiscrete() {
			return []string{oneOf(p.d, text, v.Expand(), literal)}, nil
		}
		if p.flavour == ISOList {
			return nil, ErrCannotExpress
		}
		first, last, _ := v.Bounds()
		return []string{text + " BETWEEN " + literal(first) + " AND " + literal(last)}, nil
	case EpochList:
		if !v.IsDiscrete() {
			return nil, ErrCannotExpress
		}
		return []string{oneOf(p.d, epoch, v.Expand(), integer)}, nil
	case ISORange, EpochRange:
		return p.timeRange(text, epoch, literal)
	}
	return nil, nil
}

// timeRange requests times between two bounds. It excludes times between the steps of a grid,
// because the question must have the same answer in every flavour.
func (p *builder) timeRange(text, epoch string, literal func(int64) string) ([]string, error) {
	first, last, step, ok := p.q.Valid.Grid()
	if !ok {
		return nil, ErrCannotExpress
	}
	var out []string
	if p.flavour == ISORange {
		out = append(out, text+" BETWEEN "+literal(first)+" AND "+literal(last))
	} else {
		out = append(out, epoch+" BETWEEN "+integer(first)+" AND "+integer(last))
	}
	if step > 1 {
		out = append(out, p.d.modulo("("+epoch+" - "+integer(first)+")", integer(step))+" = 0")
	}
	return out, nil
}

// normalized writes the join of stat_header and a line table.
func (p *builder) normalized() (Query, error) {
	if !slices.Contains([]Name{MetviewerSQL, SQL, CachedSQL, ISORange, EpochRange}, p.flavour) {
		return Query{}, ErrCannotExpress
	}
	name := p.d.HeaderField
	if name == nil {
		name = headerField
	}
	line := p.d.LineColumn
	if line == nil {
		line = func(name string) string { return "ld." + name }
	}
	binary, literal, lead, equal := identity, p.quote, integer, p.d.Equal
	timeLiteral := p.d.DateTime
	if p.flavour == MetviewerSQL {
		if p.d.Binary == nil {
			return Query{}, ErrCannotExpress
		}
		binary, literal, equal = p.d.Binary, p.d.BinaryLiteral, nil
		lead = func(v int64) string { return literal(integer(v)) }
		timeLiteral = func(v int64) string { return literal(DateTime(v)) }
	}
	where := p.headerConditions(func(f record.Field) string { return binary(name(f)) }, literal, equal)
	times, err := p.validTimes(binary("ld.fcst_valid_beg"), p.d.Epoch("ld.fcst_valid_beg"), timeLiteral)
	if err != nil {
		return Query{}, err
	}
	where = append(where, times...)
	where = append(where, p.leadCodes(name(record.Version), binary(line("fcst_lead")), lead)...)
	where = append(where, p.timeFilter("ld.fcst_valid_beg", p.d.Epoch("ld.fcst_valid_beg"),
		binary("ld.fcst_init_beg"), p.d.Epoch("ld.fcst_init_beg"), timeLiteral)...)
	join := p.d.Join
	if join == "" || p.isSubquery { // the hint in Join to use an index would slow down means, which usually read all rows
		join = "ld.stat_header_id = h.stat_header_id"
	}
	where = append(where, join)
	columns := func(c question.Column) string {
		switch {
		case c.Role == question.HeaderField:
			return name(c.Field)
		case c.Role == question.Lead && p.mixedLeads():
			return p.d.Epoch("ld.fcst_valid_beg") + " - " + p.d.Epoch("ld.fcst_init_beg")
		}
		if p.isSubquery && c.Kind == question.Number {
			return nullIfMissing(line(c.Name))
		}
		return line(c.StoredName())
	}
	sorted := p.sortExpression(columns, p.d.Bytewise)
	text := p.selectClause(columns) +
		"\n  FROM " + p.d.Table(p.q.Subset, design.HeaderTable) + " h, " + p.d.Table(p.q.Subset, design.LineTable(p.q.Type)) + " ld" +
		"\n   WHERE " + conditions(where) + p.orderBy(sorted)
	return Query{Text: text, LeadCoding: p.leadCoding()}, nil
}

// leadCoding is the coding of fcst_lead in the result of the normalized design.
func (p *builder) leadCoding() LeadCoding {
	switch {
	case p.mixedLeads():
		return Seconds
	case len(p.facts.Versions) > 0 && design.LeadsInHours(p.facts.Versions[0]):
		return Hours
	}
	return HMS
}

// mixedLeads reports whether series of both VSDB and MET can match. METviewer's fcst_lead then
// contains hours for some and HHMMSS for others.
func (p *builder) mixedLeads() bool {
	hours := lists.Filter(p.facts.Versions, design.LeadsInHours)
	return len(hours) > 0 && len(hours) < len(p.facts.Versions)
}

// leadCodes is the condition on METviewer's fcst_lead.
func (p *builder) leadCodes(version, expr string, literal func(int64) string) []string {
	if len(p.q.Lead) == 0 {
		return nil
	}
	codes := func(version string) string {
		leads := lists.Filter(p.q.Lead, func(s int32) bool { return s%3600 == 0 || !design.LeadsInHours(version) })
		if len(leads) == 0 { // a file of hours has no such lead
			return "1 = 0"
		}
		return oneOf(p.d, expr, leads, func(s int32) string { return literal(design.LeadCode(version, s)) })
	}
	if !p.mixedLeads() {
		return []string{codes(slices.Concat(p.facts.Versions, []string{""})[0])}
	}
	if p.d.Bytewise != nil {
		version = p.d.Bytewise(version)
	}
	v01 := p.quote("V01")
	other := version + " <> " + v01
	if p.d.EmptyIsNull {
		other = "(" + other + " OR " + version + " IS NULL)"
	}
	return []string{"(" + version + " = " + v01 + " AND " + codes("V01") + "\n       OR " + other + " AND " + codes("") + ")"}
}

// headerField is METviewer's column of a header field.
func headerField(f record.Field) string {
	if inHeader(f) {
		return "h." + f.String()
	}
	return "ld." + f.String()
}

// wide writes a selection from one table.
func (p *builder) wide() (Query, error) {
	if !slices.Contains([]Name{SQL, ISOList, ISORange, EpochList, EpochRange}, p.flavour) {
		return Query{}, ErrCannotExpress
	}
	where := p.headerConditions(record.Field.String, p.quote, nil)
	times, err := p.validTimes("fcst_valid_beg", "fcst_valid_epoch", p.d.DateTime)
	if err != nil {
		return Query{}, err
	}
	where = append(where, times...)
	if len(p.q.Lead) > 0 {
		where = append(where, oneOf(p.d, "fcst_lead", p.q.Lead, func(s int32) string { return strconv.Itoa(int(s)) }))
	}
	where = append(where,
		p.timeFilter("fcst_valid_beg", "fcst_valid_epoch", "fcst_init_beg", "fcst_valid_epoch - fcst_lead", p.d.DateTime)...)
	columns := func(c question.Column) string { return c.StoredName() }
	text := p.selectClause(columns) +
		"\n  FROM " + p.d.Table(p.q.Subset, design.WideTable(p.q.Type)) +
		"\n   WHERE " + conditions(where) + p.orderBy(columns)
	return Query{Text: text}, nil
}

// document writes a selection of documents and the unnesting of their leads.
func (p *builder) document() (Query, error) {
	var out Query
	var where []string
	switch p.flavour {
	case Keys:
		out.Keys = p.catalog.Keys(p.q)
		if len(out.Keys) == 0 {
			where = []string{"1 = 0"}
			break
		}
		where = []string{""}
		where[0], out.Args = p.d.DocKeys(out.Keys)
	case ISOList, ISORange, EpochList, EpochRange:
		where = p.headerConditions(func(f record.Field) string { return p.d.DocField(f.String()) }, p.quote, p.d.DocEqual)
		literal := func(v int64) string { return p.quote(iso(v)) }
		times, err := p.validTimes(p.d.DocField("fcst_valid_beg"), p.d.DocField("fcst_valid_epoch"), literal)
		if err != nil {
			return Query{}, err
		}
		if p.d.DocWhere != nil {
			where = append(p.d.DocWhere(p.q.Subset, design.DocTable(p.q.Type)), where...)
		}
		where = append(where, times...)
	default:
		return Query{}, ErrCannotExpress
	}
	from, leadsSelected := p.fromDocuments(conditions(where))
	out.Text = p.selectClause(p.docColumn) + "\n  FROM " + from
	var entries []string
	if len(p.q.Lead) > 0 && !leadsSelected {
		entries = append(entries, oneOf(p.d, p.d.DocEntry("fcst_lead"), p.q.Lead, func(s int32) string { return strconv.Itoa(int(s)) }))
	}
	if entries = append(entries, p.docTimeFilter()...); len(entries) > 0 {
		out.Text += p.d.DocAnd + conditions(entries)
	}
	out.Text += p.orderBy(p.sortExpression(p.docColumn, nil))
	return out, nil
}

// fromDocuments is the FROM clause: the documents that satisfy where, unnested. leadsSelected reports
// that it only returns the entries of the question's leads.
func (p *builder) fromDocuments(where string) (from string, leadsSelected bool) {
	table := design.DocTable(p.q.Type)
	if p.d.DocTable != nil {
		return p.d.DocTable(p.q.Subset, table, where, p.members()), false
	}
	if p.d.DocFromLeads != nil && len(p.q.Lead) > 0 {
		if from = p.d.DocFromLeads(p.q.Subset, table, where, p.q.Lead); from != "" {
			return from, true
		}
	}
	return p.d.DocFrom(p.q.Subset, table, where), false
}

// members returns the columns that a question needs from a document's entries.
func (p *builder) members() []question.Column {
	lead := question.Column{Name: "fcst_lead", Role: question.Lead, Kind: question.Duration}
	others := lists.Filter(append(p.orderColumns(), p.q.Columns...), func(c question.Column) bool {
		return !slices.Contains([]question.Role{question.HeaderField, question.ValidBeg, question.InitBeg, question.Lead}, c.Role)
	})
	return append([]question.Column{lead}, others...) // the lead always: fcst_init_beg is derived from it
}

// docColumn is the expression of a column in the document design. Times are returned as epochs;
// init is valid minus lead.
func (p *builder) docColumn(c question.Column) string {
	switch c.Role {
	case question.HeaderField:
		return p.d.DocField(c.Name)
	case question.ValidBeg:
		return p.d.DocField("fcst_valid_epoch")
	case question.InitBeg:
		return p.d.DocField("fcst_valid_epoch") + " - " + p.d.DocEntry("fcst_lead")
	case question.ValidEnd, question.ObsBeg, question.ObsEnd:
		return "coalesce(" + p.d.DocEntry(c.Name) + ", " + p.d.DocField("fcst_valid_epoch") + ")"
	case question.ObsLead:
		return "coalesce(" + p.d.DocEntry(c.Name) + ", 0)"
	case question.Data:
		if c.Kind == question.Number && p.d.DocNumber != nil {
			return p.d.DocNumber(c.Name)
		}
	}
	return p.d.DocEntry(c.StoredName())
}

// sortExpression returns the expressions for ORDER BY. columns are the expressions by which the columns are selected.
// sortKey converts the expression of a text, if the dialect has no SortKey; nil = it does not change.
func (p *builder) sortExpression(columns func(question.Column) string, sortKey func(string) string) func(question.Column) string {
	if p.d.SortKey != nil {
		sortKey = p.d.SortKey
	}
	if sortKey == nil {
		return columns
	}
	return func(c question.Column) string {
		if c.Kind == question.Text {
			return sortKey(columns(c))
		}
		return columns(c)
	}
}

// selectClause writes the expressions of the question's columns.
func (p *builder) selectClause(expr func(question.Column) string) string {
	if p.isSubquery {
		return "SELECT " + Join(p.q.Columns, ", ", func(c question.Column) string { return expr(c) + " AS " + c.Name })
	}
	return p.d.selectColumns(lists.Map(p.q.Columns, expr))
}

func (p *builder) quote(text string) string {
	if p.d.Literal != nil {
		return p.d.Literal(text)
	}
	return Quote(text)
}

func (p *builder) orderBy(expr func(question.Column) string) string {
	cols := p.orderColumns()
	if len(cols) == 0 {
		return ""
	}
	return "\n   ORDER BY " + Join(cols, ", ", func(c question.Column) string {
		if c.Role == question.Data && c.Kind == question.Number || c.Kind == question.Text && p.d.EmptyIsNull {
			return expr(c) + p.d.NullsFirst
		}
		return expr(c)
	})
}
