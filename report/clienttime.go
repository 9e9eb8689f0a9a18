package report

import "math"

// clientTime tells where the time of keys goes on the client's side, which the
// original asked for: the ids derived, the wait for the server, the reply
// decoded, the answer assembled. Servers only: an embedded engine works in the
// client's own process, so that its time cannot be told from the client's.
func (rs *results) clientTime(s *Summary) section {
	sec := section{Title: "Where the time of keys goes",
		Lead: "What a question by keys costs the client, in the order in which it comes."}
	t := table{Wide: true, Head: []column{{Name: "archive", Text: true}, {Name: "case", Text: true}, {Name: "ids"}, {Name: "derive", Unit: "ms"},
		{Name: "request", Unit: "ms"}, {Name: "decode", Unit: "ms"}, {Name: "assemble", Unit: "ms"}, {Name: "first row after", Unit: "ms"}}}
	for _, w := range rs.ways {
		if w.Flavour != "keys" && w.Flavour != "keys-native" || !rs.served(w) {
			continue
		}
		for i := range s.Cases {
			c := &s.Cases[i]
			k := c.find(w)
			if k == nil || k.Times == nil || math.IsNaN(float64(k.Times.Client)) {
				continue
			}
			busy, floor := float64(k.Times.Client), c.floor()
			wait := max(0, float64(k.Times.Median)-busy)
			decode := math.NaN()
			if !math.IsNaN(floor) {
				decode = max(0, busy-floor)
			}
			t.Rows = append(t.Rows, row{Cells: []cell{text(w.String()), text(c.Name), value(float64(k.Times.Keys), count(k.Times.Keys)),
				numeric(float64(k.Times.Derive)), numeric(wait), numeric(decode), numeric(floor), numeric(float64(k.Times.FirstRow))}})
		}
	}
	if len(t.Rows) == 0 {
		sec.Lead = "No server of this run was asked by keys."
		return sec
	}
	t.Note = "Medians. Derive: before the call. Request: the time of the call in which the client had nothing to do. Decode: the processor time of the client in the call, its driver and garbage collector included, " +
		"less what assembling takes. Assemble: the floor, which builds the same answer from memory. A client that works on several replies at once can spend more processor time than the call took."
	sec.Table = &t
	return sec
}

// served reports whether the archive of a way is on a server.
func (rs *results) served(w way) bool {
	for i := range rs.run.Archives {
		if a := &rs.run.Archives[i]; a.Engine == w.Engine && a.Design == w.Design {
			return a.Place == "server"
		}
	}
	return false
}

// floor is the median of the client's floor in a case; NaN where it was left out.
func (c *CaseSummary) floor() float64 {
	for i := range c.Cells {
		if k := &c.Cells[i]; k.Floor && k.Times != nil {
			return float64(k.Times.Median)
		}
	}
	return math.NaN()
}
