package run

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestUnwrittenEvent: after an event that could not be written, the next event, Save and Close return the error, even
// if the caller ignored it and later writes would succeed.
func TestUnwrittenEvent(t *testing.T) {
	for name, lose := range map[string]func(f *Folder){
		"warning": func(f *Folder) { f.Warn("lost") },
		"step":    func(f *Folder) { f.StepLogger(func(string) {})("lost") },
		"beat": func(f *Folder) {
			f.journal.mu.Lock()
			defer f.journal.mu.Unlock()
			_ = f.journal.appendLocked(&Event{Kind: HeartbeatEvent})
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			f, err := Create(dir, Run{ID: "r"})
			if err != nil {
				t.Fatal(err)
			}
			f.journal.mu.Lock() // the goroutine of the heartbeats also uses the file
			file := f.journal.file
			if f.journal.file, err = os.Open(filepath.Join(dir, eventsFile)); err != nil { // read-only, so that a write fails
				t.Fatal(err)
			}
			defer f.journal.file.Close()
			f.journal.mu.Unlock()
			lose(f)
			f.journal.mu.Lock()
			f.journal.file = file
			f.journal.mu.Unlock()
			if err := f.AddEvent(Event{Kind: StepEvent, Text: "after it"}); err == nil {
				t.Error("the next event succeeded")
			}
			if err := f.Save(); err == nil {
				t.Error("Save succeeded")
			}
			if err := f.Close(); err == nil || strings.Count(err.Error(), "bad file descriptor") != 1 {
				t.Errorf("Close: %v", err)
			}
			if _, _, err := Read(dir); err != nil {
				t.Errorf("the run cannot be read: %v", err)
			}
		})
	}
}

// TestDropWarnings: a resumed run drops a warning of the interrupted one and gives another. The journal has it, so readers of
// a run in progress see it.
func TestDropWarnings(t *testing.T) {
	dir := t.TempDir()
	f, err := Create(dir, Run{ID: "r"})
	if err != nil {
		t.Fatal(err)
	}
	f.Warn("stays")
	f.Warn("old")
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if f, err = Resume(dir, Run{}, true, func(*Sample) bool { return true }, func(string) {}); err != nil {
		t.Fatal(err)
	}
	f.DropWarnings(func(w string) bool { return w == "old" })
	f.Warn("new")
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	events, err := ReadEvents(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(events, func(e Event) bool { return e.Kind == WarningEvent && e.Text == "new" }) {
		t.Error("the journal lacks the new warning")
	}
	if r, err := ReadRun(dir); err != nil || !slices.Equal(r.Warnings, []string{"stays", "new"}) {
		t.Errorf("%v, %v", r.Warnings, err)
	}
}
