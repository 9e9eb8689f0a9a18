package question

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/barograph/barograph/formats/metviewer"
	"github.com/barograph/barograph/record"
)

// METviewer adds plot_cond to its SQL as it is; logs have its SQL, and METexpress's. Understood are conditions that a
// question has: fields of the header, times, leads and hours that are equal to a
// value, IN a list or BETWEEN two values; times and hours before or after one;
// joined by AND, and of one field by OR in brackets.
var (
	condition = regexp.MustCompile("(?is)^\\(*(?:BINARY\\s+)?(?:(HOUR|UNIX_TIMESTAMP)\\s*\\(\\s*)?(?:\\w+\\.)?`?([a-z_]+)`?\\s*\\)?(%\\(24\\*3600\\)/3600)?\\s*([<>]?=|[<>]|IN\\s*\\(|BETWEEN\\s)\\s*(.*?)\\)*$")
	literal   = regexp.MustCompile(`^\s*(?:'((?:[^']|'')*)'|"([^"]*)"|(-?[0-9.]+))\s*(,|(?i:AND)\s)?`)
	disjoined = regexp.MustCompile(`(?i)\s+OR\s+`)
)

// conditions reads the plot's condition; what it cannot read leaves the plot out.
func (b *builder) conditions() (fields []metviewer.Field) {
	for parts := ands(strings.Join(strings.Fields(b.p.Cond), " ")); len(parts) > 0; {
		text := strings.TrimSpace(parts[0])
		parts = parts[1:]
		alternatives := []string{text}
		if inner, ok := bracketed(text); ok {
			if more := ands(inner); len(more) > 1 {
				parts = append(parts, more...)
				continue
			}
			alternatives = disjoined.Split(inner, -1)
		}
		if len(alternatives) == 1 && b.bounded(alternatives[0]) {
			continue
		}
		f := metviewer.Field{Line: b.p.CondLine}
		for i, one := range alternatives {
			g, ok := compared(one)
			if !ok || i > 0 && (g.Name != f.Name || g.First+f.First != "") {
				b.notQueried = fmt.Sprintf("line %d: plot_cond: the condition %q cannot be asked for", b.p.CondLine, text)
				return nil
			}
			g.List, g.Line = append(f.List, g.List...), f.Line
			f = g
		}
		fields = append(fields, f)
	}
	return fields
}

// bounded takes a condition on a column of numbers, ld.baser > 0.02, for the picture:
// a question has none.
func (b *builder) bounded(text string) bool {
	m := condition.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil || m[1] != "" {
		return false
	}
	op := strings.ToUpper(strings.TrimSpace(m[4]))
	c, ok := b.q.Type.Column(strings.ToLower(m[2]))
	list, read := literals(m[5])
	if !ok || !read || c.Kind == record.Text || known(c.Name) {
		return false
	}
	ops, numbers := []string{op}, make([]float64, len(list))
	for i, v := range list {
		n, err := strconv.ParseFloat(v, 64)
		if err != nil {
			return false
		}
		numbers[i] = n
	}
	if op == "BETWEEN" {
		ops = []string{">=", "<="}
	}
	if len(ops) != len(numbers) || strings.HasPrefix(op, "IN") {
		return false
	}
	for i, op := range ops {
		b.q.Drawing.Only = append(b.q.Drawing.Only, Bound{c.Name, op, numbers[i]})
	}
	b.notes = append(b.notes, fmt.Sprintf("line %d: plot_cond: %q holds for what is drawn; rows come whole", b.p.CondLine, text))
	return true
}

// bracketed is what stands in brackets around a whole condition.
func bracketed(text string) (inner string, ok bool) {
	depth := 0
	for i, c := range text {
		depth += strings.Count("(", string(c)) - strings.Count(")", string(c))
		if depth == 0 {
			return strings.TrimSuffix(text[min(i, 1):], ")"), i > 0 && i == len(text)-1
		}
	}
	return "", false
}

// compared reads a condition on one field.
func compared(text string) (f metviewer.Field, ok bool) {
	m := condition.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return f, false
	}
	f.Name = strings.ToLower(m[2])
	f.List, ok = literals(m[5])
	switch strings.ToUpper(m[1]) + m[3] {
	case "HOUR", "UNIX_TIMESTAMP%(24*3600)/3600":
		f.Name = map[string]string{"fcst_valid_beg": "valid_hour", "fcst_init_beg": "init_hour"}[f.Name]
	case "UNIX_TIMESTAMP":
		for i, v := range f.List {
			n, err := strconv.ParseInt(v, 10, 64)
			f.List[i], ok = time.Unix(n, 0).UTC().Format(time.RFC3339), ok && err == nil
		}
	}
	if !ok || !known(f.Name) {
		return f, false
	}
	switch op := strings.ToUpper(strings.TrimSpace(m[4])); {
	case op == "BETWEEN" && len(f.List) == 2:
		f.First, f.Last, f.List = f.List[0], f.List[1], nil
	case strings.ContainsAny(op, "<>"):
		f.First, f.Last, ok = limits(f.Name, op, f.List[0])
		f.List = nil
	default:
		ok = op != "BETWEEN"
	}
	return f, ok
}

// limits are the first and last time or hour of the day that a comparison leaves.
func limits(field, op, value string) (first, last string, ok bool) {
	var at int64
	var err error
	text := func(n int64) string { return time.Unix(n, 0).UTC().Format(time.DateTime) }
	first, last = "1970-01-01 00:00:01", "9999-12-31 23:59:59"
	switch field {
	case "fcst_valid_beg", "fcst_init_beg":
		at, err = ParseTime(value)
	case "valid_hour", "init_hour":
		at, err = strconv.ParseInt(value, 10, 64)
		text = func(n int64) string { return strconv.FormatInt(n, 10) }
		first, last = "0", "23"
	default:
		return "", "", false
	}
	switch op {
	case ">=":
		first = text(at)
	case ">":
		first = text(at + 1)
	case "<=":
		last = text(at)
	case "<":
		last = text(at - 1)
	}
	return first, last, err == nil
}

// literals reads 'a', 'b' or 'a' AND 'b'.
func literals(text string) (values []string, ok bool) {
	for {
		v := literal.FindStringSubmatch(text)
		if v == nil {
			return nil, false
		}
		values = append(values, strings.ReplaceAll(v[1], "''", "'")+v[2]+v[3])
		if text = text[len(v[0]):]; text == "" {
			return values, true
		}
	}
}

func known(field string) bool {
	_, header := record.FieldByName(field)
	switch field {
	case "fcst_lead", "fcst_valid_beg", "fcst_init_beg", "valid_hour", "init_hour":
		return true
	}
	return header
}
