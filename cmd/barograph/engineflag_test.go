package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/all"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/lab"
)

// TestBareNameIsTheLabsServer: this process takes the place of the server's process.
func TestBareNameIsTheLabsServer(t *testing.T) {
	dir := t.TempDir()
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		t.Skip("NOT TESTED: labs run where there is a /proc:", err)
	}
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	self := lab.Process{PID: os.Getpid(), Start: strings.TrimSpace(string(boot)) + "/" + fields[19]}
	state, err := json.Marshal(lab.State{Engine: "postgres", URL: "postgres://me@127.0.0.1:1/x", Complete: true, Nodes: []lab.NodeState{{Processes: []lab.Process{self}}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "postgres"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "postgres", "lab.json"), state, 0o600); err != nil {
		t.Fatal(err)
	}
	e := &env{engines: all.Registry()}
	for raw, want := range map[string]string{"postgres": "postgres://me@127.0.0.1:1/x", "pg=postgres": "pg=postgres://me@127.0.0.1:1/x", "lab:postgres": "postgres://me@127.0.0.1:1/x", "pg=lab:postgres": "pg=postgres://me@127.0.0.1:1/x", "lab:postgres?a=1&b=2": "postgres://me@127.0.0.1:1/x?a=1&b=2", "pg=postgres?a=1": "pg=postgres://me@127.0.0.1:1/x?a=1", "postgres://h/y?a=1": "postgres://h/y?a=1", "duckdb": "duckdb", "postgres://h/y": "postgres://h/y"} {
		if got, err := e.resolveServer(raw, []string{t.TempDir(), dir}); err != nil || got != want {
			t.Errorf("%s is %s, %v", raw, got, err)
		}
	}
	if got, err := e.resolveServer("mariadb", []string{dir}); err == nil {
		t.Errorf("mariadb is %s", got)
	}
	if got, err := e.resolveServer("lab:mariadb", []string{engine.LabDir()}); err != nil || got != "lab:mariadb" {
		t.Errorf("lab:mariadb of the default folder is %s, %v", got, err)
	}
	for raw, want := range map[string]string{
		"lab:mariadb": "no lab in " + dir + " runs this server; start it: barograph lab up mariadb --lab-dir " + dir,
		"lab:postgre": "engine postgre is not known; did you mean postgres?",
	} {
		got, err := e.resolveServer(raw, []string{dir})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is %q, %v, not %q", raw, got, err, want)
		}
		if isUsage := fault.Code(err) == fault.Usage; isUsage == errors.Is(err, engine.ErrUnreachable) {
			t.Errorf("%s: %v is a misuse: %t", raw, err, isUsage)
		}
	}
}
