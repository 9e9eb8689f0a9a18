package met

import (
	"net/url"
	"path/filepath"
	"slices"
	"testing"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/sqlite"
	"github.com/barograph/barograph/results/run"
)

// The targets of a study are each engine in each of its designs, with a file for each design.
func TestTargets(t *testing.T) {
	memory := sqlite.Driver()
	memory.Scheme, memory.Place, memory.Recognizes = "dry", engine.Memory, nil
	server := sqlite.Driver()
	server.Scheme, server.Place, server.Recognizes = "there", engine.Remote, nil
	all := engine.Registry{sqlite.Driver(), memory, server}
	in := func(name string) string { return "sqlite:" + filepath.Join("f", name) }
	for name, c := range map[string]struct {
		s    Selection
		want []string // names and URLs; none = an error
	}{
		"all designs":        {Selection{Engines: []string{"sqlite"}, Folder: "f"}, []string{"sqlite normalized " + in("sqlite-normalized.db"), "sqlite document " + in("sqlite-document.db")}},
		"the default":        {Selection{Folder: "f", Designs: []string{"document"}}, []string{"sqlite document " + in("sqlite-document.db")}},
		"a file":             {Selection{Engines: []string{"sqlite:a/b.db"}}, []string{"sqlite normalized sqlite:a/b-normalized.db", "sqlite document sqlite:a/b-document.db"}},
		"a file of a design": {Selection{Engines: []string{"sqlite:a/b.db?cache=8"}, Designs: []string{"document"}}, []string{"sqlite document sqlite:a/b.db?cache=8"}},
		"two named engines": {
			Selection{Engines: []string{"one=sqlite", "two=sqlite"}, Designs: []string{"document"}, Folder: "f"},
			[]string{"one document " + in("one-document.db"), "two document " + in("two-document.db")},
		},
		"twice the same":    {Selection{Engines: []string{"sqlite:a.db", "sqlite:b.db"}}, nil},
		"an unknown design": {Selection{Engines: []string{"sqlite"}, Designs: []string{"wide"}}, nil},
		"a server":          {Selection{Engines: []string{"there://h/d"}, Designs: []string{"document"}}, []string{"there document there://h/d"}},
		"the overhead": {
			Selection{Engines: []string{"sqlite:a.db"}, Designs: []string{"document"}, ClientOverhead: true},
			[]string{"dry normalized dry", "dry document dry", "sqlite document sqlite:a.db"},
		},
		"the overhead once": {
			Selection{Engines: []string{"sqlite:a.db", "dry"}, Designs: []string{"document"}, ClientOverhead: true},
			[]string{"sqlite document sqlite:a.db", "dry normalized dry", "dry document dry"},
		},
	} {
		c.s.Server = func(d *engine.Driver, _ *url.URL) *run.Server { return &run.Server{Profile: d.Scheme} }
		targets, err := c.s.Targets(all)
		var got []string
		for _, x := range targets {
			got = append(got, x.String()+" "+x.URL)
			if x.Server == nil || x.Server.Profile != x.Driver.Scheme {
				t.Errorf("%s: %s has the server %+v", name, x, x.Server)
			}
		}
		if !slices.Equal(got, c.want) || (err == nil) != (c.want != nil) {
			t.Errorf("%s: %q, %v; want %q", name, got, err, c.want)
		}
	}
	targets, err := (&Selection{Engines: []string{"sqlite"}}).Targets(all)
	if err != nil || targets[0].Server != nil {
		t.Errorf("without labs: %+v, %v", targets, err)
	}
}
