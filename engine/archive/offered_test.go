package archive

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// TestOffer: an engine offers the designs of its offer in the documented order, then its own. A question with Mean needs
// a design in which the engine computes means.
func TestOffer(t *testing.T) {
	all := map[design.Name][]flavour.Name{"own": {flavour.SQL}, design.Wide: {flavour.SQL}, design.Normalized: {flavour.SQL, flavour.ISORange}}
	d := engine.Driver{Scheme: "x", Offers: []any{7, Offer{Designs: all, MeanDesigns: []design.Name{design.Wide}}}}
	bare := engine.Driver{Scheme: "bare"}
	var documented []design.Name
	for _, n := range design.Names() {
		if n == design.Wide || n == design.Normalized {
			documented = append(documented, n)
		}
	}
	if got := Designs(&d); !slices.Equal(got, append(documented, "own")) || !IsOffered(&d) {
		t.Errorf("%q", got)
	}
	if got := Designs(&bare); got != nil || IsOffered(&bare) {
		t.Errorf("%q", got)
	}
	r := engine.Registry{d, bare}
	if err := Require(r, &d); err != nil {
		t.Error(err)
	}
	if err := Require(r, &bare); err == nil || !strings.Contains(err.Error(), "engine bare offers no verification archives; choose one of x") {
		t.Errorf("%v", err)
	}
	for _, c := range []struct {
		n    design.Name
		f    flavour.Name
		mean string
		ok   bool
	}{
		{design.Wide, flavour.SQL, "", true},
		{design.Wide, flavour.SQL, "RMSE", true},
		{design.Wide, flavour.ISORange, "", false},
		{design.Normalized, flavour.ISORange, "", true},
		{design.Normalized, flavour.SQL, "RMSE", false},
		{design.Document, flavour.SQL, "", false},
	} {
		if err := CanExpress(&d, c.n, c.f, &question.Question{Mean: c.mean}); (err == nil) != c.ok || err != nil && !errors.Is(err, flavour.ErrCannotExpress) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// stored is a database whose archive dumps some batches, then an error, and cannot be opened in the design "own".
type stored struct {
	Archive
	batches []*record.Batch
	err     error
}

func (s stored) Open(_ context.Context, n design.Name) (Archive, error) {
	if n == "own" {
		return nil, engine.ErrNoDesign
	}
	return s, nil
}

func (s stored) Catalog(context.Context, string) (*design.Catalog, error) {
	return design.NewCatalog("s"), nil
}

func (s stored) Loader(context.Context, string) (Loader, error) { return nil, s.err }

func (s stored) Dump(context.Context, string) iter.Seq2[*record.Batch, error] {
	return func(yield func(*record.Batch, error) bool) {
		for _, b := range s.batches {
			if !yield(b, nil) {
				return
			}
		}
		if s.err != nil {
			yield(nil, s.err)
		}
	}
}

// TestReplacedFile: after the file of an engine was replaced, every call of its archive fails, also one that would have
// succeeded.
func TestReplacedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	location, err := engine.NewLocation(path)
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	e := &engine.Engine{Abilities: []any{stored{batches: []*record.Batch{sl1l2(t, "a", 1), sl1l2(t, "a", 2)}, err: broken}}, File: &location}
	if DatabaseOf(&engine.Engine{File: &location}) != nil {
		t.Error("an engine without archives has a database")
	}
	if _, err := DatabaseOf(e).Open(t.Context(), "own"); !errors.Is(err, engine.ErrNoDesign) {
		t.Errorf("%v", err)
	}
	a, err := DatabaseOf(e).Open(t.Context(), design.Wide)
	if err != nil {
		t.Fatal(err)
	}
	dump := func() (n int, err error) {
		for b, e := range a.Dump(t.Context(), "s") {
			if err = e; b != nil && e == nil {
				n++
			}
		}
		return n, err
	}
	if _, err := a.Catalog(t.Context(), "s"); err != nil {
		t.Errorf("before the replacement: %v", err)
	}
	if n, err := dump(); n != 2 || !errors.Is(err, broken) {
		t.Errorf("before the replacement: %d batches, %v", n, err)
	}
	if _, err := a.Loader(t.Context(), "s"); !errors.Is(err, broken) {
		t.Errorf("before the replacement: %v", err)
	}
	for range a.Dump(t.Context(), "s") {
		break // a caller may stop
	}
	checker, _ := a.(Checker)
	if problems, err := checker.Check(t.Context(), "s"); problems != nil || err != nil {
		t.Errorf("an archive that cannot be checked has problems: %q, %v", problems, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Catalog(t.Context(), "s"); err == nil || !strings.Contains(err.Error(), "was moved or deleted while it was open") {
		t.Errorf("after the replacement: %v", err)
	}
	if n, err := dump(); n != 0 || err == nil {
		t.Errorf("after the replacement: %d batches, %v", n, err)
	}
}

// TestBuildCatalog: the catalog of all records of a dump; an error of the dump is returned.
func TestBuildCatalog(t *testing.T) {
	one, two := sl1l2(t, "a", 1, 2), sl1l2(t, "b", 3)
	c, err := BuildCatalog(t.Context(), stored{batches: []*record.Batch{one, two}}, "s")
	if err != nil || c.Subset != "s" || c.Digest() != catalogOf(one, two).Digest() || c.Digest().Records != 3 {
		t.Errorf("%+v, %v", c, err)
	}
	broken := errors.New("broken")
	if c, err := BuildCatalog(t.Context(), stored{batches: []*record.Batch{one}, err: broken}, "s"); c != nil || !errors.Is(err, broken) {
		t.Errorf("%+v, %v", c, err)
	}
}

// checked is an archive with a damaged page.
type checked struct{ stored }

func (checked) Check(context.Context, string) ([]string, error) {
	return []string{"page 7 is damaged"}, errors.New("ends early")
}

// TestCheckOfWrapped: a wrapped archive is checked if it can be, and its error has the context.
func TestCheckOfWrapped(t *testing.T) {
	added := errors.New("added")
	a, _ := WrapErrors(checked{}, func(err error) error { return errors.Join(added, err) }).(Checker)
	if problems, err := a.Check(t.Context(), "s"); !slices.Equal(problems, []string{"page 7 is damaged"}) || !errors.Is(err, added) || !strings.Contains(err.Error(), "ends early") {
		t.Errorf("%q, %v", problems, err)
	}
}
