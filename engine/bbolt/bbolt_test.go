package bbolt

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/internal/fault"
)

func TestConformance(t *testing.T) {
	enginetest.Run(t, enginetest.Config{
		Driver: Driver(), Reopenable: true,
		URL: func(t *testing.T) string { return "bbolt:" + filepath.Join(t.TempDir(), "records.bbolt") },
	})
}

// TestDamaged: a file whose pages are not what they were is an error with the status of
// damage, and no panic, whatever is asked of it.
func TestDamaged(t *testing.T) {
	whole := filepath.Join(t.TempDir(), "whole.bbolt")
	all := engine.Registry{Driver()}
	spec := kv.Table{Name: "t", Fields: []string{"a", "b"}, Make: true}
	use := func(path string) (n int, err error) {
		e, err := all.Open(t.Context(), "bbolt:"+path, engine.Options{})
		if err != nil {
			return 0, err
		}
		defer func() { _ = e.Close() }()
		records, err := kv.DatabaseOf(e).Table(t.Context(), spec)
		if err != nil {
			return 0, err
		}
		c, err := records.Connect(t.Context())
		if err != nil {
			return 0, err
		}
		var r kv.Row
		r.AddString(0, "value")
		r.AddString(1, "other")
		for i := range 300 {
			if err := c.Insert(t.Context(), []byte{byte(i), byte(i / 256), 'k'}, &r); err != nil && err != kv.ErrExists { //nolint:errorlint // the sentinel itself
				return n, err
			}
			n++
		}
		return n, c.Scan(t.Context(), nil, 1000, nil, func([]byte, *kv.Row) error { return nil })
	}
	if n, err := use(whole); err != nil || n != 300 {
		t.Fatal(n, err)
	}
	text, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	refused, page := 0, os.Getpagesize()
	for at := 0; at+page <= len(text); at += page {
		bad := append([]byte(nil), text...)
		for i := range page {
			bad[at+i] = 0xFF
		}
		path := filepath.Join(t.TempDir(), "bad.bbolt")
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := use(path); err != nil {
			if refused++; fault.Code(err) != fault.Differs {
				t.Errorf("page %d: %v", at/page, err)
			}
		}
	}
	if refused < 3 {
		t.Errorf("%d damaged pages were noticed", refused)
	}
}
