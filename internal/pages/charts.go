package main

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/barograph/barograph/results/plot"
	"github.com/barograph/barograph/results/report"
)

// addPicture stores a picture next to the page and returns the Markdown that shows it.
func (p *page) addPicture(file, title string, svg []byte, err error) (string, error) {
	if err != nil {
		return "", fmt.Errorf("%s: %w", file, err)
	}
	if !regexp.MustCompile(`^[a-z0-9-]+$`).MatchString(file) {
		return "", fmt.Errorf("%q is no name of a picture: use small letters, digits and -", file)
	}
	file = p.name + "-" + file + ".svg"
	if p.files[file] != nil {
		return "", fmt.Errorf("the page has two pictures %s", file)
	}
	p.files[file] = svg
	return "![" + title + "](" + file + ")", nil
}

func valueOf(x any) (plot.Value, error) {
	n, err := toNumber(x)
	v := plot.Value{V: n.Value, Lo: n.Low, Hi: n.High, Note: n.Note}
	if n.Note != "" || math.IsNaN(n.Low) || math.IsNaN(n.High) {
		v.Lo, v.Hi = 0, 0 // plot's form of a value without an interval
	}
	return v, err
}

// bar is a row of a panel. group determines its color: an engine, or "original".
func bar(label, group string, value any) (plot.Row, error) {
	v, err := valueOf(value)
	return plot.Row{Label: label, Group: group, Value: v}, err
}

func panel(title string, rows []any) (out plot.Panel, err error) {
	out.Title = title
	for _, r := range rows {
		row, ok := r.(plot.Row)
		if !ok {
			return out, errors.New("a panel has bars only")
		}
		out.Rows = append(out.Rows, row)
	}
	return out, nil
}

// wordsOf splits options into words, and returns an error for a word that is not known.
func wordsOf(options string, known ...string) (words []string, err error) {
	for w := range strings.FieldsSeq(options) {
		if !slices.Contains(known, w) {
			return nil, fmt.Errorf("the option %q is not known; choose from %q", w, known)
		}
		words = append(words, w)
	}
	return words, nil
}

// bars draws panels of named values. Options are words: log, sidebyside (panels), own (scales).
func (p *page) bars(file, title, subtitle, xlabel, unit, options string, panels []any) (string, error) {
	words, err := wordsOf(options, "log", "sidebyside", "own")
	if err != nil {
		return "", fmt.Errorf("%s: %w", file, err)
	}
	rows := plot.Rows{
		Frame: plot.Frame{Title: title, Subtitle: subtitle, XLabel: xlabel}, Unit: unit, Log: slices.Contains(words, "log"),
		SideBySide: slices.Contains(words, "sidebyside"), OwnScales: slices.Contains(words, "own"),
	}
	for _, x := range panels {
		q, ok := x.(plot.Panel)
		if !ok {
			return "", errors.New("bars draws panels only")
		}
		rows.Panels = append(rows.Panels, q)
	}
	svg, err := rows.Draw()
	return p.addPicture(file, title, svg, err)
}

// curve is values over sizes, threads or hours. A missing value makes a gap.
func curve(name, group string, at, values []any) (out plot.Curve, err error) {
	out = plot.Curve{Name: name, Group: group}
	if len(at) != len(values) {
		return out, fmt.Errorf("the curve %s has %d values at %d places", name, len(values), len(at))
	}
	for i := range at {
		x, err := toNumber(at[i])
		if err != nil {
			return out, err
		}
		v, err := valueOf(values[i])
		if err != nil {
			return out, err
		}
		if v.Note != "" {
			v.V = math.NaN()
		}
		out.Add(x.Value, v)
	}
	return out, nil
}

// lines draws curves. Options are words: sizes (both axes are logarithmic), log (the axis of values is).
func (p *page) lines(file, title, subtitle, xlabel, ylabel, options string, curves []any) (string, error) {
	words, err := wordsOf(options, "sizes", "log")
	if err != nil {
		return "", fmt.Errorf("%s: %w", file, err)
	}
	frame := plot.Frame{Title: title, Subtitle: subtitle, XLabel: xlabel, YLabel: ylabel}
	l := plot.Lines{Frame: frame, Coordinate: plot.Numbers}
	if slices.Contains(words, "sizes") {
		l.Coordinate = plot.Sizes
	}
	if slices.Contains(words, "log") {
		l.LogAbove = 1
	}
	for _, x := range curves {
		c, ok := x.(plot.Curve)
		if !ok {
			return "", errors.New("lines draws curves only")
		}
		l.Curves = append(l.Curves, c)
	}
	svg, err := l.Draw()
	return p.addPicture(file, title, svg, err)
}

// columnGroup is an engine's bars: labels, the values of the bars, and those of the line over them.
func columnGroup(name string, labels []string, values, line []any) (out plot.Group, err error) {
	out.Name = name
	if len(labels) != len(values) || len(labels) != len(line) {
		return out, fmt.Errorf("the group %s has %d labels, %d values, %d values of its line",
			name, len(labels), len(values), len(line))
	}
	for i, label := range labels {
		v, err := valueOf(values[i])
		if err != nil {
			return out, err
		}
		n, err := toNumber(line[i])
		if err != nil {
			return out, err
		}
		out.Bars = append(out.Bars, plot.Bar{Label: label, Value: v, Line: n.Value})
	}
	return out, nil
}

// columns draws throughput as bars and a latency as a line over them.
func (p *page) columns(file, title, subtitle, ylabel, right, barUnit string, groups []any) (string, error) {
	c := plot.Columns{
		Frame: plot.Frame{Title: title, Subtitle: subtitle, YLabel: ylabel}, RightLabel: right, BarUnit: barUnit,
		BarName: ylabel, LineName: right,
	}
	for _, x := range groups {
		g, ok := x.(plot.Group)
		if !ok {
			return "", errors.New("columns draws groups only")
		}
		c.Groups = append(c.Groups, g)
	}
	svg, err := c.Draw()
	return p.addPicture(file, title, svg, err)
}

// layers stacks values over time, for example the sessions of a server by what they wait for.
func (p *page) layers(file, title, subtitle, ylabel string, step any, all []any) (string, error) {
	n, err := toNumber(step)
	if err != nil {
		return "", err
	}
	l := plot.Layers{Frame: plot.Frame{Title: title, Subtitle: subtitle, XLabel: "seconds", YLabel: ylabel}, Step: n.Value}
	for _, x := range all {
		layer, ok := x.(plot.Layer)
		if !ok {
			return "", errors.New("layers draws layers only")
		}
		l.Layers = append(l.Layers, layer)
	}
	svg, err := l.Draw()
	return p.addPicture(file, title, svg, err)
}

// drawing is a picture of the report of a run folder, by the title of its section and its position there. alt is the
// text for readers who do not see the picture: what it shows.
func (p *page) drawing(file, name, title string, position int, alt string) (string, error) {
	r, err := report.Open(filepath.Join(p.expanded, name))
	if err != nil {
		return "", err
	}
	var titles []string
	var find func(sections []report.Section) report.Drawing
	find = func(sections []report.Section) report.Drawing {
		for i := range sections {
			s := &sections[i]
			if len(s.Pictures) > 0 {
				titles = append(titles, s.Title)
			}
			if s.Title == title && position < len(s.Pictures) {
				return s.Pictures[position]
			}
			if d := find(s.Parts); d != nil {
				return d
			}
		}
		return nil
	}
	d := find(r.Sections)
	if d == nil {
		return "", fmt.Errorf("the report of %s has no picture %d of %q among %q", name, position, title, titles)
	}
	svg, err := d.Draw()
	return p.addPicture(file, alt, svg, err)
}
