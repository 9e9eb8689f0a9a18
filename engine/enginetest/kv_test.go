package enginetest_test

import (
	"testing"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/dry"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/kv"
)

// The check detects every fault of a table, and reports none for a correct table.
func TestFaultyKVIsCaught(t *testing.T) {
	for _, f := range append([]enginetest.KVFault{""}, enginetest.KVFaults()...) {
		t.Run(string(f), func(t *testing.T) {
			e, err := engine.Registry{dry.Driver()}.Open(t.Context(), "dry", engine.Options{})
			if err != nil {
				t.Fatal(err)
			}
			r, err := kv.DatabaseOf(e).Table(t.Context(), kv.Table{Name: "t", Fields: []string{"a", "b", "c", "d"}, Make: true})
			if err != nil {
				t.Fatal(err)
			}
			err = enginetest.CheckKV(t.Context(), enginetest.FaultyKV(r, f), 1, 300)
			if (err != nil) != (f != "") {
				t.Errorf("fault %q: %v", f, err)
			}
		})
	}
}
