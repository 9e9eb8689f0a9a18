package metviewer_test

import (
	"testing"

	"github.com/barograph/barograph/formats/metviewer"
)

// TestTargetOfLoadSpec: the URL of the database that a load_spec names.
func TestTargetOfLoadSpec(t *testing.T) {
	c := metviewer.Connection{System: "mysql", Host: "db.example.org", Port: "3307", Database: "mv_x", User: "me", Password: "a/b@c", Line: 2}
	for _, tc := range []struct {
		system  string
		indexes bool
		want    string
	}{
		{"mysql", false, "mariadb://me:a%2Fb%40c@db.example.org:3307/"},
		{"aurora", true, "mariadb://me:a%2Fb%40c@db.example.org:3307/?apply_indexes=true"},
		{"", false, "mariadb://me:a%2Fb%40c@db.example.org:3307/"}, // METdbLoad's default
		{"postgres", false, "postgres://me:a%2Fb%40c@db.example.org:3307/mv_x"},
	} {
		c.System = tc.system
		got, err := (&metviewer.LoadSpec{File: "l.xml", Connection: c, Indexes: tc.indexes}).Target()
		if err != nil || got != tc.want {
			t.Errorf("%s: %s, %v; want %s", tc.system, got, err, tc.want)
		}
	}
}
