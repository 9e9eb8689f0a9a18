package engine

import (
	"strings"
	"testing"
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

func TestSettleKeepsTheSum(t *testing.T) {
	m := Mark{Path: "a", Read: 10, Stored: 8, Replaced: 1, Quarantined: 1}
	m.Settle(Stored{Replaced: map[string]int64{"a": 3, "b": 5}})
	if m.Stored != 5 || m.Replaced != 4 || m.Read != m.Stored+m.Replaced+m.Quarantined {
		t.Errorf("%+v", m)
	}
}
