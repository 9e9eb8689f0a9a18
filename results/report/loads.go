package report

import (
	"math"

	"github.com/barograph/barograph/results/plot"
	"github.com/barograph/barograph/results/run"
)

// loads shows the cost of loading and the sizes of the archives. For an archive that does not
// contain exactly the data it shows neither.
func (rs *results) loads() Section {
	t := table("engine", "design", "load (s)", "rate (records/s)", "rate, of the text (MB/s)", "commits", "on disk (MB)", "per record (bytes)", "of the text (×)", "objects", "of", "digest")
	t.Note = "The load time runs from the first record to the last durable commit. Barograph parsed the files before it, once for all archives, unless they need too much memory. " + none + " in the column load: the archive existed before this run. Of the text: bytes on disk divided by the bytes of the input files."
	d := rs.run.Data
	picture := plot.Rows{
		Frame: plot.Frame{Width: pageWidth, Subtitle: count(d.Records) + " records · " + several(d.Files, "file") + " · " + byteSize(float64(d.Bytes)) + " of text"}, SideBySide: true,
		Panels: []plot.Panel{{Title: "load rate", XLabel: "thousand records/s"}, {Title: "size on disk", XLabel: "MB"}, {Title: "size per record", XLabel: "bytes"}},
	}
	drawn := false
	for _, a := range rs.run.Archives {
		w := Configuration{a.Engine, a.Design, ""}
		l := rs.loadOf(a)
		end := []Cell{numeric(l.disk), numeric(l.disk * 1e6 / float64(d.Records)), numeric(l.disk * 1e6 / float64(d.Bytes)), countCell(a.Objects), text(a.ObjectKind), {Text: "complete", Class: "ok"}}
		if !a.Complete {
			end = []Cell{dim(none), dim(none), dim(none), dim(none), dim(none), bad("differs: incomplete")}
		}
		t.add(rs.class(w), append(append(texts(a.Engine, a.Design), numeric(l.seconds), numeric(float64(d.Records)/l.seconds), numeric(float64(d.Bytes)/1e6/l.seconds), when(l.seconds > 0, countCell(a.Commits), none)), end...)...)
		t.name(anchor("archive", CellKey{w, ""}))
		if a.Place == overheadPlace {
			continue
		}
		for i, v := range []float64{float64(d.Records) / l.seconds / 1e3, l.disk, l.disk * 1e6 / float64(d.Records)} {
			note := "loaded before"
			switch {
			case !a.Complete:
				note = "incomplete"
			case i > 0:
				note = "not known"
			}
			drawn = drawn || !math.IsNaN(v)
			picture.Panels[i].Rows = append(picture.Panels[i].Rows, plot.Row{Label: w.String(), Group: a.Engine, Value: plot.Value{V: v, Note: note}})
		}
	}
	s := Section{ID: "loads", Title: "Loads and sizes", Terminal: true, Table: t}
	if drawn {
		s.Pictures = []Drawing{picture}
	} else if len(t.Rows) == 0 {
		s.Words, s.Terminal = []Words{{"none", "Nothing was loaded."}}, false
	}
	return s
}

// loading is the cost of an archive; NaN = not measured.
type loading struct{ seconds, disk float64 } // MB on disk

func (rs *results) loadOf(a run.Archive) loading {
	l := loading{math.NaN(), math.NaN()}
	if a.Complete && a.Load > 0 {
		l.seconds = a.Load.Seconds()
	}
	if a.Complete && a.Bytes > 0 {
		l.disk = float64(a.Bytes) / 1e6
	}
	return l
}
