package report

import "fmt"

// difference is a cell that gave no right answer, with what is known of it.
type difference struct {
	ID, Case, Way, Verdict, Problem string
}

// proof is the matrix of verdicts, ways down, cases across.
func (rs *results) proof() (table, []difference) {
	t := table{Head: []column{{Name: "engine", Text: true}, {Name: "design", Text: true}, {Name: "flavour", Text: true}}}
	for _, c := range rs.cases {
		t.Head = append(t.Head, column{Name: c.Name, Unit: several(c.Rows, "row")})
	}
	var diffs []difference
	for _, w := range rs.ways {
		r := row{Cells: []cell{text(w.Engine), text(w.Design), text(w.Flavour)}}
		if rs.floor(w.Engine, w.Design) {
			r.Class = "floor"
		}
		for _, c := range rs.cases {
			res := rs.at(w, c.Name)
			k := res.verdict()
			if res.state == wrong || res.state == failed {
				d := difference{fmt.Sprintf("diff-%d", len(diffs)+1), c.Name, w.String(), res.state.String(), res.problem}
				diffs = append(diffs, d)
				k.Link = "#" + d.ID
			}
			r.Cells = append(r.Cells, k)
		}
		t.Rows = append(t.Rows, r)
	}
	return t, diffs
}

// verdict is the cell of the matrix: its state, and the rows that came.
func (r *result) verdict() cell {
	rows := ""
	if r.rows >= 0 {
		rows = count(r.rows)
	}
	switch r.state {
	case equal:
		return cell{Text: "= " + rows, Class: "ok"}
	case wrong:
		return cell{Text: "wrong " + rows, Class: "bad"}
	case failed:
		return cell{Text: "failed", Class: "bad"}
	case incomplete:
		return cell{Text: "incomplete", Class: "bad"}
	case untimed:
		return dim("not timed")
	}
	return dim(none)
}
