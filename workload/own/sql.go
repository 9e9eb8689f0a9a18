package own

import (
	"strconv"
	"strings"

	"github.com/barograph/barograph/answer"
)

// token is a word, a quoted name or text, or one other character of SQL.
type token struct {
	text  string
	at    int // in the text
	depth int // of parentheses
}

func (t token) is(word string) bool { return strings.EqualFold(t.text, word) }

// tokens reads SQL, without blanks and comments.
func tokens(sql string) (out []token) {
	depth := 0
	for i := 0; i < len(sql); {
		rest, n := sql[i:], 1
		switch c := sql[i]; {
		case strings.HasPrefix(rest, "--"):
			i += until(rest, "\n")
			continue
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

// until is how many characters there are to the end of a mark, or of all.
func until(s, mark string) int {
	if at := strings.Index(s, mark); at >= 0 {
		return at + len(mark)
	}
	return len(s)
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// bare is SQL without comments, and without what follows its last word.
func bare(sql string) string {
	var b strings.Builder
	end := 0
	for _, t := range tokens(sql) {
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

// ordering is the ORDER BY at the end of a question, outside all parentheses,
// and its LIMIT.
type ordering struct {
	terms []string
	limit int
}

// orderingOf finds them.
func orderingOf(sql string) (o ordering) {
	all := tokens(sql)
	from := -1
	for i := range all {
		if all[i].depth == 0 && all[i].is("order") && i+1 < len(all) && all[i+1].is("by") {
			from = i + 2
		}
		if all[i].depth == 0 && all[i].is("limit") && i+1 < len(all) {
			o.limit, _ = strconv.Atoi(all[i+1].text) // an expression limits, too, but nobody knows where
		}
	}
	if from < 0 {
		return o
	}
	term := ""
	for _, t := range all[from:] {
		if t.depth == 0 && (t.is("limit") || t.is("offset") || t.is("fetch") || t.is("settings")) {
			break
		}
		if t.depth == 0 && t.text == "," {
			o.terms, term = append(o.terms, term), ""
			continue
		}
		term = strings.TrimSpace(term + " " + t.text)
	}
	return ordering{append(o.terms, term), o.limit}
}

// columns tells by which columns of the answer rows are ordered; words is what is
// compared. An order by something else cannot be told from the rows.
func (o *ordering) columns(names []string) (out answer.Order, words string) {
	if len(o.terms) == 0 {
		return out, "any order"
	}
	out.Limit = o.limit
	for _, term := range o.terms {
		k := find(names, term)
		if k < 0 {
			if len(out.By) == 0 {
				return answer.Order{}, "any order: " + term + " is no column of the answer"
			}
			out.Limit = o.limit
			return out, "the order by " + strings.Join(o.terms[:len(out.By)], ", ") + "; " + term + " is no column of the answer"
		}
		out.By = append(out.By, k)
	}
	return out, "the order"
}

// find is the column that a term of an order names; -1 = none.
func find(names []string, term string) int {
	word, _, _ := strings.Cut(term, " ")
	rest := strings.TrimSpace(strings.TrimPrefix(term, word))
	for strings.HasPrefix(rest, ". ") { // t . name
		word, _, _ = strings.Cut(rest[2:], " ")
		rest = strings.TrimSpace(strings.TrimPrefix(rest[2:], word))
	}
	for known := range strings.FieldsSeq(rest) {
		switch strings.ToLower(known) {
		case "asc", "desc", "nulls", "first", "last":
		default:
			return -1
		}
	}
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
