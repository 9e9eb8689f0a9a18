package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/barograph/barograph/results/run"
)

// TestDropKeepsTheSample: -drop omits parts of a sample, but not those without which it is another sample.
func TestDropKeepsTheSample(t *testing.T) {
	sample := run.Sample{Cell: run.MetCell("duckdb", "wide", "q", "sql"), Rep: 1, Answers: &run.Answers{Found: 3}}
	sample = sample.Judge(&run.Measured{Total: 1}, proof(t, 1), nil)
	lines, err := pack([]run.Event{{Kind: run.SampleEvent, Sample: &sample}}, regexp.MustCompile("e|a|o"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range essential {
		if want != "problem" && !bytes.Contains(lines, []byte(`"`+want+`"`)) {
			t.Errorf("the sample has no %s: %s", want, lines)
		}
	}
	if bytes.Contains(lines, []byte("answers")) || bytes.Contains(lines, []byte("total_ns")) {
		t.Errorf("nothing was dropped: %s", lines)
	}
}

// TestKeepFails: if a run folder cannot be kept, the kept folders stay as they were.
func TestKeepFails(t *testing.T) {
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "kept")
	write := func(name, text string) {
		if err := writeFile(filepath.Join(from, name), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	write("a/run.json", `{"day": 1}`)
	write("a/events.jsonl", "")
	if err := keep(from, to, everyPlan()); err != nil {
		t.Fatal(err)
	}
	index, err := os.ReadFile(filepath.Join(to, keptIndex))
	if err != nil {
		t.Fatal(err)
	}
	write("a/run.json", `{"day": 2}`)
	write("b/run.json", "{")
	if err := keep(from, to, everyPlan()); err == nil {
		t.Error("a damaged run folder was kept")
	}
	if err := keep(filepath.Join(from, "none"), to, everyPlan()); err == nil {
		t.Error("a missing folder was kept")
	}
	text, err := os.ReadFile(filepath.Join(to, "a", run.DescriptionFile))
	after, err2 := os.ReadFile(filepath.Join(to, keptIndex))
	if err := errors.Join(err, err2); err != nil || !bytes.Contains(text, []byte(`"day": 1`)) || !bytes.Equal(after, index) {
		t.Errorf("%s, %s, %v", text, after, err)
	}
	if _, err := os.Stat(filepath.Join(to, "b")); err == nil {
		t.Error("a part of a damaged run folder is kept")
	}
}
