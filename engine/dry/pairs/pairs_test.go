package pairs_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/dry/pairs"
	"github.com/barograph/barograph/engine/kv"
)

// filled returns a connection to a table with the records 0 to n−1.
func filled(t *testing.T, n int) *kv.Conn {
	t.Helper()
	records, err := pairs.New(false).Table(t.Context(), kv.Table{Name: "users", Fields: []string{"f"}, Make: true})
	if err != nil {
		t.Fatal(err)
	}
	c, err := records.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		var r kv.Row
		r.AddString(0, fmt.Sprint("value ", i))
		if err := c.Insert(t.Context(), fmt.Append(nil, i), &r); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// TestScanWithinScan: the function that gets the records of a scan may scan with the same connection, and may end either scan
// with an error.
func TestScanWithinScan(t *testing.T) {
	c := filled(t, 6)
	ended := errors.New("ended")
	for range 2 { // the second time with the memory of the first
		var got []string
		err := c.Scan(t.Context(), []byte("0"), 3, nil, func(key []byte, r *kv.Row) error {
			inner := 0
			if err := c.Scan(t.Context(), []byte("3"), 3, nil, func([]byte, *kv.Row) error {
				if inner++; inner == 2 {
					return ended
				}
				return nil
			}); !errors.Is(err, ended) {
				t.Errorf("the inner scan: %v", err)
			}
			value, _ := r.Value(0)
			got = append(got, string(key)+" "+string(value))
			return nil
		})
		if want := []string{"0 value 0", "1 value 1", "2 value 2"}; err != nil || !slices.Equal(got, want) {
			t.Errorf("%v, %q, want %q", err, got, want)
		}
	}
}

// TestMissingTable: a table that does not exist is created only if the caller asks for it and the engine is not read-only.
func TestMissingTable(t *testing.T) {
	for _, c := range []struct{ readOnly, create, ok bool }{{false, true, true}, {false, false, false}, {true, true, false}, {true, false, false}} {
		_, err := pairs.New(c.readOnly).Table(t.Context(), kv.Table{Name: "users", Fields: []string{"f"}, Make: c.create})
		if (err == nil) != c.ok || c.readOnly && c.create && !errors.Is(err, engine.ErrReadOnly) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
