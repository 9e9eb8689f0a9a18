package metviewer

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/barograph/barograph/internal/fault"
)

// Style has the properties of one curve by their elements, see curveLists; nil = the plot specifies none.
type Style map[string]string

type curveList struct{ element, values, instead, fallback string }

func (l *curveList) isValid(value string) bool {
	return regexp.MustCompile(`^(?:` + l.values + `)$`).MatchString(value)
}

// Check returns an error that names an element that curves do not have, or a value that Barograph does not draw.
func (s Style) Check() error {
	for _, element := range slices.Sorted(maps.Keys(s)) {
		value := s[element]
		if !slices.ContainsFunc(curveLists, func(l curveList) bool { return l.element == element && l.isValid(value) }) {
			problem := fmt.Sprintf("%q is not drawn", value)
			return &fault.Error{Setting: "style " + element, Problem: problem, Cure: "see plot_spec in docs/reference/metviewer.md"}
		}
	}
	return nil
}

// curveLists are the elements that have a value for each curve. values matches the values that Barograph draws. For other
// values, instead says what it draws, and fallback is the value for this; "" = none.
var curveLists = []curveList{ //nolint:gochecknoglobals // a constant table
	{"plot_ci", `none|std|met_prm|met_boot|boot|norm`, "no interval is; METviewer's words are none, std, met_prm, met_boot, boot and norm", "none"},
	{"colors", `#[0-9A-Fa-f]{6}(?:[0-9A-Fa-f]{2})?`, "Barograph chooses the color; write it as #rrggbb", ""},
	{"pch", `1|15|17|19|20`, "Barograph chooses the symbol", ""},
	{"lty", `[0-6]`, "Barograph chooses the line", ""},
	{"lwd", `0*[1-9]\d?(?:\.\d+)?|0?\.\d*[1-9]\d*`, "Barograph chooses the width", ""},
	{"type", `[bclop]`, "points joined by lines are", ""},
	{"legend", `.*`, "", ""},
	{"plot_disp", `(?i:t(?:rue)?|f(?:alse)?)`, "the curve is", ""},
	{"order_series", `[1-9]\d{0,3}`, "the curve has the plot's order", ""},
}

var itemPattern = regexp.MustCompile(`"[^"]*"|'[^']*'|[^,\s]+`)

// items returns the values of R's vector, such as c(1, 2) or c("a", "b"), without quotes.
func items(text string) (all []string) {
	if inner, ok := strings.CutPrefix(text, "c("); ok {
		text = strings.TrimSuffix(inner, ")")
	}
	for _, item := range itemPattern.FindAllString(text, -1) {
		if last := len(item) - 1; last > 0 && strings.ContainsAny(item[:1], `"'`) && item[last] == item[0] {
			item = item[1:last]
		}
		all = append(all, item)
	}
	return all
}

// maxCurves bounds the curves of a variable that have styles.
const maxCurves = 1 << 16

// styles reads the lists that have a value for each curve. METviewer numbers the curves: those of each
// statistic of dep1, those of dep2, then the derived ones.
func (s *plots) styles(n *node) {
	for _, list := range curveLists {
		k := n.child(list.element)
		for i, v := range items(n.value(list.element)) {
			if i == len(s.p.Styles) {
				s.p.Styles = append(s.p.Styles, Style{})
			}
			if v != "" && list.isValid(v) {
				s.p.Styles[i][list.element] = v
			} else if v != "" {
				if list.fallback != "" {
					s.p.Styles[i][list.element] = list.fallback
				}
				s.p.Unsupported = append(s.p.Unsupported, Remark{k.line, list.element, fmt.Sprintf("%q of curve %d is not drawn: %s", v, i+1, list.instead)})
			}
		}
	}
	rest := s.p.Styles
	take := func(n int) []Style {
		out := make([]Style, n)
		rest = rest[copy(out, rest):]
		return out
	}
	slices.SortStableFunc(s.p.Deps, func(a, b Dep) int { return a.Axis - b.Axis })
	for i := range s.p.Deps {
		d := &s.p.Deps[i]
		curves := len(d.Stats)
		for _, f := range s.p.Series[d.Axis-1] {
			curves = min(curves*len(f.List), maxCurves)
		}
		d.Styles = take(curves)
	}
	for axis := range s.p.Derived {
		for i := range s.p.Derived[axis] {
			s.p.Derived[axis][i].Style = take(1)[0]
		}
	}
}
