package met

import (
	"strings"
	"testing"
	"time"
)

// TestProjectionOfLoads: early in the first load the study projects the time of all loads, once.
func TestProjectionOfLoads(t *testing.T) {
	var notes []string
	s := &runner{loadsLeft: 3, options: Options{Progress: func(p Progress) { notes = append(notes, p.Step+p.Note) }}}
	s.projectLoads(time.Second, Progress{Step: "loading sqlite wide", Done: 50, Of: 100}) // too early
	s.projectLoads(10*time.Second, Progress{Step: "loading sqlite wide", Done: 1, Of: 100})
	for range 2 {
		s.projectLoads(10*time.Second, Progress{Step: "loading sqlite wide", Done: 25, Of: 100})
	}
	if want := "about 2m0s to load 3 archives, if each takes as long as sqlite wide"; strings.Join(notes, "|") != want {
		t.Errorf("%q, want %q", notes, want)
	}
}
