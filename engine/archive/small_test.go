package archive

import (
	"context"
	"errors"
	"iter"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// A commit is refused for each existing record that is a duplicate or protected. It replaces all others.
func TestCheckOfACommit(t *testing.T) {
	one, other := record.Digest{Lo: 1}, record.Digest{Lo: 2}
	duplicate := ExistingRecord{Key: record.Key{Lo: 1}, Stored: one, Incoming: one}
	protected := ExistingRecord{Key: record.Key{Lo: 2}, Stored: one, Incoming: other}
	replaced := ExistingRecord{Key: record.Key{Lo: 3}, Stored: one, Incoming: other}
	isProtected := func(r ExistingRecord) bool { return r.Key == protected.Key }
	for name, c := range map[string]struct {
		protect           func(ExistingRecord) bool
		existing, refused []ExistingRecord
	}{
		"no record":             {isProtected, nil, nil},
		"a replaced one":        {isProtected, []ExistingRecord{replaced}, nil},
		"all kinds":             {isProtected, []ExistingRecord{replaced, duplicate, protected}, []ExistingRecord{duplicate, protected}},
		"nothing is protected":  {nil, []ExistingRecord{replaced, protected}, nil},
		"duplicates in any way": {nil, []ExistingRecord{replaced, duplicate}, []ExistingRecord{duplicate}},
	} {
		err := (&Commit{IsProtected: c.protect}).Check(&CommitResult{Existing: c.existing}, design.NewCatalog("s"))
		var refused []ExistingRecord
		if conflict, ok := errors.AsType[*ConflictError](err); ok {
			refused = conflict.Records
		}
		if (err == nil) != (c.refused == nil) || !slices.Equal(refused, c.refused) {
			t.Errorf("%s: %v refuses %v, want %v", name, err, refused, c.refused)
		}
	}
}

// The offer of an SQL engine has exactly the designs that the engine names, each with flavours.
func TestSQLOffer(t *testing.T) {
	for _, designs := range [][]design.Name{{design.Wide}, {design.Document, design.Normalized}} {
		got := SQLOffer(designs...)
		offered, want := slices.Sorted(maps.Keys(got.Designs)), slices.Sorted(slices.Values(designs))
		if !slices.Equal(offered, want) || !slices.Equal(got.MeanDesigns, designs) {
			t.Errorf("%v: %+v", designs, got)
		}
		for n, flavours := range got.Designs {
			if len(flavours) == 0 {
				t.Errorf("%v: %s has no flavour", designs, n)
			}
		}
	}
}

// phrasing is an archive whose flavours fail with errors.
type phrasing struct {
	Archive
	fails map[flavour.Name]error
}

func (a phrasing) Phrase(_ context.Context, _ *question.Question, f flavour.Name) (*Query, error) {
	return &Query{Flavour: f}, a.fails[f]
}

// A question is phrased in the last flavour that can express it. Any other error ends the search.
func TestPhraseBest(t *testing.T) {
	broken := errors.New("no connection")
	offered := []flavour.Name{flavour.SQL, flavour.ISORange, flavour.EpochRange}
	cannot := flavour.ErrCannotExpress
	for name, c := range map[string]struct {
		fails [3]error // of the offered flavours
		want  flavour.Name
		err   error
	}{
		"all can":          {[3]error{}, flavour.EpochRange, nil},
		"the last cannot":  {[3]error{nil, nil, cannot}, flavour.ISORange, nil},
		"only the first":   {[3]error{nil, cannot, cannot}, flavour.SQL, nil},
		"none can":         {[3]error{cannot, cannot, cannot}, "", cannot},
		"the last breaks":  {[3]error{nil, nil, broken}, "", broken},
		"the first breaks": {[3]error{broken, nil, nil}, flavour.EpochRange, nil},
	} {
		a := phrasing{fails: map[flavour.Name]error{}}
		for i, f := range offered {
			a.fails[f] = c.fails[i]
		}
		q, err := PhraseBest(t.Context(), a, &question.Question{}, offered)
		if !errors.Is(err, c.err) || err == nil && q.Flavour != c.want {
			t.Errorf("%s: %+v, %v", name, q, err)
		}
	}
	if _, err := PhraseBest(t.Context(), phrasing{}, &question.Question{}, nil); !errors.Is(err, flavour.ErrCannotExpress) {
		t.Errorf("without a flavour: %v", err)
	}
}

// failing is an archive whose catalog has an error.
type failing struct {
	Archive
	err error
}

func (a failing) Catalog(context.Context, string) (*design.Catalog, error) { return nil, a.err }

func (a failing) Salvage(context.Context, string, func(Loss)) iter.Seq2[*record.Batch, error] {
	return func(yield func(*record.Batch, error) bool) { yield(nil, a.err) }
}

// A wrapped archive adds context to its errors, and does not make an error of a success.
func TestWrapErrors(t *testing.T) {
	bare, added := errors.New("bare"), errors.New("added")
	for _, c := range []struct{ err, want error }{{nil, nil}, {bare, added}} {
		a := WrapErrors(failing{err: c.err}, func(err error) error { return errors.Join(added, err) })
		if _, err := a.Catalog(t.Context(), "s"); !errors.Is(err, c.want) || !errors.Is(err, c.err) {
			t.Errorf("%v becomes %v", c.err, err)
		}
		for _, err := range Salvage(t.Context(), a, "s", nil) {
			if !errors.Is(err, c.want) || !errors.Is(err, c.err) {
				t.Errorf("%v becomes %v in Salvage", c.err, err)
			}
		}
	}
}

// Only an embedded engine with a path has a file that names the load.
func TestLoadingFile(t *testing.T) {
	for text, want := range map[string]string{"x:a/b.db": "a/b.db.loading", "x:///a/folder/": "/a/folder.loading", "x:": ""} {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := LoadingFile(&engine.Driver{Place: engine.Embedded}, u); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
		if got := LoadingFile(&engine.Driver{Place: "server"}, u); got != "" {
			t.Errorf("%s of a server: %q", text, got)
		}
	}
	// A symbolic link has the loading file of the archive that it names.
	dir, err := filepath.EvalSymlinks(t.TempDir())
	target := filepath.Join(dir, "target.db")
	link := filepath.Join(dir, "link.db")
	if err = errors.Join(err, os.WriteFile(target, nil, 0o600), os.Symlink(target, link)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{target, link} {
		if got := LoadingFileOf(path); got != target+".loading" {
			t.Errorf("%s: %s", path, got)
		}
	}
}
