package report

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
)

// makeRun returns a small run with every possible outcome of a cell:
//
//	test_1  all equal, duckdb wide and sqlite close to each other
//	test_2  sqlite wrong in its third repetition, after two fast ones
//	test_3  pebble cannot express it; sqlite failed; duckdb keys
//
// mongodb's archive is incomplete, although its times are the shortest of all.
func makeRun() (run.Run, []cellPlan) {
	r := run.Run{
		ID: "20261120-120000-met", Workload: "met", Version: "v0.1.0", Args: []string{"met", "my data", "--engine", "duckdb"}, Seed: 7,
		Started: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC), Finished: time.Date(2026, 11, 20, 12, 3, 4, 0, time.UTC),
		Machine: measure.Machine{
			CPU: "Example CPU", Cores: 2, Threads: 4, UsableCPUs: 4, Memory: 16e9,
			OS: "debian 12", Kernel: "linux 6.1 x86_64", Go: "go1.26", Arch: "amd64",
			Disk: measure.Disk{Type: "ext4", Total: 500e9, Free: 100e9},
		},
		Client: measure.ClientLoad{
			Wall: 180 * time.Second, User: 60 * time.Second, System: 5 * time.Second, Cores: 4, PeakRSS: 300e6, GCs: 90,
			GCPause: 9 * time.Millisecond, GCPauseMax: time.Millisecond,
		},
		Data: run.Data{
			Source: "synthetic", Subset: "archive", Files: 3, Bytes: 80e6, Lines: 493521, Records: 493520, Quarantined: 1,
			ByType: map[string]int64{"SAL1L2": 400000, "VAL1L2": 93520}, Digest: "d1/493520",
		},
		Cases: []run.Case{
			{Name: "test_1", Title: "one series", LineType: "SAL1L2", Rows: 848, Bytes: 75472, Columns: []string{"a"}},
			{Name: "test_2", Title: "all levels", LineType: "SAL1L2", Rows: 16960, Bytes: 1483152, Columns: []string{"a"}},
			{Name: "test_3", Title: "die-off", LineType: "SAL1L2", Rows: 28718, Bytes: 2527184, Columns: []string{"a"}},
		},
		Reps: reps, PlannedReps: 30, Warmups: 1, ColdMethod: "new process per answer; files dropped",
		Warnings: []string{"1 of 493521 lines could not be read"},
	}
	archive := func(engine, design, place string, load time.Duration, bytes int64) {
		r.Archives = append(r.Archives, run.Archive{
			Engine: engine, Design: design, Place: place, URL: engine + ":x", Product: engine, Version: "1.0", Load: load,
			Commits: 2, Bytes: bytes, Objects: 493520, ObjectKind: "rows", Digest: "d1/493520", Complete: true,
		})
	}
	archive("dry", "memory", "memory", 2*time.Second, 0)
	archive("duckdb", "wide", "embedded", 4*time.Second, 16.5e6)
	archive("duckdb", "document", "embedded", 5*time.Second, 10e6)
	archive("sqlite", "normalized", "embedded", 8*time.Second, 110e6)
	archive("pebble", "keyvalue", "embedded", 0, 31.6e6)
	archive("mongodb", "document", "server", 3*time.Second, 70e6)
	r.Archives[5].Server = &run.Server{
		Nodes: 3, Profile: "tuned", Settings: map[string]string{"cache": "1GB"}, Memory: 4e9,
		Isolation: &run.Isolation{CPUs: 0.5, Memory: 2e9, Latency: 500 * time.Microsecond},
	}
	broken := &r.Archives[len(r.Archives)-1]
	broken.Complete, broken.Digest, broken.Problem = false, "d2/345464", "the archive contains 345464 records, the data 493520"
	return r, cellPlans()
}

const reps = 11

// cellPlan describes a cell's outcome in every repetition.
type cellPlan struct {
	CellKey
	ms, noise float64
	derive    time.Duration
	keys      int
	cold      float64
	wrongAt   int // repetition; −1 = never
	failedAt  int
	rows      int
}

func (c *cellPlan) key() run.Cell { return run.MetCell(c.Engine, c.Design, c.Case, c.Flavour) }

// access returns how the plan of a cell reads stored data.
func (c *cellPlan) access() []run.Access {
	scan := run.Access{Object: "t_" + c.Design, Method: "full scan", Examined: 400000, Kept: int64(c.rows), Counted: true}
	switch {
	case c.Engine == "sqlite":
		scan.Kept = -1
		return []run.Access{scan, {Object: "stat_header", Method: "key lookup", Index: "INTEGER PRIMARY KEY", Examined: -1, Kept: -1}}
	case c.Engine == "mongodb":
		return nil // as in a run of an earlier version
	case c.Flavour == "keys" || c.Flavour == "keys-native" || c.Flavour == "recall":
		return []run.Access{{Object: "t_" + c.Design, Method: "key lookup", Index: "key", Examined: 16, Kept: 16, Counted: true}}
	case c.Flavour == "epoch-range":
		scan.Method, scan.Examined = "pruned scan", int64(2*c.rows)
	}
	return []run.Access{scan}
}

func cellPlans() []cellPlan {
	var out []cellPlan
	rows := map[string]int{"test_1": 848, "test_2": 16960, "test_3": 28718}
	add := func(name, engine, design, flavour string, ms float64) *cellPlan {
		out = append(out, cellPlan{
			CellKey: CellKey{Configuration{engine, design, flavour}, name}, ms: ms, noise: 0.03, wrongAt: -1, failedAt: -1,
			rows: rows[name],
		})
		return &out[len(out)-1]
	}
	for i, name := range []string{"test_1", "test_2", "test_3"} {
		size := math.Pow(6, float64(i))
		add(name, "dry", "memory", "recall", 0.05*size)
		add(name, "duckdb", "wide", "sql", 9*size)
		add(name, "duckdb", "wide", "epoch-range", 3*size).cold = 60 * size
		add(name, "duckdb", "document", "iso-list", 14*size)
		add(name, "duckdb", "document", "iso-range", 12*size)
		add(name, "duckdb", "document", "epoch-range", 12*size)
		k := add(name, "duckdb", "document", "keys", 20*size)
		k.derive, k.keys = 90*time.Microsecond, 16
		if name == "test_1" {
			add(name, "sqlite", "normalized", "sql", 3*size)
		} else {
			s := add(name, "sqlite", "normalized", "sql", 0.777*size) // fast and wrong, or failed
			if name == "test_2" {
				s.wrongAt = 2
			} else {
				s.failedAt = 0
			}
		}
		if name != "test_3" {
			k := add(name, "pebble", "keyvalue", "keys-native", 1.5*size)
			k.derive, k.keys, k.cold = 20*time.Microsecond, 16, 30*size
		}
		add(name, "mongodb", "document", "keys", 0.1234*size)
	}
	return out
}

// writeRun writes the folder of a run with n repetitions of each cell, the cold ones included.
func writeRun(t *testing.T, r run.Run, cells []cellPlan, n int) string {
	t.Helper()
	dir := t.TempDir()
	f, err := run.Create(dir, r)
	if err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	g := rand.New(rand.NewPCG(r.Seed, 1))
	for _, c := range cells {
		must(f.StorePlan(c.key(), "SELECT 1 -- "+c.Case, "SCAN "+c.Engine, c.access()))
	}
	for rep := range n {
		for _, c := range cells {
			d := time.Duration(c.ms * (1 + c.noise*math.Abs(g.NormFloat64())) * 1e6)
			s, m := run.Sample{Cell: c.key(), Phase: run.Warm, Rep: rep}, &run.Measured{
				Start: time.Duration(rep) * time.Second, FirstRow: d / 3, Total: d, Derive: c.derive, Keys: c.keys,
			}
			switch rep {
			case c.wrongAt:
				must(f.Add(s.Judge(m, answer.Proof{}, &answer.Diff{
					Problem: "12 rows hold different values", WantRows: c.rows, GotRows: c.rows - 12, Missing: 12, Extra: 12,
					Rows: []answer.DiffRow{{Row: 4, Column: "fabar", Want: "G2/NHX | 5", Got: "G2/NHX | 6"}},
				})))
			case c.failedAt:
				must(f.Add(s.Judge(m, answer.Proof{}, errors.New("no such table: line_data_sal1l2"))))
			default:
				must(f.Add(s.Judge(m, proof(t, c.rows), nil)))
			}
			if c.cold > 0 && rep < 6 {
				s.Phase = run.Cold
				m = &run.Measured{Start: m.Start, FirstRow: d / 3, Total: time.Duration(c.cold*1e6) + d, Derive: c.derive, Keys: c.keys}
				must(f.Add(s.Judge(m, digestProof(t, c.rows), nil)))
			}
		}
	}
	must(f.StoreVerificationPlot(curve("test_3", "G2/NHX", "G2/SHX")))
	must(f.Close())
	return dir
}

// proof returns the proof of a correct result with some number of rows, of which every value was compared.
func proof(t *testing.T, rows int) answer.Proof {
	t.Helper()
	a := answerOf(rows)
	p, err := answer.Compare(a, a)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// digestProof returns the proof of the correct result of a cold start, of which only the digest was compared.
func digestProof(t *testing.T, rows int) answer.Proof {
	t.Helper()
	a := answerOf(rows)
	p, err := answer.CompareDigest(a, a.Digest(), rows)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func answerOf(rows int) *answer.Answer {
	return &answer.Answer{
		Columns: []question.Column{{Name: "fcst_lead", Role: question.Lead, Kind: question.Duration}},
		Vectors: []answer.Vector{{Seconds: make([]int64, rows)}}, Rows: rows,
	}
}

func curve(name string, series ...string) *run.VerificationPlot {
	c := &run.VerificationPlot{
		Case: name, Title: "die-off of " + name, Stat: "ANOM_CORR", Unit: "1", Axis: run.ByLead, Note: "weighted by total",
	}
	for i, s := range series {
		out := run.Series{Name: s}
		for h := 0.0; h <= 384; h += 24 {
			y := 1 - h/500 - 0.01*float64(i)
			out.X, out.Y = append(out.X, h), append(out.Y, y)
			out.Low, out.High = append(out.Low, y-0.01), append(out.High, y+0.01)
		}
		out.Y[3] = math.NaN()
		c.Series = append(c.Series, out)
	}
	return c
}
