package report

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// These patterns match what a page repeats tens of thousands of times, and what has a shorter form: a circle is a line of
// length zero with a round end, a horizontal or vertical line needs one coordinate less, numbers and words need no quotes,
// and a cell needs no end tag.
var (
	circle = regexp.MustCompile(`d="M(-?[\d.]+),(-?[\d.]+)A([\d.]+),[\d.]+ 0 1 1 -?[\d.]+,-?[\d.]+` +
		`A[\d.]+,[\d.]+ 0 1 1 -?[\d.]+,-?[\d.]+Z"\s+style="fill:([^";]*)(?:;fill-opacity:([\d.]+))?"`)
	straightLine = regexp.MustCompile(`d="M(-?[\d.]+),(-?[\d.]+)L(-?[\d.]+),(-?[\d.]+)"`)
	plainValue   = regexp.MustCompile(`\b((?:class|d|x|y|data-v|text-anchor|scope)=)"([\w.#,-]+) ?"(>| |/)`)
	needless     = regexp.MustCompile(` class=""|</td>`)
)

// shortenPaths shortens the circles and the horizontal and vertical lines of a picture.
func shortenPaths(svg []byte) []byte {
	svg = circle.ReplaceAllFunc(svg, func(path []byte) []byte {
		m := circle.FindSubmatch(path)
		radius := numberOf(m[3])
		out := fmt.Appendf(nil, `d="M%.1f,%.1fh0" style="stroke:%s;stroke-width:%.3g;stroke-linecap:round`,
			numberOf(m[1])-radius, numberOf(m[2]), m[4], 2*radius)
		if len(m[5]) > 0 {
			out = fmt.Appendf(out, ";stroke-opacity:%s", m[5])
		}
		return append(out, '"')
	})
	return straightLine.ReplaceAllFunc(svg, func(path []byte) []byte {
		m := straightLine.FindSubmatch(path)
		switch from := fmt.Sprintf(`d="M%.4g,%.4g`, numberOf(m[1]), numberOf(m[2])); {
		case bytes.Equal(m[1], m[3]):
			return fmt.Appendf(nil, `%sV%.4g"`, from, numberOf(m[4]))
		case bytes.Equal(m[2], m[4]):
			return fmt.Appendf(nil, `%sH%.4g"`, from, numberOf(m[3]))
		}
		return path
	})
}

// numberOf returns a number that a pattern matched.
func numberOf(text []byte) float64 {
	v, _ := strconv.ParseFloat(string(text), 64) // the pattern matches only numbers
	return v
}

// Sort returns the value by which a column is sorted; "" if the text itself is the number.
func (c Cell) Sort() string {
	v, err := strconv.ParseFloat(strings.ReplaceAll(c.Text, ",", ""), 64)
	if !c.Known || err == nil && math.Abs(v-c.Value) <= 0.01*math.Abs(c.Value) {
		return ""
	}
	return fmt.Sprintf("%.9g", c.Value)
}

// shortenPage shortens a page without its script. Quotes occur only in tags, because the template escapes those of texts.
func shortenPage(page []byte) []byte {
	before, script, _ := bytes.Cut(page, []byte("<script>"))
	out := needless.ReplaceAll(plainValue.ReplaceAllFunc(before, func(attribute []byte) []byte {
		m := plainValue.FindSubmatch(attribute)
		out := append(append([]byte{}, m[1]...), m[2]...)
		if m[3][0] == '/' { // without a space the slash would belong to the value
			out = append(out, ' ')
		}
		return append(out, m[3]...)
	}), nil)
	return append(append(out, "<script>"...), script...)
}
