package own

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// token is a word, a quoted name or text, a hint, or another single character of SQL.
type token struct {
	text  string
	at    int // offset in the text
	depth int // of parentheses
}

func (t token) is(word string) bool { return strings.EqualFold(t.text, word) }

// isHint reports whether SQL starts with a hint for an engine: /*+ … */ or /*! … */.
func isHint(sql string) bool { return strings.HasPrefix(sql, "/*+") || strings.HasPrefix(sql, "/*!") }

// tokens splits SQL into tokens, without blanks and comments.
func tokens(sql string) (out []token) {
	return slices.DeleteFunc(tokensAndHints(sql), func(t token) bool { return isHint(t.text) })
}

// tokensAndHints splits SQL into tokens, including hints for engines.
func tokensAndHints(sql string) (out []token) {
	depth := 0
	for i := 0; i < len(sql); {
		rest, n := sql[i:], 1
		switch c := sql[i]; {
		case strings.HasPrefix(rest, "--"):
			i += until(rest, "\n")
			continue
		case isHint(rest):
			n = 3 + until(rest[3:], "*/")
		case strings.HasPrefix(rest, "/*"):
			i += until(rest[2:], "*/") + 2
			continue
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
			continue
		case c == '\'' || c == '"' || c == '`':
			n = 1 + until(rest[1:], string(c))
		case isWord(c):
			for n < len(rest) && (isWord(rest[n]) || rest[n] == '$') {
				n++
			}
		case c == ')':
			depth--
		}
		out = append(out, token{rest[:n], i, depth})
		if sql[i] == '(' {
			depth++
		}
		i += n
	}
	return out
}

// until returns the number of bytes up to the end of the first mark, or of the text if it does not contain the mark.
func until(s, mark string) int {
	if i := strings.Index(s, mark); i >= 0 {
		return i + len(mark)
	}
	return len(s)
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// withoutComments returns SQL without comments, except hints. It replaces blanks and comments between two tokens by a
// blank or a line break.
func withoutComments(sql string) string {
	var b strings.Builder
	end := 0
	for _, t := range tokensAndHints(sql) {
		if b.Len() > 0 && strings.ContainsAny(sql[end:t.at], "\n") {
			b.WriteByte('\n')
		} else if t.at > end && b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(t.text)
		end = t.at + len(t.text)
	}
	return b.String()
}

// ordering describes the ORDER BY at the end of a query, outside all parentheses,
// and its limit.
type ordering struct {
	terms         []string // as the query has them
	end           int      // offset of the end of the text before the limit
	limit, offset int      // limit -1 = none
	unknown       bool     // the limit is an expression, or depends on ties
}

// orderingOf parses the ORDER BY and the limit of a query.
func orderingOf(sql string) (o ordering) {
	all := tokens(sql)
	o.limit, o.end = -1, len(sql)
	from, last := -1, len(all)
	number := func(i int) int {
		if i >= len(all) {
			o.unknown = true
			return 0
		}
		n, err := strconv.Atoi(all[i].text)
		if next := i + 1; err != nil || next < len(all) && strings.Contains("+-*/%.(", all[next].text) {
			o.unknown = true
		}
		return n
	}
	for i, t := range all {
		if t.depth > 0 {
			continue
		}
		switch {
		case t.is("select"):
			from = -1
		case t.is("order") && i+1 < len(all) && all[i+1].is("by"):
			from = i + 2
			continue
		case t.is("limit"):
			if o.limit = number(i + 1); i+3 < len(all) && all[i+2].text == "," { // LIMIT offset, limit
				o.offset, o.limit = o.limit, number(i+3)
			}
		case t.is("offset"):
			o.offset = number(i + 1)
		case t.is("fetch"):
			if o.limit = 1; i+2 < len(all) && !all[i+2].is("row") && !all[i+2].is("rows") {
				o.limit = number(i + 2)
			}
			o.unknown = o.unknown || all[len(all)-1].is("ties")
		case !t.is("settings"): // SETTINGS of ClickHouse also ends the ORDER BY
			continue
		}
		if !t.is("select") && last == len(all) {
			last, o.end = i, t.at
		}
	}
	if from < 0 {
		return o
	}
	start := from
	for i := from; i <= last; i++ {
		if i < last && (all[i].depth > 0 || all[i].text != ",") {
			continue
		}
		if end := i - 1; end >= start {
			o.terms = append(o.terms, sql[all[start].at:all[end].at+len(all[end].text)])
		}
		start = i + 1
	}
	return o
}

// columns returns the indexes of the columns that order the rows. hidden are the terms that are not columns of the
// result; by numbers them as if they followed the columns.
func (o *ordering) columns(names []string) (by []int, hidden []string) {
	for _, term := range o.terms {
		k := columnOf(names, term)
		if k < 0 {
			k = len(names) + len(hidden)
			hidden = append(hidden, withoutDirection(term))
		}
		by = append(by, k)
	}
	return by, hidden
}

// comparison describes how the study compares the order of rows.
func (o *ordering) comparison(by []int, hidden []string) string {
	switch {
	case len(by) == 0 && len(o.terms) > 0:
		return "any order: DuckDB cannot return the values of " + strings.Join(o.terms, ", ")
	case len(by) == 0:
		return "any order"
	case len(hidden) > 0:
		return "the order, also by " + strings.Join(hidden, ", ")
	}
	return "the order"
}

// withoutDirection returns a term of an order without ASC, DESC, and NULLS FIRST or LAST.
func withoutDirection(term string) string {
	all := tokens(term)
	for len(all) > 1 {
		switch t := all[len(all)-1]; {
		case t.is("asc"), t.is("desc"), t.is("first"), t.is("last"), t.is("nulls"):
			all = all[:len(all)-1]
			continue
		}
		break
	}
	last := all[len(all)-1]
	return term[:last.at+len(last.text)]
}

// withoutLimit returns a query without its limit, and with additional columns: the hidden terms of its order, and for
// each column with a sum the magnitude of its terms. scales are the indexes of the columns with a sum. ok is false for
// a combination of several queries, such as UNION, and for SELECT DISTINCT.
func withoutLimit(sql string, o *ordering, hidden []string) (text string, scales []int, ok bool) {
	all := tokens(sql)
	first, from := -1, -1
	for i, t := range all {
		if t.depth > 0 {
			continue
		}
		switch {
		case t.is("union"), t.is("intersect"), t.is("except"), t.is("select") && first >= 0,
			t.is("distinct") && i == first+1:
			return "", nil, false
		case t.is("select"):
			first = i
		case t.is("from") && from < 0:
			from = i
		}
	}
	if first < 0 || from < 0 {
		return "", nil, false
	}
	var more strings.Builder
	for i, term := range hidden {
		fmt.Fprintf(&more, ", %s AS barograph_%d", term, i)
	}
	start, item := first+1, 0
	for i := start; i <= from; i++ {
		if i < from && (all[i].depth > 0 || all[i].text != ",") {
			continue
		}
		if magnitude := magnitudeOf(sql, all[start:i]); magnitude != "" {
			fmt.Fprintf(&more, ", %s AS barograph_sum_%d", magnitude, item)
			scales = append(scales, item)
		}
		if i == start+1 && all[start].text == "*" || i > start+1 && all[i-1].text == "*" && all[i-2].text == "." {
			if scales = nil; len(hidden) == 0 { // after * the positions of columns are unknown
				return sql[:o.end], nil, true
			}
			break
		}
		start, item = i+1, item+1
	}
	text = strings.TrimRight(sql[:all[from].at], " \n") + more.String() + "\n" + sql[all[from].at:o.end]
	return text, scales, true
}

// magnitudeOf rewrites a column with sums to the magnitude of the numbers that may cancel: it sums the absolute values
// of the terms, and replaces each - between terms by +. It returns "" if the column has no sum.
func magnitudeOf(sql string, all []token) string {
	if n := len(all); n > 2 && all[n-2].depth == all[0].depth && all[n-2].is("as") {
		all = all[:n-2]
	} else if n > 1 && all[n-2].text == ")" && isWord(all[n-1].text[0]) && !all[n-1].is("end") {
		all = all[:n-1]
	}
	if len(all) == 0 {
		return ""
	}
	var b strings.Builder
	at, hasSum := all[0].at, false // the text before at is in b
	for i := 0; i < len(all); i++ {
		t := all[i]
		switch {
		case (t.is("sum") || t.is("avg")) && i+2 < len(all) && all[i+1].text == "(":
			end := i + 2
			for end < len(all) && all[end].depth > all[i+1].depth {
				end++
			}
			args := all[i+2 : min(end, len(all))]
			if len(args) > 0 && args[0].is("distinct") {
				args = args[1:]
			}
			if len(args) == 0 || end == len(all) {
				return ""
			}
			b.WriteString(sql[at:t.at] + t.text + "(" + absoluteTerms(sql, args) + ")")
			i, at, hasSum = end, all[end].at+1, true
		case t.is("case"), t.is("select"): // a minus may belong to a condition
			return ""
		case t.text == "-" && i+1 < len(all) && all[i+1].text != ">":
			b.WriteString(sql[at:t.at] + "+")
			at = t.at + 1
		}
	}
	if !hasSum {
		return ""
	}
	last := all[len(all)-1]
	if end := last.at + len(last.text); end > at {
		b.WriteString(sql[at:end])
	}
	return b.String()
}

// notSums are words of expressions whose + and - may not separate the terms of a sum.
var notSums = []string{"case", "and", "or", "filter", "order"} //nolint:gochecknoglobals // a constant table

// absoluteTerms returns the sum of the absolute values of the terms of an expression.
func absoluteTerms(sql string, all []token) string {
	text := func(from, to int) string { return sql[all[from].at : all[to-1].at+len(all[to-1].text)] }
	base := all[0].depth
	for _, t := range all {
		base = min(base, t.depth)
	}
	var terms []string
	start := 0
	for i, t := range all {
		if t.depth > base {
			continue
		}
		if strings.Contains("<>=!|", t.text) || slices.ContainsFunc(notSums, t.is) {
			return "abs(" + text(0, len(all)) + ")" // the expression is not a sum of terms
		}
		if i > start && (t.text == "+" || t.text == "-") && !strings.Contains("*/%+-(", all[i-1].text) {
			terms, start = append(terms, "abs("+text(start, i)+")"), i+1
		}
	}
	return strings.Join(append(terms, "abs("+text(start, len(all))+")"), " + ")
}

// orderDependent are the names of functions, and the word OVER, whose result may depend on the order of the rows in the
// tables.
var orderDependent = []string{ //nolint:gochecknoglobals // a constant table
	"over", "first", "last", "any_value", "arg_min", "arg_max", "argmin", "argmax", "min_by", "max_by", "list",
	"array_agg", "string_agg", "group_concat", "listagg", "mode",
}

// orderDependence returns a clause because of which the result of a query may depend on the order of the rows in its
// tables: a limit in a subquery, a window, DISTINCT ON, or a function of the first row. It returns "" if the query has
// no such clause.
func orderDependence(sql string) string {
	all := tokens(sql)
	for i, t := range all {
		switch {
		case t.depth > 0 && (t.is("limit") || t.is("offset") || t.is("fetch")):
			for from := i; from >= 0 && all[from].depth >= t.depth; from-- {
				if all[from].is("order") && all[from].depth == t.depth {
					return clause(sql, all, from, i+2)
				}
			}
			return clause(sql, all, i, i+2)
		case t.is("distinct") && i+1 < len(all) && all[i+1].is("on"):
			return "DISTINCT ON"
		case i+1 < len(all) && all[i+1].text == "(" && slices.ContainsFunc(orderDependent, t.is):
			end := i + 2
			for end < len(all) && all[end].depth > all[i+1].depth {
				end++
			}
			if c := clause(sql, all, i, end+1); !t.is("over") || strings.Contains(strings.ToLower(c), "order") {
				return c
			}
		}
	}
	return ""
}

// clause returns the text of the tokens from from to to, exclusive.
func clause(sql string, all []token, from, to int) string {
	last := all[min(to, len(all))-1]
	return sql[all[from].at : last.at+len(last.text)]
}

// columnOf returns the index of the column that a term of an order names; -1 = none.
func columnOf(names []string, term string) int {
	all := tokens(withoutDirection(term))
	for len(all) > 2 && all[1].text == "." { // t.name
		all = all[2:]
	}
	if len(all) != 1 {
		return -1
	}
	word := all[0].text
	if n, err := strconv.Atoi(word); err == nil && n >= 1 && n <= len(names) {
		return n - 1
	}
	word = strings.Trim(word, "\"`")
	for k, name := range names {
		if strings.EqualFold(name, word) {
			return k
		}
	}
	return -1
}
