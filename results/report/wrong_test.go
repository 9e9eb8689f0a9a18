package report

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
)

// marker is a number that only occurs in measurements.
const marker = 271828182

// allMeasurements returns all possible measurements, each with the number marker.
func allMeasurements() *run.Measured {
	m := &run.Measured{
		Mix: &run.Mix{Series: make([]run.SeriesInterval, 4), Groups: make([]run.Group, 1)}, Posting: &run.Posting{},
		Usage: &run.Usage{Server: &run.ServerLoad{}, Devices: make([]measure.DiskLoad, 1)},
	}
	fillNumbers(reflect.ValueOf(m).Elem())
	m.Place, m.Interval = "server", time.Second
	h := measure.NewHistogram()
	h.Record(marker)
	if err := m.Groups[0].SetTimes(h, h); err != nil {
		panic(err)
	}
	return m
}

func fillNumbers(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		fillNumbers(v.Elem())
	case reflect.Struct:
		for _, field := range v.Fields() {
			fillNumbers(field)
		}
	case reflect.Slice:
		for i := range v.Len() {
			fillNumbers(v.Index(i))
		}
	case reflect.Int, reflect.Int64:
		v.SetInt(marker)
	case reflect.Uint64:
		v.SetUint(marker)
	case reflect.Float64:
		v.SetFloat(marker)
	}
}

// TestWrongResultsLeaveNoNumber: for every workload, one wrong repetition removes the numbers of its cell from the
// terminal and from every file of the folder. Without the wrong repetition all of them have the number.
func TestWrongResultsLeaveNoNumber(t *testing.T) {
	total := func(values ...float64) *answer.Answer {
		var b answer.Builder
		b.Reset([]question.Column{{Name: "total", Role: question.Data, Kind: question.Number}})
		for _, v := range values {
			b.Num(0, v)
			b.Row()
		}
		return b.Take()
	}
	want, digest := total(1, 2), record.Digest{Hi: 1, Lo: 1, Records: 2}
	faults := map[string]func() (answer.Proof, error){
		"a lost row":    func() (answer.Proof, error) { return answer.Compare(want, total(1)) },
		"a flipped bit": func() (answer.Proof, error) { return answer.CompareRecords(digest, record.Digest{Hi: 1, Records: 2}) },
		"a stale read": func() (answer.Proof, error) {
			return answer.CompareAll(answer.Tally{Succeeded: 9, Found: 9, Wrong: 1}, nil)
		},
		"a wrong total": func() (answer.Proof, error) {
			other := total(1, 3)
			return answer.CompareDigest(want, other.Digest(), 2)
		},
		"no proof":  func() (answer.Proof, error) { return answer.Proof{}, nil },
		"no answer": func() (answer.Proof, error) { return answer.Proof{}, errors.New("the connection was lost") },
	}
	config := run.ScanConfig{Paths: 1, Partitions: 4, Workers: 2}
	cells := map[string]run.Cell{
		"met":            run.MetCell("x", "wide", "test_1", "sql"),
		run.MixWorkload:  run.MixCell("x", "columns", "workloada", 4, 0, ""),
		run.PostWorkload: run.PostCell("x", "quiet", "insert", "array96", "bulk"),
		run.ScanWorkload: run.NewCell(run.ScanWorkload, "x", "paths", config.Paths, "partitions", config.Partitions,
			"workers", config.Workers, "design", "", "query", "q3"),
		"faults":        run.NewCell("faults", "x", "design", "wide", "during", run.DuringQuestions),
		run.OwnWorkload: run.OwnCell("x", "q"),
	}
	for workload, cell := range cells {
		numbers := func(t *testing.T, wrong func() (answer.Proof, error)) map[string]int {
			r := run.Run{
				ID: "r", Workload: workload, Cases: []run.Case{{Name: "test_1", Rows: 2}},
				Archives: []run.Archive{{Engine: "x", Design: "wide", Place: "server", Complete: true}},
			}
			if workload == run.ScanWorkload {
				r.Scan = &run.Scan{Configs: []run.ScanConfig{config}}
			}
			f, err := run.Create(t.TempDir(), r)
			right, failed := answer.Compare(want, want)
			if err = errors.Join(err, failed); err != nil {
				t.Fatal(err)
			}
			add := func(p answer.Proof, differs error) {
				s := run.Sample{Cell: cell, Phase: run.Warm, Kill: &run.Kill{}, Answers: &run.Answers{}}
				if err := f.Add(s.Judge(allMeasurements(), p, differs)); err != nil {
					t.Fatal(err)
				}
			}
			if add(right, nil); wrong != nil {
				add(wrong())
			}
			add(right, nil)
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			return countMarkers(t, f.Dir)
		}
		t.Run(workload, func(t *testing.T) {
			found := numbers(t, nil)
			for _, name := range []string{"events.jsonl", "samples.csv", "samples.parquet", "latency.hlog"} {
				if found[name] == 0 {
					t.Errorf("a correct cell has no number in %s: %v", name, found)
				}
			}
			for name, fault := range faults {
				if found := numbers(t, fault); len(found) > 0 {
					t.Errorf("%s leaves numbers: %v", name, found)
				}
			}
		})
	}
}

// countMarkers counts the number marker in every file of a folder, in its report and in the terminal's
// output.
func countMarkers(t *testing.T, dir string) map[string]int {
	t.Helper()
	out := map[string]int{}
	count := func(name string, text []byte) {
		for _, form := range [][]byte{[]byte(strconv.Itoa(marker)), []byte("271,828"), binary.LittleEndian.AppendUint64(nil, marker)} {
			out[name] += bytes.Count(text, form)
		}
		if name == FileName || name == "terminal" { // in ms
			out[name] += len(regexp.MustCompile(`\b272\b`).FindAll(text, -1))
		}
		if name == "latency.hlog" { // compressed
			out[name] += bytes.Count(text, []byte("\nTag="))
		}
		if out[name] == 0 {
			delete(out, name)
		}
	}
	count("terminal", []byte(terminal(t, dir)))
	html(t, dir)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		count(d.Name(), text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
