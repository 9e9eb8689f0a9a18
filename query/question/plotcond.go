package question

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/barograph/barograph/formats/metviewer"
	"github.com/barograph/barograph/record"
)

// METviewer inserts plot_cond into its SQL unchanged, and logs contain METviewer's and METexpress's SQL. These
// expressions match the conditions that a question can have: header fields, times, leads and hours that are
// equal to a value, IN a list or BETWEEN two values; times and hours before or after a value. Conditions are
// joined by AND; several on one field may be joined by OR in brackets.
var (
	conditionPattern = regexp.MustCompile(`(?is)^\(*(?:BINARY\s+)?` +
		`(?:(HOUR|UNIX_TIMESTAMP)\s*\(\s*)?` + // group 1: a function of the field
		"(?:\\w+\\.)?`?([a-z_]+)`?\\s*\\)?" + // 2: the field, without its table
		`(%\(24\*3600\)/3600)?\s*` + // 3: the hour of the day of a UNIX_TIMESTAMP
		`([<>]?=|[<>]|IN\s*\(|BETWEEN\s)\s*` + // 4: the operator
		`(.*?)\)*$`) // 5: the values
	literalPattern = regexp.MustCompile(`^\s*(?:'((?:[^']|'')*)'|"([^"]*)"|(-?[0-9.]+))\s*(,|(?i:AND)\s)?`)
	orPattern      = regexp.MustCompile(`(?i)\s+OR\s+`)
)

// addPlotCond adds the plot's condition. In SQL, 'A:B' is one value, not a group. A term that is not supported is an error,
// and the plot is omitted.
func (b *builder) addPlotCond() error {
	for parts := splitAnd(strings.Join(strings.Fields(b.p.Cond), " ")); len(parts) > 0; {
		text := strings.TrimSpace(parts[0])
		parts = parts[1:]
		alternatives := []string{text}
		if inner, ok := stripBrackets(text); ok {
			if more := splitAnd(inner); len(more) > 1 {
				parts = append(parts, more...)
				continue
			}
			alternatives = orPattern.Split(inner, -1)
		}
		if len(alternatives) == 1 && b.addValueCondition(alternatives[0]) {
			continue
		}
		f := metviewer.Field{Line: b.p.CondLine}
		for i, one := range alternatives {
			g, ok := parseComparison(one)
			if !ok || i > 0 && (g.Name != f.Name || g.First+f.First != "") {
				return fmt.Errorf("line %d: plot_cond: the condition %q is not supported", b.p.CondLine, text)
			}
			g.List, g.Line = append(f.List, g.List...), f.Line
			f = g
		}
		if err := b.addCondition(f, f.List); err != nil {
			return err
		}
	}
	return nil
}

// addValueCondition reads a condition on a numeric column, such as ld.baser > 0.02, into Drawing.ValueConditions. The
// condition selects what is drawn; the answer's rows also include other records. For every other condition the function
// does nothing and returns false.
func (b *builder) addValueCondition(text string) bool {
	m := conditionPattern.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil || m[1] != "" {
		return false
	}
	op := strings.ToUpper(strings.TrimSpace(m[4]))
	c, ok := b.q.Type.Column(strings.ToLower(m[2]))
	list, isList := literals(m[5])
	if !ok || !isList || c.Kind == record.Text || isKnownField(c.Name) {
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
		b.q.Drawing.ValueConditions = append(b.q.Drawing.ValueConditions, ValueCondition{c.Name, op, numbers[i]})
	}
	const note = "line %d: plot_cond: %q applies to the picture; the answer's rows also include other records"
	b.notes = append(b.notes, fmt.Sprintf(note, b.p.CondLine, text))
	return true
}

// stripBrackets removes a pair of brackets around the complete condition.
func stripBrackets(text string) (inner string, ok bool) {
	depth := 0
	for i, c := range text { // at i = 0 the depth is 0 if the text does not begin with a bracket
		depth += map[rune]int{'(': 1, ')': -1}[c]
		if depth == 0 {
			return strings.TrimSuffix(text[min(i, 1):], ")"), i > 0 && i == len(text)-1
		}
	}
	return "", false
}

// parseComparison reads a condition on one field. It does not read asterisks that addCondition would take as a pattern of
// a plot_spec.
func parseComparison(text string) (f metviewer.Field, ok bool) {
	m := conditionPattern.FindStringSubmatch(strings.TrimSpace(text))
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
	if !ok || !isKnownField(f.Name) || slices.ContainsFunc(f.List, func(v string) bool { return v == "*" || IsPattern(v) }) {
		return f, false
	}
	switch op := strings.ToUpper(strings.TrimSpace(m[4])); {
	case op == "BETWEEN" && len(f.List) == 2 && !slices.Contains(f.List, ""):
		f.First, f.Last, f.List = f.List[0], f.List[1], nil
	case strings.ContainsAny(op, "<>"):
		f.First, f.Last, ok = timeLimits(f.Name, op, f.List[0])
		f.List = nil
	default:
		ok = op != "BETWEEN"
	}
	return f, ok
}

// timeLimits returns the first and last time, or hour of the day, that satisfy a comparison.
func timeLimits(field, op, value string) (first, last string, ok bool) {
	var at int64
	var err error
	text := func(n int64) string { return time.Unix(n, 0).UTC().Format(time.DateTime) }
	first, last = "1900-01-01 00:00:00", "9999-12-31 23:59:59" // ClickHouse stores no earlier time
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

// literals reads the values of 'a', 'b' or of 'a' AND 'b'.
func literals(text string) (values []string, ok bool) {
	for {
		v := literalPattern.FindStringSubmatch(text)
		if v == nil {
			return nil, false
		}
		values = append(values, strings.ReplaceAll(v[1], "''", "'")+v[2]+v[3])
		switch text = text[len(v[0]):]; {
		case (text == "") != (v[4] == ""): // MySQL concatenates texts without a separator
			return nil, false
		case text == "":
			return values, true
		}
	}
}

func isKnownField(field string) bool {
	_, header := record.FieldByName(field)
	return header || slices.Contains(groupFields, field)
}
