package report

import (
	"math"
	"slices"

	"github.com/barograph/barograph/results/plot"
	"github.com/barograph/barograph/results/run"
)

// loads shows the cost of loading and the sizes of the archives. For an archive that does not contain exactly the data it
// shows neither.
func (rs *results) loads() Section {
	t := table("engine", "design", "load (s)", "rate (records/s)", "text rate (MB/s)", "commits", "on disk (MB)",
		"per record (bytes)", "of the text (×)", "objects", "kind", "digest")
	t.Note = prose("load table")
	d := rs.run.Data
	files := several(d.Files, "file") + " · " + byteSize(float64(d.Bytes)) + " of text"
	picture := plot.Rows{
		Frame: plot.Frame{Width: pageWidth, Subtitle: count(d.Records) + " records · " + files}, SideBySide: true,
		Panels: []plot.Panel{
			{Title: "load rate", XLabel: "thousand records/s"}, {Title: "size on disk", XLabel: "MB"},
			{Title: "size per record", XLabel: "bytes"},
		},
	}
	drawn := false
	for _, a := range rs.run.Archives {
		archive, cost := Configuration{a.Engine, a.Design, ""}, costOf(a)
		rate, perRecord := float64(d.Records)/cost.seconds, cost.disk*1e6/float64(d.Records)
		load := []Cell{
			numeric(cost.seconds), numeric(rate), numeric(float64(d.Bytes) / 1e6 / cost.seconds),
			when(cost.seconds > 0, countCell(a.Commits), none),
		}
		size := []Cell{
			numeric(cost.disk), numeric(perRecord), numeric(cost.disk * 1e6 / float64(d.Bytes)), countCell(a.Objects),
			text(a.ObjectKind), {Text: "complete", Class: "ok"},
		}
		if !a.Complete {
			size = append(slices.Repeat([]Cell{dim(none)}, len(size)-1), bad("differs: incomplete"))
		}
		t.add(rs.class(archive), slices.Concat(texts(a.Engine, a.Design), load, size)...)
		t.setAnchor(anchor("archive", CellKey{archive, ""}))
		if a.Place == overheadPlace {
			continue
		}
		for i, v := range []float64{rate / 1e3, cost.disk, perRecord} {
			note := "loaded before"
			switch {
			case !a.Complete:
				note = "incomplete"
			case i > 0:
				note = "not known"
			}
			drawn = drawn || !math.IsNaN(v)
			row := plot.Row{Label: archive.String(), Group: a.Engine, Value: plot.Value{V: v, Note: note}}
			picture.Panels[i].Rows = append(picture.Panels[i].Rows, row)
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

// archiveCost is the load time of an archive in seconds and its size on disk in MB; NaN = not measured.
type archiveCost struct{ seconds, disk float64 }

// costOf returns the cost of an archive. An incomplete archive has none.
func costOf(a run.Archive) archiveCost {
	cost := archiveCost{math.NaN(), math.NaN()}
	if a.Complete && a.Load > 0 {
		cost.seconds = a.Load.Seconds()
	}
	if a.Complete && a.Bytes > 0 {
		cost.disk = float64(a.Bytes) / 1e6
	}
	return cost
}
