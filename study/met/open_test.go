package met

import (
	"testing"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/sqlite"
	"github.com/barograph/barograph/internal/fault"
)

// A study accepts an engine that offers archives, and the designs and flavours that it offers. Everything else is an error
// of usage.
func TestCheckOfASelection(t *testing.T) {
	without := sqlite.Driver()
	without.Scheme, without.Offers = "noarchives", nil
	all := engine.Registry{sqlite.Driver(), without}
	for name, c := range map[string]struct {
		s  Selection
		ok bool
	}{
		"an engine":          {Selection{Engines: []string{"sqlite:a.db"}}, true},
		"a named engine":     {Selection{Engines: []string{"one=sqlite:a.db"}}, true},
		"a design":           {Selection{Engines: []string{"sqlite:a.db"}, Designs: []string{"normalized"}, Flavours: []string{"sql"}}, true},
		"an unknown engine":  {Selection{Engines: []string{"nosuch:a.db"}}, false},
		"no archives":        {Selection{Engines: []string{"noarchives:a.db"}}, false},
		"an unknown design":  {Selection{Engines: []string{"sqlite:a.db"}, Designs: []string{"nosuch"}}, false},
		"an unknown flavour": {Selection{Engines: []string{"sqlite:a.db"}, Flavours: []string{"nosuch"}}, false},
	} {
		err := c.s.check(all, c.s.Engines)
		if (err == nil) != c.ok || err != nil && fault.Code(err) != fault.Usage {
			t.Errorf("%s: %v, status %d", name, err, fault.Code(err))
		}
	}
}
