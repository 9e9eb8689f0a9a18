package main

import (
	"errors"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/run"
)

// proof proves a result with a number of rows.
func proof(t *testing.T, rows int64) answer.Proof {
	t.Helper()
	d := record.Digest{Hi: 1, Records: rows}
	p, err := answer.CompareRecords(d, d)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestIncorrectRepetition: a cell with a wrong or failed repetition shows this verdict, whatever the other repetitions
// are and in whichever order they ran.
func TestIncorrectRepetition(t *testing.T) {
	p := &page{name: "x", expanded: t.TempDir(), folders: map[string]*folder{}}
	type repetition struct {
		phase   run.Phase
		verdict run.Verdict
		rows    int64
	}
	for i, c := range []struct {
		all        []repetition
		warm, cold string
	}{
		{[]repetition{{run.Warm, run.Equal, 1}, {run.Warm, run.Equal, 1}}, "2.00", notMeasured},
		{[]repetition{{run.Warm, run.Wrong, 0}, {run.Warm, run.Equal, 1}}, "wrong", notMeasured},
		{[]repetition{{run.Warm, run.Failed, 0}, {run.Warm, run.Equal, 1}}, "failed", notMeasured},
		{[]repetition{{run.Warm, run.Equal, 1}, {run.Warm, run.Failed, 0}}, "failed", notMeasured},
		{[]repetition{{run.Cold, run.Wrong, 0}, {run.Warm, run.Equal, 1}}, "wrong", "wrong"},
		{[]repetition{{run.Cold, run.Failed, 0}, {run.Warm, run.Equal, 1}}, "2.00", "failed"},
		{[]repetition{{run.Cold, run.Equal, 1}, {run.Warm, run.Failed, 0}}, "failed", "failed"},
		{[]repetition{{run.Warm, run.Equal, 0}}, "no rows", notMeasured},
		{[]repetition{{run.Cold, run.Failed, 0}, {run.Warm, run.Equal, 0}}, "no rows", "failed"},
	} {
		name := strconv.Itoa(i)
		f, err := run.Create(filepath.Join(p.expanded, name), run.Run{ID: name, Workload: "met"})
		if err != nil {
			t.Fatal(err)
		}
		for rep, x := range c.all {
			s := run.Sample{Cell: run.MetCell("duckdb", "wide", "q", "sql"), Phase: x.phase, Rep: rep}
			switch x.verdict {
			case run.Wrong:
				s = s.Judge(nil, answer.Proof{}, &answer.Diff{Problem: "a value differs"})
			case run.Failed:
				s = s.Judge(nil, answer.Proof{}, errors.New("no answer"))
			default:
				m := &run.Measured{Total: 2 * time.Millisecond}
				if x.rows == 0 {
					m = nil
				}
				s = s.Judge(m, proof(t, x.rows), nil)
			}
			if err := f.Add(s); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		warm, err := p.try(name, "total_ns", "engine=duckdb")
		cold, err2 := p.try(name, "total_ns", "engine=duckdb", "phase=cold")
		if errors.Join(err, err2) != nil || warm.String() != c.warm || cold.String() != c.cold {
			t.Errorf("%v: %s and %s, want %s and %s; %v, %v", c.all, warm, cold, c.warm, c.cold, err, err2)
		}
	}
	if _, err := p.value("none", "total_ns"); err == nil || !strings.Contains(err.Error(), "no kept run folder none") {
		t.Errorf("a missing folder: %v", err)
	}
}

// TestUncounted: a repetition without counters of the server does not count for them, and is timed nevertheless. A counter
// that is not among the others is 0, if another repetition has it.
func TestUncounted(t *testing.T) {
	f := &folder{}
	counter := func(name string, n float64) map[string]any { return map[string]any{"name": name, "value": n} }
	for rep, counted := range [][]any{nil, {counter("reads", 10)}, {counter("reads", 20), counter("writes", 4)}} {
		measured := map[string]any{"total_ns": 2e6, "server": map[string]any{}}
		if counted != nil {
			measured["server"] = map[string]any{"counters": counted}
		}
		for cell, m := range map[string]map[string]any{"sql": measured, "keys": {"total_ns": 2e6, "server": map[string]any{}}} {
			s := run.Sample{Cell: run.MetCell("duckdb", "wide", "q", cell), Phase: run.Warm, Rep: rep}
			f.samples = append(f.samples, s.Judge(&run.Measured{}, proof(t, 1), nil))
			f.values = append(f.values, map[string]any{"measured": m})
		}
	}
	p := &page{name: "x", expanded: t.TempDir(), folders: map[string]*folder{"f": f}}
	if err := writeFile(filepath.Join(p.expanded, "f", run.DescriptionFile), nil); err != nil {
		t.Fatal(err)
	}
	const quantity = "server.counters[name=reads].value"
	if n, err := p.value("f", quantity, "flavour=sql"); err != nil || n.Value != 15 || n.N != 2 {
		t.Errorf("counted twice: %+v, %v", n, err)
	}
	if n, err := p.value("f", "server.counters[name=writes].value", "flavour=sql"); err != nil || n.Value != 2 {
		t.Errorf("unchanged in one repetition: %+v, %v", n, err)
	}
	if n, err := p.value("f", quantity, "flavour=keys"); err != nil || n.String() != "not counted" {
		t.Errorf("never counted: %s, %v", n, err)
	}
	if n, err := p.value("f", "total_ns", "flavour=sql"); err != nil || n.N != 3 {
		t.Errorf("timed: %+v, %v", n, err)
	}
	if _, err := p.value("f", "server.counters[name=x].value", "flavour=sql"); err == nil {
		t.Error("an unknown counter is no error")
	}
}

// TestAbsentQuantities: JSON omits zeros, so a quantity that some samples lack is 0 there. One that all lack is
// mistyped, and what is not a single number is an error.
func TestAbsentQuantities(t *testing.T) {
	f := &folder{runJSON: map[string]any{"archives": []any{
		map[string]any{"engine": "a", "bytes": 5.0}, map[string]any{"engine": "a", "bytes": 6.0},
	}}}
	cell := func(design string) run.Cell { return run.MetCell("duckdb", design, "q", "sql") }
	for rep, x := range []struct {
		design            string
		answers, measured map[string]any
	}{
		{"wide", map[string]any{"found": 3.0}, map[string]any{
			"values": 6.0, "post": map[string]any{"total_ns": 2e9},
			"groups": []any{map[string]any{"name": "x", "n": 1.0}, map[string]any{"name": "x", "n": 2.0}},
			"series": []any{map[string]any{"ended": 4.0}, map[string]any{}},
		}},
		{"wide", map[string]any{}, map[string]any{
			"values": 4.0, "post": map[string]any{"total_ns": 3e9}, "series": []any{map[string]any{}},
		}},
		{"tall", map[string]any{"found": 5.0}, nil},
	} {
		s := run.Sample{Cell: cell(x.design), Phase: run.Warm, Rep: rep}
		var m *run.Measured
		values := map[string]any{"answers": x.answers, "text": "t"}
		if x.measured != nil {
			m, values["measured"] = &run.Measured{}, x.measured
		}
		f.samples, f.values = append(f.samples, s.Judge(m, proof(t, 1), nil)), append(f.values, values)
	}
	p := &page{name: "x", expanded: t.TempDir(), folders: map[string]*folder{"f": f}}
	if err := writeFile(filepath.Join(p.expanded, "f", run.DescriptionFile), nil); err != nil {
		t.Fatal(err)
	}
	for quantity, want := range map[string]float64{"answers.found": 8, "values": 10, "post.total_ns": 5000} {
		if n, err := p.total("f", quantity); err != nil || n.Value != want {
			t.Errorf("total %s: %v, %v, want %v", quantity, n, err, want)
		}
	}
	for _, quantity := range []string{"answers.fuond", "vlaues", "groups[name=x].n", "text", "answers.found.more", "values[a=b]"} {
		if n, err := p.total("f", quantity); err == nil {
			t.Errorf("total %s: %v", quantity, n)
		}
	}
	if all, err := p.each("f", "series[].ended", "design=wide"); err != nil || len(all) != 3 || all[0].(number).Value != 4 || all[1].(number).Value != 0 {
		t.Errorf("each: %v, %v", all, err)
	}
	if all, err := p.each("f", "series[].edned", "design=wide"); err == nil {
		t.Errorf("each: %v", all)
	}
	if n, err := p.rate("f", "design=wide"); err != nil || n.Value != 2 {
		t.Errorf("rate: %v, %v", n, err)
	}
	if n, err := p.rate("f", "design=tall"); err != nil || n.Note != notMeasured {
		t.Errorf("rate without a measurement: %v, %v", n, err)
	}
	tryField := p.functions()["tryField"].(func(name, path string) (number, error))
	if n, err := tryField("f", "archives[engine=b].bytes"); err != nil || n.Note != notMeasured {
		t.Errorf("tryField: %v, %v", n, err)
	}
	if n, err := tryField("f", "archives[engine=a].bytes"); err == nil {
		t.Errorf("tryField of two members: %v", n)
	}
}

// TestLawOfOneCell: a law over several configurations is an error. A law of few repetitions at two sizes has no
// interval, and the page says so.
func TestLawOfOneCell(t *testing.T) {
	p := &page{name: "x", expanded: t.TempDir(), folders: map[string]*folder{}}
	for _, n := range []float64{1, 2} {
		f := &folder{}
		for _, design := range []string{"wide", "document"} {
			for rep := range 3 {
				s := run.Sample{Cell: run.MetCell("duckdb", design, "q", "sql"), Phase: run.Warm, Rep: rep}
				f.samples = append(f.samples, s.Judge(&run.Measured{}, proof(t, 1), nil))
				f.values = append(f.values, map[string]any{"measured": map[string]any{"total_ns": n * float64(1e6+rep)}})
			}
		}
		p.folders["days-"+strconv.Itoa(int(n))] = f
	}
	sizes := []string{"1", "2"}
	if l, err := p.law("days-%s", sizes, "total_ns", "engine=duckdb"); err == nil || !strings.Contains(err.Error(), "2 cells") {
		t.Errorf("a law of two designs: %+v, %v", l.Exponent, err)
	}
	l, err := p.law("days-%s", sizes, "total_ns", "engine=duckdb", "design=wide")
	if err != nil || math.Abs(l.Exponent.Value-1) > 1e-9 {
		t.Fatalf("%+v, %v", l.Exponent, err)
	}
	far, err := project(l, 4)
	text, err2 := interval(far)
	if exponent, err3 := interval(l.Exponent); errors.Join(err, err2, err3) != nil || text != "no interval" || exponent != "no interval" {
		t.Errorf("%s, %s; %v, %v, %v", exponent, text, err, err2, err3)
	}
}
