package site

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/barograph/barograph/results/run"
)

// TestSize: a page with many long plans fits into the limit, and states how much of each text it has.
func TestSize(t *testing.T) {
	g := rand.New(rand.NewPCG(1, 1))
	text := func() string { // does not compress well
		b := make([]byte, 20_000)
		for i := range b {
			b[i] = byte('a' + g.IntN(26))
		}
		return string(b)
	}
	s := &Site{textIndex: map[string]int{}}
	for range 200 {
		s.text(text() + planSeparator + text())
	}
	page, err := s.Page()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("200 queries and plans of 20,000 bytes: %d bytes, each cut at %d", len(page), s.TextSize)
	if len(page) >= MaxBytes || s.TextSize == 0 || s.TextSize == 32768 ||
		!strings.Contains(string(page), fmt.Sprintf(`"text_size":%d`, s.TextSize)) {
		t.Errorf("the page has %d bytes, the texts %d", len(page), s.TextSize)
	}
	if cut := shorten("äöü SELECT"+planSeparator+"SCAN", 5); !strings.HasPrefix(cut, "äö") ||
		!strings.HasSuffix(cut, "SCAN") || !strings.Contains(cut, "… (13 bytes in the run folder)") {
		t.Errorf("a cut text is %q", cut)
	}
}

// TestOneClient: the name of a question about one concurrent client is in the singular.
func TestOneClient(t *testing.T) {
	for threads, want := range map[int]string{1: "1 client", 8: "8 clients"} {
		_, name := (study{name: concurrent, design: "layout", flavour: "mix"}).question(run.MixCell("x", "rows", "all", threads, 0, ""))
		if name != want {
			t.Errorf("%d threads are named %q", threads, name)
		}
	}
}
