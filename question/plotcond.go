package question

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/barograph/barograph/formats/metviewer"
	"github.com/barograph/barograph/record"
)

// METviewer adds plot_cond to its SQL as it is. Understood are conditions that a
// question has: fields of the header, times, leads and hours that are equal to a
// value, IN a list or BETWEEN two values, joined by AND.
var (
	condition = regexp.MustCompile(`(?i)^\(*(?:BINARY\s+)?(?:(HOUR)\s*\(\s*)?(?:(?:h|ld)\.)?([a-z_]+)\s*\)?\s*(=|IN\s*\(|BETWEEN\s)\s*(.*?)\)*$`)
	literal   = regexp.MustCompile(`^\s*(?:'([^']*)'|"([^"]*)"|(-?[0-9.]+))\s*(,|(?i:AND)\s)?`)
	conjoined = regexp.MustCompile(`(?i)\s+AND\s+`)
)

// conditions reads the plot's condition; what it cannot read leaves the plot out.
func (b *builder) conditions() (fields []metviewer.Field) {
	for _, text := range conjuncts(b.p.Cond) {
		f := metviewer.Field{Line: b.p.CondLine}
		m := condition.FindStringSubmatch(strings.TrimSpace(text))
		if m != nil {
			f.Name = strings.ToLower(m[2])
			if m[1] != "" {
				f.Name = map[string]string{"fcst_valid_beg": "valid_hour", "fcst_init_beg": "init_hour"}[f.Name]
			}
		}
		var values []string
		ok := m != nil && known(f.Name)
		if ok {
			values, ok = literals(m[4])
		}
		switch between := ok && strings.EqualFold(strings.TrimSpace(m[3]), "between"); {
		case !ok || between && len(values) != 2:
			b.unasked = fmt.Sprintf("line %d: plot_cond: the condition %q cannot be asked for", b.p.CondLine, strings.TrimSpace(text))
			return nil
		case between:
			f.First, f.Last = values[0], values[1]
		default:
			f.List = values
		}
		fields = append(fields, f)
	}
	return fields
}

// literals reads 'a', 'b' or 'a' AND 'b'.
func literals(text string) (values []string, ok bool) {
	for {
		v := literal.FindStringSubmatch(text)
		if v == nil {
			return nil, false
		}
		values = append(values, v[1]+v[2]+v[3])
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

// conjuncts parts a condition at its ANDs, but for those of BETWEEN.
func conjuncts(text string) (out []string) {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	for _, part := range conjoined.Split(strings.Join(strings.Fields(text), " "), -1) {
		last := len(out) - 1
		if last >= 0 && strings.Contains(strings.ToUpper(out[last]), " BETWEEN ") && !strings.Contains(strings.ToUpper(out[last]), " AND ") {
			out[last] += " AND " + part
			continue
		}
		out = append(out, strings.TrimPrefix(part, "AND "))
	}
	return out
}
