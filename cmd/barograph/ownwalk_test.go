package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestOwnWalk runs docs/own.sh on small tables of TPC-DS, with engines that need no server.
func TestOwnWalk(t *testing.T) {
	plainRunOnly(t)
	c := exec.CommandContext(t.Context(), "../../docs/own.sh", t.TempDir())
	c.Env = append(os.Environ(), envMain+"=1", "BAROGRAPH="+os.Args[0], "SF=0.01", "ENGINES=--engine duckdb:d.db --engine sqlite:s.db",
		"OWN=--reps 2 --streams 1,2 --duration 3s")
	text, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, message := range []string{"$ barograph synth tpcds --sf 0.01", "months", "brands", "receipts", "losses", "history", "questions an hour", "is the fastest; too few"} {
		if !strings.Contains(string(text), message) {
			t.Errorf("nothing of %q:\n%s", message, text)
		}
	}
}
