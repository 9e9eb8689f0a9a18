package enginetest_test

import (
	"testing"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/dry"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/kv"
)

// The checks detect every fault of transactions, and report none for correct transactions.
func TestFaultyTransactionsAreCaught(t *testing.T) {
	for _, f := range append([]enginetest.KVFault{""}, enginetest.TransactionFaults()...) {
		t.Run(string(f), func(t *testing.T) {
			e, err := engine.Registry{dry.Driver()}.Open(t.Context(), "dry", engine.Options{})
			if err != nil {
				t.Fatal(err)
			}
			r, err := kv.DatabaseOf(e).Table(t.Context(), kv.Table{Name: "t", Fields: []string{"a", "b", "c", "d"}, Make: true})
			if err != nil {
				t.Fatal(err)
			}
			r = enginetest.FaultyKV(enginetest.Optimistic(r), f)
			err = enginetest.CheckTransaction(t.Context(), r, kv.Serializable)
			if err == nil && f != enginetest.KVDirty { // CheckTransaction must detect it
				err = enginetest.CheckTransfers(t.Context(), r, kv.Serializable, 1)
			}
			if (err != nil) != (f != "") {
				t.Errorf("fault %q: %v", f, err)
			}
			t.Log(err)
		})
	}
}
