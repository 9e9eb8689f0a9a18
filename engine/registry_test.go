package engine

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/engine/launch"
	"github.com/barograph/barograph/internal/fault"
)

func registry() Registry {
	return Registry{{Scheme: "sqlite", Params: []Param{{Name: "cache"}}}, {Scheme: "dry"}}
}

func TestParse(t *testing.T) {
	for _, tc := range []struct{ raw, scheme, path, says string }{
		{"sqlite:archive.db", "sqlite", "archive.db", ""},
		{"sqlite:/a/b.db?cache=1", "sqlite", "/a/b.db", ""},
		{"sqlite:///a/b.db", "sqlite", "/a/b.db", ""},
		{"sqlite:with%20blank.db", "sqlite", "with blank.db", ""},
		{"dry", "dry", "", ""},
		{"db2:x", "", "", "choose one of sqlite, dry"},
		{"sqlite:x?colour=red", "", "", "colour"},
		{"db2://me:secret@host:bad/x", "", "", "db2"},
	} {
		d, u, err := registry().Parse(tc.raw)
		switch {
		case tc.says != "":
			if err == nil || !strings.Contains(err.Error(), tc.says) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: error %v, want one that says %q and no password", tc.raw, err, tc.says)
			}
		case err != nil || d.Scheme != tc.scheme || Path(u) != tc.path:
			t.Errorf("%s: %v %v %v", tc.raw, d, u, err)
		}
	}
}

func TestInstalled(t *testing.T) {
	absent := func() error { return errors.New("/usr/lib/x.so is not there") }
	all := Registry{
		{Scheme: "plain"},
		{Scheme: "bare", Place: Embedded, Library: &Library{Find: absent}},
		{Scheme: "extended", Place: Embedded, Library: &Library{Find: absent, Optional: true}},
		{Scheme: "damaged", Library: &Library{Find: func() error { return &fault.Error{Problem: "is not what its checksum says"} }}},
		{Scheme: "served", Server: &launch.Server{Find: absent}},
		{Scheme: "ready", Server: &launch.Server{Find: func() error { return nil }}},
	}
	installed, skipped := all.SplitInstalled([]string{"plain", "bare", "extended", "damaged", "served", "ready"})
	if want := []string{"plain", "extended", "ready"}; !slices.Equal(installed, want) {
		t.Errorf("installed: %v, want %v", installed, want)
	}
	want := []string{
		"bare: skipped, its library is not installed; barograph lab install bare",
		"damaged: skipped, its library is not what its checksum says; barograph lab install damaged",
		"served: skipped, its server is not installed; barograph lab install served",
	}
	var lines []string
	for _, s := range skipped {
		lines = append(lines, s.String())
	}
	if !slices.Equal(lines, want) {
		t.Errorf("skipped:\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
	if err := all.CheckReachable(t.Context(), Options{}, "bare:x"); !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "barograph lab install bare") {
		t.Errorf("a named engine without its library: %v", err)
	}
	if err := all.CheckReachable(t.Context(), Options{}, "extended:x"); err != nil {
		t.Errorf("an engine without an optional library: %v", err)
	}
	d, _ := all.Find("extended")
	if d.Missing(true) == nil || d.Missing(false) != nil {
		t.Error("an optional library is missing, and a study that needs it does not notice")
	}
}
