package damages

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// File never damages the first three pages of a file nor pages of zeros, and returns an error if there are no others.
func TestFileWithPages(t *testing.T) {
	const page = 1024
	name := filepath.Join(t.TempDir(), "a.ibd")
	all := func(string) bool { return true }
	text := make([]byte, 6*page)
	for i := range 3 * page {
		text[i] = 1
	}
	for _, numPages := range []int64{3, 6} {
		if err := os.WriteFile(name, text[:numPages*page], 0o600); err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test's
		if d, err := File(r, filepath.Dir(name), page, all); !errors.Is(err, ErrNone) {
			t.Errorf("%d pages: %+v, %v", numPages, d, err)
		}
	}
	text[4*page] = 1
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test's
	if d, err := File(r, filepath.Dir(name), page, all); err != nil {
		t.Errorf("%+v, %v", d, err)
	}
	after, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for i := range after {
		if after[i] != text[i] && i/page != 4 {
			t.Errorf("byte %d is damaged", i)
		}
	}
}
