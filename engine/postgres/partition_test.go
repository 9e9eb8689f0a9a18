package postgres

import (
	"strings"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/record"
)

func TestPartitioning(t *testing.T) {
	lt, _ := record.TypeByName("SAL1L2")
	const newYear = 1546300800 // 2019-01-01
	for _, c := range []struct {
		text, spaces string
		clause       string
		parts        string // statements, by "; "
	}{
		{"", "", "", ""},
		{
			"hash:2", "", " PARTITION BY HASH (id)",
			"CREATE TABLE IF NOT EXISTS s.t_p0 PARTITION OF s.t FOR VALUES WITH (MODULUS 2, REMAINDER 0); " +
				"CREATE TABLE IF NOT EXISTS s.t_p1 PARTITION OF s.t FOR VALUES WITH (MODULUS 2, REMAINDER 1)",
		},
		{
			"range:day", "", " PARTITION BY RANGE (at)",
			"CREATE TABLE IF NOT EXISTS s.t_p20181231 PARTITION OF s.t FOR VALUES FROM (1546214400) TO (1546300800); " +
				"CREATE TABLE IF NOT EXISTS s.t_p20190102 PARTITION OF s.t FOR VALUES FROM (1546387200) TO (1546473600)",
		},
		{
			"range:month", "", " PARTITION BY RANGE (at)",
			"CREATE TABLE IF NOT EXISTS s.t_p20181201 PARTITION OF s.t FOR VALUES FROM (1543622400) TO (1546300800); " +
				"CREATE TABLE IF NOT EXISTS s.t_p20190101 PARTITION OF s.t FOR VALUES FROM (1546300800) TO (1548979200)",
		},
	} {
		p, err := parsePartitioning(c.text, c.spaces)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.clause([]string{"id"}, "at"); got != c.clause {
			t.Errorf("%s: clause %q", c.text, got)
		}
		catalog := &design.Catalog{Groups: []*design.Group{
			{LineType: lt.Name, First: newYear - 1, Last: newYear + 86400, Step: 86401}, // no time on the 1st
			{LineType: "OTHER", First: 0, Last: newYear},
		}}
		if got := strings.Join(p.partitions("s.", "t", p.periods(catalog, lt)), "; "); got != c.parts {
			t.Errorf("%s:\n got %s\nwant %s", c.text, got, c.parts)
		}
		if again, err := parsePartitioning(strings.Replace(p.String(), "none", "", 1), ""); err != nil || again.String() != p.String() {
			t.Errorf("%s is written as %s, which is read as %s, %v", c.text, p, again, err)
		}
	}
	for _, c := range [][2]string{
		{"hash", ""},
		{"hash:1", ""},
		{"hash:9999", ""},
		{"hash:x", ""},
		{"range:week", ""},
		{"list:3", ""},
		{"", "/a"},
		{"hash:2", "a,b"},
		{"hash:2", "/a'; DROP TABLE t"},
	} {
		if p, err := parsePartitioning(c[0], c[1]); err == nil {
			t.Errorf("%q, %q were read as %s", c[0], c[1], p)
		}
	}
}

// Neighbors are in different tablespaces.
func TestTablespacesTakeTurns(t *testing.T) {
	for _, text := range []string{"hash:4", "range:day", "range:month", "range:year"} {
		p, err := parsePartitioning(text, "/one,/two")
		if err != nil {
			t.Fatal(err)
		}
		var times []int64
		at := int64(1546300800)
		if p.hash == 0 {
			for range 4 {
				times = append(times, at)
				_, at = p.bounds(at)
			}
		}
		last := ""
		for _, s := range p.partitions("s.", "t", times) {
			_, space, _ := strings.Cut(s, " TABLESPACE ")
			if space == last || space == "" {
				t.Errorf("%s: %s follows %s", text, s, last)
			}
			last = space
		}
	}
}

// TestSubsetNamedLikeSQL: the statements of a subset contain its name unchanged, also if it contains words of SQL.
func TestSubsetNamedLikeSQL(t *testing.T) {
	lt, _ := record.TypeByName("SAL1L2")
	parts, err := parsePartitioning("range:day", "")
	if err != nil {
		t.Fatal(err)
	}
	a := &openArchive{&sqlengine.Archive{Design: design.Document, Dialect: dialect()}, &database{parts: parts}}
	plain, other := a.typeTables("a", lt), a.typeTables("a PRIMARY KEY b", lt)
	for i := range plain {
		want := strings.ReplaceAll(plain[i], a.Dialect.Table("a", ""), a.Dialect.Table("a PRIMARY KEY b", ""))
		if other[i] != want {
			t.Errorf("got %s\nwant %s", other[i], want)
		}
	}
	if n := strings.Count(plain[0], "PRIMARY KEY"); n != 1 || !strings.Contains(plain[0], `id text COLLATE "C" NOT NULL`) {
		t.Errorf("%d keys: %s", n, plain[0])
	}
}
