package synth_test

import (
	"bytes"
	"testing"

	"github.com/barograph/barograph/formats/shef"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/study/synth"
)

func feed(t testing.TB, f synth.SHEF) *synth.Feed {
	t.Helper()
	out, err := f.Feed()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestSHEFSaysWhatItWrote decodes products of several seeds: no error, and
// exactly the values that were written.
func TestSHEFSaysWhatItWrote(t *testing.T) {
	for seed := range uint64(4) {
		f := feed(t, synth.SHEF{Seed: seed, Messages: 400})
		var m synth.Message
		revised, odd := 0, 0
		for i := range f.Messages {
			f.Make(i, &m)
			var got []record.Gauge
			var awips, heading string
			var issued int64
			err := shef.ReadAll(bytes.NewReader(m.Text), "feed", shef.Options{Now: f.Now()}, func(r *shef.Result) error {
				for _, p := range r.Problems {
					t.Errorf("seed %d, product %d: %v", seed, i, p)
				}
				if r.Product.Part == 1 {
					awips, heading, issued = r.Product.AWIPS, r.Product.Heading, r.Product.Issued
				}
				if r.Product.Number != 1 {
					t.Errorf("seed %d, product %d contains a product %d", seed, i, r.Product.Number)
				}
				got = append(got, r.Values...)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if awips != m.AWIPS || heading != m.Heading || issued != m.Issued {
				t.Fatalf("seed %d, product %d: %s %q %d, want %s %q %d", seed, i, awips, heading, issued, m.AWIPS, m.Heading, m.Issued)
			}
			if len(got) != len(m.Values) {
				t.Fatalf("seed %d, product %d: %d values, want %d:\n%s", seed, i, len(got), len(m.Values), m.Text)
			}
			for k, want := range m.Values {
				got[k].Line = 0
				if got[k] != want {
					t.Fatalf("seed %d, product %d, value %d:\n%+v, want\n%+v", seed, i, k, got[k], want)
				}
				if want.Revised {
					revised++
				}
				if want.Time%900 != 0 {
					odd++
				}
			}
		}
		if revised == 0 || odd == 0 {
			t.Errorf("seed %d: %d revised values, %d off the quarter hours", seed, revised, odd)
		}
	}
}

// TestSHEFBacklog compares the sizes with the report's backlog.
func TestSHEFBacklog(t *testing.T) {
	f := feed(t, synth.SHEF{})
	if f.Messages != 55_338 {
		t.Errorf("%d products", f.Messages)
	}
	total, largest, small := 0, 0, 0
	for i := range f.Messages {
		n := f.Size(i)
		total, largest = total+n, max(largest, n)
		if n < 100 {
			small++
		}
	}
	if total < 13_200_000 || total > 13_400_000 {
		t.Errorf("%d values", total)
	}
	if largest < 10_000 || small < f.Messages/2 {
		t.Errorf("the largest product has %d values, %d of %d have less than 100", largest, small, f.Messages)
	}
}

// TestSHEFOrderDoesNotMatter makes products backwards.
func TestSHEFOrderDoesNotMatter(t *testing.T) {
	f := feed(t, synth.SHEF{Seed: 7, Messages: 50})
	var texts [][]byte
	var m synth.Message
	for i := range f.Messages {
		f.Make(i, &m)
		texts = append(texts, bytes.Clone(m.Text))
	}
	for i := f.Messages - 1; i >= 0; i-- {
		f.Make(i, &m)
		if !bytes.Equal(m.Text, texts[i]) {
			t.Fatalf("product %d differs", i)
		}
	}
	var all []byte
	for _, s := range f.Files(20) {
		all = s.Append(all)
	}
	var want []byte
	for _, x := range texts {
		want = append(append(want, x...), '\n')
	}
	if !bytes.Equal(all, want) {
		t.Error("the files have other products")
	}
}

func TestSHEFRefuses(t *testing.T) {
	for _, bad := range []synth.SHEF{{Messages: -1}, {Mean: .5}, {PerDay: -1}, {Offices: -3}, {Stations: 2000}, {Offices: 2215, Stations: 1000}, {Messages: 6501, PerDay: 1}} {
		if _, err := bad.Feed(); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
	if _, err := (synth.SHEF{Messages: 6500, PerDay: 1}).Feed(); err != nil {
		t.Error(err)
	}
}
