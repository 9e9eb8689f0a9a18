package report

import (
	"math"

	"barograph/report/plot"
	"barograph/run"
)

// loads is the table of what loading cost and what the archives weigh. An
// archive that does not hold exactly the data shows neither.
func (rs *results) loads() table {
	t := table{Wide: true, Head: []column{
		{Name: "engine", Text: true}, {Name: "design", Text: true}, {Name: "load", Unit: "s"}, {Name: "rate", Unit: "records/s"},
		{Name: "text read", Unit: "MB/s"}, {Name: "commits"}, {Name: "on disk", Unit: "MB"}, {Name: "per record", Unit: "bytes"},
		{Name: "of the text", Unit: "×"}, {Name: "objects"}, {Name: "of", Text: true}, {Name: "digest", Text: true},
	}}
	for _, a := range rs.run.Archives {
		r := row{Cells: []cell{text(a.Engine), text(a.Design)}}
		if a.Place == "memory" {
			r.Class = "floor"
		}
		if !a.Whole {
			for range 9 {
				r.Cells = append(r.Cells, dim(none))
			}
			r.Cells = append(r.Cells, cell{Text: "differs: incomplete", Class: "bad"})
			t.Rows = append(t.Rows, r)
			continue
		}
		l := rs.loadOf(a)
		for _, v := range []float64{l.seconds, l.records, l.text} {
			r.Cells = append(r.Cells, numeric(v))
		}
		commits := dim(none)
		if a.Load > 0 {
			commits = value(float64(a.Commits), count(a.Commits))
		}
		r.Cells = append(r.Cells, commits, numeric(l.disk), numeric(l.each), numeric(l.share),
			value(float64(a.Objects), count(a.Objects)), text(a.Object), cell{Text: "whole", Class: "ok"})
		t.Rows = append(t.Rows, r)
	}
	t.Note = "A load runs from the first byte read to the last durable commit. " + none + " under load: the archive was there before this run. " +
		"Of the text: bytes on disk divided by the bytes of the input files."
	return t
}

func numeric(v float64) cell {
	if math.IsNaN(v) {
		return dim(none)
	}
	return value(v, number(v))
}

// loading is what an archive cost; NaN = not measured.
type loading struct{ seconds, records, text, disk, each, share float64 }

func (rs *results) loadOf(a run.Archive) loading {
	n := math.NaN()
	l := loading{n, n, n, n, n, n}
	d := rs.run.Data
	if !a.Whole {
		return l
	}
	if a.Load > 0 {
		l.seconds = a.Load.Seconds()
		l.records, l.text = float64(d.Records)/l.seconds, float64(d.Bytes)/1e6/l.seconds
	}
	if a.Bytes > 0 {
		l.disk = float64(a.Bytes) / 1e6
		if d.Records > 0 {
			l.each = float64(a.Bytes) / float64(d.Records)
		}
		if d.Bytes > 0 {
			l.share = float64(a.Bytes) / float64(d.Bytes)
		}
	}
	return l
}

// loadPicture draws rates and sizes; nil where there is nothing to draw.
func (rs *results) loadPicture() ([]byte, error) {
	b := plot.Bars{
		Frame: plot.Frame{Width: pictureWidth, Subtitle: rs.dataInWords()},
		Measures: []plot.Measure{
			{Name: "load rate", XLabel: "thousand records/s"}, {Name: "size on disk", XLabel: "MB"}, {Name: "size per record", XLabel: "bytes"},
		},
		Groups: rs.engines(),
	}
	drawn := false
	for _, a := range rs.run.Archives {
		if a.Place == "memory" {
			continue
		}
		l := rs.loadOf(a)
		b.Rows = append(b.Rows, plot.BarRow{Label: a.Engine + " · " + a.Design, Group: a.Engine})
		for i, v := range []float64{l.records / 1e3, l.disk, l.each} {
			note := "loaded before"
			switch {
			case !a.Whole:
				note = "incomplete"
			case i > 0:
				note = "not known"
			}
			drawn = drawn || !math.IsNaN(v)
			b.Measures[i].Values = append(b.Measures[i].Values, plot.Value{V: v, Note: note})
		}
	}
	if !drawn {
		return nil, nil
	}
	return b.SVG()
}

// dataInWords is a line about the data, for subtitles.
func (rs *results) dataInWords() string {
	d := rs.run.Data
	return count(d.Records) + " records · " + several(d.Files, "file") + " · " + byteSize(float64(d.Bytes)) + " of text"
}
