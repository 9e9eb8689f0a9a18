package report

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// These patterns shorten what a page repeats tens of thousands of times. A dot is a line of length
// zero with a round end, a straight line has one coordinate less, numbers and words need no quotes,
// and cells need no end tag.
var (
	dot      = regexp.MustCompile(`d="M(-?[\d.]+),(-?[\d.]+)A([\d.]+),[\d.]+ 0 1 1 -?[\d.]+,-?[\d.]+A[\d.]+,[\d.]+ 0 1 1 -?[\d.]+,-?[\d.]+Z"\s+style="fill:([^";]*)(?:;fill-opacity:([\d.]+))?"`)
	stroke   = regexp.MustCompile(`d="M(-?[\d.]+),(-?[\d.]+)L(-?[\d.]+),(-?[\d.]+)"`)
	plain    = regexp.MustCompile(`\b((?:class|d|x|y|data-v|text-anchor|scope)=)"([\w.#,-]+) ?"(>| |/)`)
	needless = regexp.MustCompile(` class=""|</td>`)
)

// lines shortens the dots and straight lines of a picture.
func lines(svg []byte) []byte {
	svg = dot.ReplaceAllFunc(svg, func(path []byte) []byte {
		m := dot.FindSubmatch(path)
		r := numberOf(m[3])
		out := fmt.Appendf(nil, `d="M%.1f,%.1fh0" style="stroke:%s;stroke-width:%.3g;stroke-linecap:round`, numberOf(m[1])-r, numberOf(m[2]), m[4], 2*r)
		if len(m[5]) > 0 {
			out = fmt.Appendf(out, ";stroke-opacity:%s", m[5])
		}
		return append(out, '"')
	})
	return stroke.ReplaceAllFunc(svg, func(path []byte) []byte {
		m := stroke.FindSubmatch(path)
		switch from := fmt.Sprintf(`d="M%.4g,%.4g`, numberOf(m[1]), numberOf(m[2])); {
		case bytes.Equal(m[1], m[3]):
			return fmt.Appendf(nil, `%sV%.4g"`, from, numberOf(m[4]))
		case bytes.Equal(m[2], m[4]):
			return fmt.Appendf(nil, `%sH%.4g"`, from, numberOf(m[3]))
		}
		return path
	})
}

// numberOf is a number that a pattern matched.
func numberOf(text []byte) float64 {
	v, _ := strconv.ParseFloat(string(text), 64) // the pattern matches only numbers
	return v
}

// Sort is the value by which a column is sorted; "" if the text itself is the number.
func (c Cell) Sort() string {
	v, err := strconv.ParseFloat(strings.ReplaceAll(c.Text, ",", ""), 64)
	if !c.Known || err == nil && math.Abs(v-c.Value) <= 0.01*math.Abs(c.Value) {
		return ""
	}
	return fmt.Sprintf("%.9g", c.Value)
}

// lighten shortens a page. Quotes occur only in tags, because those of texts are escaped. The
// script does not change.
func lighten(page []byte) []byte {
	before, script, _ := bytes.Cut(page, []byte("<script>"))
	out := needless.ReplaceAll(plain.ReplaceAllFunc(before, func(attribute []byte) []byte {
		m := plain.FindSubmatch(attribute)
		out := append(append([]byte{}, m[1]...), m[2]...)
		if m[3][0] == '/' { // otherwise it would belong to the value
			out = append(out, ' ')
		}
		return append(out, m[3]...)
	}), nil)
	return append(append(out, "<script>"...), script...)
}
