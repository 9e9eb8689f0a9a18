package run_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/barograph/barograph/results/run"
)

// A run folder with the keys of earlier versions has the same content.
func TestEarlierKeys(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		run.DescriptionFile: `{"workload": "ycsb", "ended": "2026-11-01T02:03:04Z", "cold_how": "a new process",
			"archives": [{"engine": "duckdb", "licence": "MIT", "whole": true, "load_ns": 9007199254740993, "table": {"name": "t", "described": "CREATE TABLE t"}}],
			"own": {"files_left_aside": [{"file": "x", "why": "no rows"}], "questions": [{"name": "q", "values": 3, "agreed": {"duckdb": "sqlite"}, "determined": "ORDER BY a"}]},
			"scan": {"disks_limited": "all", "disks": [{"path": "p", "rate_how": "dd"}], "laws": [{"query": "q", "start_told": true, "work_counted": true, "drawn": {"value": 0.5, "low": 0.4, "high": 0.6}}]}}`,
		"events.jsonl": `{"seq":1,"kind":"sample","sample":{"cell":"ycsb/duckdb","phase":"warm","rep":0,"verdict":"equal","proof":"digest","rows":1,
			"kill":{"nodes":3,"node":1,"whole":true,"right":4,"right_while_down":2,"errors":0},
			"transfers":{"isolation":"serializable","accounts":1,"moved":1,"conflicts":5,"unknown":3,"stand":2,"sum":1,"expected":1,"off":7},
			"history":{"file":"","clients":1,"operations":1,"unknown":0,"promises":[{"promise":"linearizable","promised":true,"held":true,"broken":6}]},
			"fault":{"moments":[{"what":"kill","at_ns":1,"took_ns":1,"said":"bye"}]},
			"measured":{"start_ns":1,"total_ns":1,"mix":{}}}}
{"seq":2,"kind":"end"}
`,
	} {
		if name != run.DescriptionFile {
			text = strings.Join(strings.Split(text, "\n\t"), "")
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r, samples, err := run.Read(dir)
	if err != nil || len(samples) != 1 {
		t.Fatalf("%v: %d samples", err, len(samples))
	}
	a, own, scan, s := r.Archives[0], r.Own, r.Scan, samples[0]
	for name, ok := range map[string]bool{
		"ended": !r.Finished.IsZero(), "cold_how": r.ColdMethod == "a new process", "licence": a.License == "MIT", "whole": a.Complete,
		"load_ns": a.Load == 9007199254740993, "described": a.Table.Definition == "CREATE TABLE t",
		"files_left_aside": len(own.SkippedFiles) == 1 && own.SkippedFiles[0].Reason == "no rows",
		"questions":        own.Questions[0].ParameterSets == 3 && own.Questions[0].ComparedWith["duckdb"] == "sqlite" && own.Questions[0].Fix == "ORDER BY a",
		"scan":             scan.DiskLimits == "all" && scan.Disks[0].RateMethod == "dd" && len(scan.Models) == 1 && scan.Models[0].StartKnown && scan.Models[0].WorkMeasured && scan.Models[0].DiskShare.Value == 0.5,
		"kill":             s.Kill.Complete && s.Kill.Correct == 4 && s.Kill.CorrectWhileDown == 2,
		"transfers":        s.Transfers.Aborted == 5 && s.Transfers.UnknownApplied == 2 && s.Transfers.Unexplained == 7,
		"history":          s.History.Promises[0].Kept && s.History.Promises[0].Violations == 6,
		"fault":            s.Fault.Moments[0].Output == "bye",
		"measured":         s.Measured() != nil,
	} {
		if !ok {
			t.Errorf("%s is not read", name)
		}
	}
}

// An earlier key is not the key of another field of its object: a reader would not know which field is meant.
func TestEarlierKeysAreFree(t *testing.T) {
	n, seen := 0, map[reflect.Type]bool{}
	var check func(reflect.Type)
	check = func(at reflect.Type) {
		for at.Kind() == reflect.Pointer || at.Kind() == reflect.Slice || at.Kind() == reflect.Map {
			at = at.Elem()
		}
		if at.Kind() != reflect.Struct || seen[at] {
			return
		}
		seen[at] = true
		keys := map[string]bool{}
		for f := range at.Fields() {
			key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			keys[key] = true
			check(f.Type)
		}
		for f := range at.Fields() {
			if old := f.Tag.Get("old"); old != "" {
				if n++; keys[old] {
					t.Errorf("%v: %q is a key of two fields", at, old)
				}
			}
		}
	}
	for _, x := range []any{run.Run{}, run.Event{}, run.Measured{}, run.VerificationPlot{}, run.Plan{}} {
		check(reflect.TypeOf(x))
	}
	if n < 30 {
		t.Errorf("%d earlier keys", n)
	}
}
