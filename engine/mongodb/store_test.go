package mongodb

import (
	"errors"
	"net/url"
	"testing"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/docengine"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/lab"
)

// A swap that comes late is refused however late it comes: two loaders once
// held one lock, as the revision that the second one inserted had come and gone.
func TestLateSwap(t *testing.T) {
	l := enginetest.Lab(t, Driver(), lab.Options{})
	u, err := url.Parse(l.URL())
	if err != nil {
		t.Fatal(err)
	}
	e, err := open(t.Context(), u, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	d, ok := archive.DatabaseOf(e).(*database)
	if !ok {
		t.Fatalf("the archives are a %T", archive.DatabaseOf(e))
	}
	s := &store{d}
	for rev := range int64(4) {
		if got, err := s.Swap(t.Context(), "a", []byte{byte('1' + rev)}, rev); got != rev+1 || err != nil {
			t.Fatalf("revision %d, %v", got, err)
		}
	}
	for rev := range int64(4) {
		if _, err := s.Swap(t.Context(), "a", []byte("late"), rev); !errors.Is(err, docengine.ErrChanged) {
			t.Errorf("a swap of revision %d: %v", rev, err)
		}
	}
	if text, rev, err := s.Load(t.Context(), "a"); string(text) != "4" || rev != 4 || err != nil {
		t.Errorf("there is %s in revision %d, %v", text, rev, err)
	}
}
