package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize/english"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/results/plot"
	"github.com/barograph/barograph/results/run"
)

// maxSeries is the maximum number of series in a picture with a row for each model, variable and
// obtype. With more series, the picture has a row for each model.
const maxSeries = 150

// coverage draws the picture of the valid times of archives or files.
func coverage(all []subsetContents) plot.Coverage {
	g := plot.Coverage{Frame: plot.Frame{
		Title: "Valid times of the records", XLabel: "fcst_valid_beg (UTC)",
		Caption: "White between gray edges: missing times, by the step of the series. " +
			"Each row is a model and variable (all levels, regions and leads).",
	}}
	series, records := 0, int64(0)
	for i := range all {
		series, records = series+len(all[i].catalog.Groups), records+all[i].Records
	}
	names := lists.Map(all, func(s subsetContents) string { return cmp.Or(s.Archive, run.CountOf(s.Files, "file")) })
	g.Subtitle = strings.Join(slices.Compact(names), ", ") + " · " + run.CountOf(records, "record")
	label := func(s *design.Group) string {
		if s.ObType == s.Model { // verified against its own analysis
			return s.Model + " " + s.FcstVar
		}
		return s.Model + " " + s.FcstVar + " " + s.ObType
	}
	if series > maxSeries {
		label = func(s *design.Group) string { return s.Model }
		g.Caption = strings.Replace(g.Caption, "model and variable (all levels,", "model (all variables, levels,", 1)
	}
	for i := range all {
		for _, t := range all[i].Types {
			title := t.LineType
			if len(all) > 1 {
				title = strings.TrimSpace(all[i].Design+" "+all[i].Subset) + " · " + title
			}
			g.Panels = append(g.Panels, plot.CoveragePanel{Title: title, Rows: coverageRows(all[i].catalog, t.LineType, label)})
			if rows := leadRows(all[i].LeadHoles, t.LineType); len(rows) > 0 {
				g.Panels = append(g.Panels, plot.CoveragePanel{Title: title + " · leads that lack times", Rows: rows})
			}
		}
	}
	return g
}

// coverageRows returns the rows of a line type. Series with the same label share a row.
func coverageRows(c *design.Catalog, lineType string, label func(*design.Group) string) (rows []plot.CoverageRow) {
	times, models := map[string]design.Moments{}, map[string]string{}
	for _, s := range c.Groups {
		if name := label(s); s.LineType == lineType && s.Digest.Records > 0 {
			times[name], models[name] = append(times[name], s.Valid...), s.Model
		}
	}
	for name, valid := range times {
		slices.Sort(valid)
		valid = slices.Compact(valid)
		step, missing := valid.Step(), int64(0)
		for _, hole := range valid.Gaps(step) {
			missing += hole.Missing
		}
		note := plot.TimesNote(len(valid), int(missing))
		rows = append(rows, plot.CoverageRow{Label: name, Group: models[name], Runs: plot.PeriodsOf(valid, step), Note: note})
	}
	slices.SortFunc(rows, func(a, b plot.CoverageRow) int { return cmp.Compare(a.Label, b.Label) })
	return rows
}

// maxLeads limits the rows of leads in a panel, the lead holes that show lists, and the days of each.
const maxLeads = 12

// leadRows returns a row for each lead of a line type that lacks times.
func leadRows(holes []design.LeadHole, lineType string) (rows []plot.CoverageRow) {
	for _, h := range holes {
		if h.LineType == lineType && len(rows) < maxLeads {
			rows = append(rows, plot.CoverageRow{
				Label: h.Model + " " + leadText(h), Group: h.Model,
				Runs: plot.PeriodsOf(h.Present, h.Present.Step()), Note: plot.TimesNote(len(h.Present), len(h.Missing)),
			})
		}
	}
	return rows
}

// leadText formats leads that lack the same times: "6, 12 h".
func leadText(h design.LeadHole) string {
	return strings.Join(question.FormatLeads(h.Leads), ", ") + " h"
}

// printLeads lists the leads of a line type that lack times, with the days.
func printLeads(w io.Writer, holes []design.LeadHole, lineType string) {
	holes = lists.Filter(holes, func(h design.LeadHole) bool { return h.LineType == lineType })
	for _, h := range holes[:min(len(holes), maxLeads)] {
		days := lists.Map(h.Missing, func(t int64) string { return time.Unix(t, 0).UTC().Format(time.DateOnly) })
		days = slices.Compact(days)
		more := ""
		if len(days) > maxLeads {
			days, more = days[:maxLeads], " and "+run.CountOf(len(days)-maxLeads, "more day")
		}
		fmt.Fprintf(w, "  lead hole\t%s %s: %d of %s %s missing, on %s%s\n", h.Model, leadText(h), len(h.Missing),
			run.CountOf(h.Expected, "time"), english.PluralWord(len(h.Missing), "is", "are"), strings.Join(days, ", "), more)
	}
	if more := len(holes) - maxLeads; more > 0 {
		fmt.Fprintf(w, "  lead hole\t… and %d more\n", more)
	}
}
