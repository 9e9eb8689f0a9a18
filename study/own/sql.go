package own

import (
	"fmt"
	"regexp"
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
			n = max(n, len(signedExponent.FindString(rest)))
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

// signedExponent matches a number whose exponent has a sign, such as 1e-6. It is one token: its sign is no operator.
var signedExponent = regexp.MustCompile(`^[0-9]+\.?[0-9]*[eE][-+][0-9]+`)

// closing returns the index of the parenthesis that closes the one at index open; len(all) if none does.
func closing(all []token, open int) int {
	end := open + 1
	for end < len(all) && all[end].depth > all[open].depth {
		end++
	}
	return end
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

// beforeNames are tokens after which a word such as limit is a name.
var beforeNames = []string{"as", ".", ",", "select", "from", "join", "by"} //nolint:gochecknoglobals // a constant table

// orderingOf parses the ORDER BY and the limit of a query.
func orderingOf(sql string) (o ordering) {
	all := tokens(sql)
	o.limit, o.end = -1, len(sql)
	from, last := -1, len(all) // the first token after the last ORDER BY; the first LIMIT, OFFSET or FETCH
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
		endsNumber := i > 1 && all[i-1].is(".") && '0' <= all[i-2].text[0] && all[i-2].text[0] <= '9' // such as 10.
		if t.depth > 0 || i > 0 && !endsNumber && slices.ContainsFunc(beforeNames, all[i-1].is) {
			continue
		}
		endsOrder := t.is("limit") || t.is("offset") || t.is("fetch")
		switch {
		case t.is("select"):
			from = -1
		case t.is("order") && i+1 < len(all) && all[i+1].is("by"):
			from = i + 2
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
		}
		if endsOrder && last == len(all) {
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
	for {
		switch n := len(all); {
		case n > 1 && (all[n-1].is("asc") || all[n-1].is("desc")):
			all = all[:n-1]
		case n > 2 && isNulls(all, n-2):
			all = all[:n-2]
		default:
			return term[:all[n-1].at+len(all[n-1].text)]
		}
	}
}

// isNulls reports whether NULLS FIRST or NULLS LAST starts at index i.
func isNulls(all []token, i int) bool {
	return i+1 < len(all) && all[i].is("nulls") && (all[i+1].is("first") || all[i+1].is("last"))
}

// lacksNulls reports whether a term of an ORDER BY, also in parentheses, has neither NULLS FIRST nor NULLS LAST.
func lacksNulls(all []token) bool {
	for i, t := range all {
		if !t.is("order") || i+1 == len(all) || !all[i+1].is("by") {
			continue
		}
		terms, specified := 1, 0
		for k := i + 2; k < len(all) && all[k].depth >= t.depth; k++ {
			if all[k].depth == t.depth && slices.ContainsFunc(afterOrder, all[k].is) {
				break
			}
			if all[k].depth == t.depth && all[k].text == "," {
				terms++
			}
			if all[k].depth == t.depth && isNulls(all, k) {
				specified++
			}
		}
		if specified < terms {
			return true
		}
	}
	return false
}

// withoutLimit returns a query without its limit, and with additional columns: the hidden terms of its order, and for
// each column with a sum, if withSums is true, the magnitude of its terms. scales are the indexes of the columns with a
// sum. ok is false for a combination of several queries, such as UNION, and for SELECT DISTINCT.
func withoutLimit(sql string, o *ordering, hidden []string, withSums bool) (text string, scales []int, ok bool) {
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
	if first < 0 || from < 0 || o.end < all[from].at {
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
		if magnitude := magnitudeOf(sql, all[start:i]); withSums && magnitude != "" {
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
	} else if n > 1 && isAlias(all[n-2], all[n-1]) {
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
			end := closing(all, i+1)
			args := all[i+2 : end]
			if len(args) > 0 && args[0].is("distinct") {
				args = args[1:]
			}
			if len(args) == 0 || end == len(all) {
				return ""
			}
			b.WriteString(sql[at:t.at] + t.text + "(" + absoluteTerms(sql, args) + ")")
			i, at, hasSum = end, all[end].at+1, true
		case (t.is("filter") || t.is("over")) && i+1 < len(all) && all[i+1].text == "(": // it chooses rows
			i = closing(all, i+1)
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

// isAlias reports whether t, the last token of a column, is an alias without AS. before is the token before it.
func isAlias(before, t token) bool {
	operators := []string{"and", "or", "not", "is", "in", "like", "over", "collate"}
	isName := func(c byte) bool { return isWord(c) || c == '"' }
	return (before.text == ")" || isName(before.text[0])) && !slices.ContainsFunc(operators, before.is) &&
		isName(t.text[0]) && !t.is("end")
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

// orderDependent are the names of functions whose result may depend on the order of the rows in the tables.
var orderDependent = []string{ //nolint:gochecknoglobals // a constant table
	"first", "last", "any_value", "arg_min", "arg_max", "argmin", "argmax", "min_by", "max_by", "list",
	"array_agg", "string_agg", "group_concat", "listagg", "mode",
}

// orderIndependent are functions whose result over a window without an order does not depend on the order of the rows.
var orderIndependent = append([]string{ //nolint:gochecknoglobals // a constant table
	"count", "min", "max", "bool_and", "bool_or",
}, floatSums...)

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
		case t.is("over") && i+1 < len(all) && i > 0 && (all[i-1].text == ")" || all[i-1].is("nulls")):
			if c := windowDependence(sql, all, i); c != "" {
				return c
			}
		case i+1 < len(all) && all[i+1].text == "(" && slices.ContainsFunc(orderDependent, t.is):
			return clause(sql, all, i, closing(all, i+1)+1)
		}
	}
	return ""
}

// windowDependence returns the clause because of which the result of the window function with OVER at index over may
// depend on the order of the rows: its order, that of a named window, or a function such as row_number without an
// order. It returns "" if the result does not depend on it.
func windowDependence(sql string, all []token, over int) string {
	end := min(over+2, len(all))
	if all[over+1].text == "(" {
		end = min(closing(all, over+1)+1, len(all))
	}
	ordersRows := func(t token) bool { return t.is("order") || t.is("rows") || t.is("groups") }
	if slices.ContainsFunc(all[over:end], ordersRows) {
		return clause(sql, all, over, end)
	}
	for k := end; k+2 < len(all); k++ { // WINDOW name AS (…)
		isUsed := slices.ContainsFunc(all[over+1:end], func(t token) bool { return t.is(all[k].text) })
		if !isUsed || !all[k+1].is("as") || all[k+2].text != "(" {
			continue
		}
		if to := min(closing(all, k+2)+1, len(all)); slices.ContainsFunc(all[k:to], ordersRows) {
			return clause(sql, all, k, to)
		}
	}
	function := over // becomes the index of the function's name, before its arguments and FILTER (…)
	for i := over - 1; i > 0 && function == over; i-- {
		if all[i].text == "(" && all[i].depth == all[over].depth && !all[i-1].is("filter") {
			function = i - 1
		}
	}
	if slices.ContainsFunc(orderIndependent, all[function].is) {
		return ""
	}
	return clause(sql, all, function, end)
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

// tablesOf returns the words in the FROM clauses of a query, which may be tables, in lower case and without quotes.
func tablesOf(sql string) (names []string) {
	clauses := map[int]string{} // the present clause, by depth of parentheses
	previous := "("
	for _, t := range tokens(sql) {
		word, d := strings.ToLower(t.text), t.depth
		switch word {
		case "select", "where", "group", "having", "order", "window", "qualify", "limit", "union", "intersect", "except",
			"prewhere", "on", "using":
			clauses[d] = word
		case "from", "join", "straight_join":
			if clauses[d] != "" || previous == "(" { // otherwise it is that of a function, as in extract(year FROM day)
				clauses[d] = "from"
			}
		case ",":
			if clauses[d] == "on" || clauses[d] == "using" {
				clauses[d] = "from"
			}
		case "(":
			if clauses[d+1] = ""; clauses[d] == "from" { // FROM (a JOIN b ON …)
				clauses[d+1] = "from"
			}
		default:
			if name := strings.Trim(word, "\"`"); (clauses[d] == "from" || previous == "in") && name != "" && isWord(name[0]) {
				names = append(names, name)
			}
		}
		previous = word
	}
	return names
}
