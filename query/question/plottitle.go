package question

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/barograph/barograph/formats/metviewer"
)

// A tag is a place in a title or label that METviewer fills in:
// {fcst_lead?format=HH}, {vx_mask?map=true}, {dep1_1_stat1}.
var (
	tagPattern          = regexp.MustCompile(`\{(\w+)(?:\?([^{}]*))?\}`)
	depTagPattern       = regexp.MustCompile(`^dep([12])_(\d+)(?:_stat(\d+))?$`)
	tagSeparatorPattern = regexp.MustCompile(`\s*[&;]\s*`)
	thresholdPattern    = regexp.MustCompile(`^([<>=!]{1,2})(\d*(?:\.\d+)?)$`)
)

// fillTags replaces the tags of a title or label. It keeps tags that refer to nothing, removes R's
// escapes of quotes, and replaces line ends by blanks.
func (b *builder) fillTags(text string) string {
	text = tagPattern.ReplaceAllStringFunc(text, func(t string) string {
		m := tagPattern.FindStringSubmatch(t)
		value, ok := b.tagValue(m[1])
		if !ok {
			return t
		}
		return b.formatTag(m[1], value, m[2])
	})
	unescape := strings.NewReplacer(`\\n`, " ", `\n`, " ", `\\\"`, `"`, `\\"`, `"`, `\"`, `"`)
	return strings.Join(strings.Fields(unescape.Replace(text)), " ")
}

// tagValue is the value that a tag refers to: a variable or statistic of the plot, or a fixed
// field.
func (b *builder) tagValue(name string) (value string, ok bool) {
	if m := depTagPattern.FindStringSubmatch(name); m != nil {
		axis, _ := strconv.Atoi(m[1])
		nth, _ := strconv.Atoi(m[2])
		deps := slices.DeleteFunc(slices.Clone(b.p.Deps), func(d metviewer.Dep) bool { return d.Axis != axis })
		if nth < 1 || nth > len(deps) {
			return "", false
		}
		if axis == b.dep.Axis && nth == 1 { // the question's variable may come from plot_fix, see dependentVariables
			deps[0] = b.dep
		}
		if m[3] == "" {
			return deps[nth-1].Var, true
		}
		s, _ := strconv.Atoi(m[3])
		if s < 1 || s > len(deps[nth-1].Stats) {
			return "", false
		}
		return deps[nth-1].Stats[s-1], true
	}
	if name == "fcst_var" && b.dep.Var != "" {
		return b.dep.Var, true
	}
	for _, f := range b.fixed {
		if f.Name == name || f.Name == metviewer.NameOf(name) {
			return cmp.Or(strings.Join(f.List, ", "), f.Last), true // METviewer takes the end of a range
		}
	}
	return "", false
}

// formatTag formats a value by the parameters of its tag (MVUtil.java, buildTemplate and
// formatThresh): a value from a val_map, a lead as HH or HHmm, an hour as HH, a threshold of
// millimeters in inches or with letters instead of its symbol.
func (b *builder) formatTag(name, value, query string) string {
	parameters := map[string]string{}
	for _, pair := range tagSeparatorPattern.Split(query, -1) {
		k, v, _ := strings.Cut(pair, "=")
		parameters[strings.TrimSpace(k)] = strings.TrimSpace(v)
	}
	if as := parameters["map"]; as != "" {
		if as == "true" {
			as = name
		}
		value = cmp.Or(b.p.Maps[as][value], value)
	}
	format := parameters["format"]
	switch {
	case name == "fcst_lead" && strings.HasPrefix(format, "HH"):
		n, err := strconv.Atoi(value)
		if err != nil {
			return value
		}
		if value = fmt.Sprintf("%02d", n/10000); format == "HHmm" {
			value += fmt.Sprintf("%02d", n/100%100)
		}
	case (name == "init_hour" || name == "valid_hour") && format == "HH":
		value = fmt.Sprintf("%02s", value)
	case strings.HasSuffix(name, "_thresh"), strings.HasSuffix(name, "_thr"):
		value = formatThreshold(value, parameters["units"], format, parameters["symbol"])
	}
	if t, err := time.Parse(time.DateTime, value); err == nil {
		return t.Format("2006010215")
	}
	return value
}

func formatThreshold(value, units, format, symbol string) string {
	m := thresholdPattern.FindStringSubmatch(value)
	if m == nil {
		return value
	}
	n, err := strconv.ParseFloat(m[2], 64)
	if err != nil {
		return value
	}
	sign, number := m[1], m[2]
	if units == "in" {
		n /= 25.4
		number = strconv.FormatFloat(n, 'f', 3, 64)
	}
	if _, decimals, ok := strings.Cut(format, "."); ok {
		number = strconv.FormatFloat(n, 'f', len(decimals), 64)
	}
	if symbol == "letters" {
		sign = map[string]string{"==": "eq", "!=": "ne", "<=": "le", ">=": "ge", "<": "lt", ">": "gt"}[sign]
	}
	return sign + number
}
