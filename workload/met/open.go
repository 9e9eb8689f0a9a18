package met

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/barograph/barograph/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/fault"
	"github.com/barograph/barograph/load"
	"github.com/barograph/barograph/measure"
)

// opened are the archives of a study, by place in Options.Targets; nil = not
// usable, for the reason in errs.
type opened struct {
	engines  []*engine.Engine
	archives []engine.Archive
	abouts   []engine.About
	errs     []error
}

func (o *opened) close() {
	for i := range o.archives {
		if o.archives[i] != nil {
			o.archives[i].Close() //nolint:errcheck // everything is committed
			o.archives[i] = nil
		}
		if o.engines[i] != nil {
			o.engines[i].Close() //nolint:errcheck // likewise
			o.engines[i] = nil
		}
	}
}

// open opens every target. A server that is not reached ends the study; an
// archive that cannot be opened is told, and the others go on.
func (s *study) open(ctx context.Context) (*opened, error) {
	n := len(s.o.Targets)
	o := &opened{engines: make([]*engine.Engine, n), archives: make([]engine.Archive, n), abouts: make([]engine.About, n), errs: make([]error, n)}
	for i, t := range s.o.Targets {
		e, err := s.o.Registry.Open(ctx, t.URL, engine.Options{Log: s.o.Log, Threads: s.o.Threads, ReadOnly: s.isSource(i)})
		damaged := t.Driver.Place == engine.Embedded && errors.Is(err, engine.ErrUnreachable)
		switch {
		case err != nil && (!damaged || s.isSource(i)):
			return o, err
		case err == nil && e.Archives == nil:
			return o, errors.Join(&fault.Error{Setting: t.String(), Problem: "keeps no verification archives", Cure: "see `barograph list engines`"}, e.Close())
		case err != nil:
			o.errs[i] = err
			continue
		}
		o.engines[i] = e
		if o.abouts[i], o.errs[i] = e.About(ctx); o.errs[i] != nil {
			continue
		}
		a, err := e.Archives.Open(ctx, t.Design)
		if o.errs[i] = err; err == nil {
			o.archives[i] = a
		}
	}
	if s.o.From {
		return o, errors.Join(o.errs[0], s.source(ctx, o.archives[0]))
	}
	return o, nil
}

// isSource reports whether a target is the archive that the data come from.
func (s *study) isSource(i int) bool { return s.o.From && i == 0 }

// source takes the first target for the data.
func (s *study) source(ctx context.Context, a engine.Archive) (err error) {
	if a == nil {
		return nil // which is told
	}
	t := &s.o.Targets[0]
	s.origin, err = load.NewOrigin(ctx, a, t.Subset, fault.Redact(t.URL))
	s.found = design.NewCatalog(t.Subset)
	return err
}

// sound ends a study of an archive that is not what was loaded.
func (s *study) sound(ctx context.Context) error {
	v, err := s.origin.Judge(ctx, s.found)
	if err != nil || len(v.Problems) == 0 {
		return err
	}
	return &fault.Status{Code: fault.Differs, Err: &fault.Error{
		Setting: s.origin.Name + ", subset " + s.origin.Subset, Problem: "is not what was loaded: " + v.Problems[0],
		Cure: "barograph verify tells the rest; bring back a copy, or study the files",
	}}
}

// place finds each target's subset: that of the study or, where it holds other
// data, one of its own that is named after the data.
func (s *study) place(ctx context.Context, o *opened) error {
	for i, a := range o.archives {
		t := &s.o.Targets[i]
		if a == nil || s.isSource(i) {
			continue
		}
		t.Subset = s.o.Subset
		files, err := s.others(ctx, a, t.Subset)
		switch {
		case err != nil:
			o.errs[i] = err
		case files > 0 && s.o.Named:
			return fault.Misuse("--subset "+t.Subset, fmt.Sprintf("of %s holds %d files of other data", t, files), "name another, or none: then it is named after the data")
		case files > 0:
			t.Subset = fmt.Sprintf("%s_%08x", s.o.Subset, uint32(s.digest.Hi>>32)) //nolint:gosec // some of its digits
			note := fmt.Sprintf("%s of it holds %d files of other data; this study's is %s", s.o.Subset, files, t.Subset)
			s.o.Progress(Progress{Step: "subset of " + t.String(), Finished: true, Note: note})
		}
	}
	return nil
}

// others counts the files of a subset, and of those of its copies, that are not this study's.
func (s *study) others(ctx context.Context, a engine.Archive, subset string) (n int, err error) {
	for k := range s.o.Copies {
		marks, err := a.Marks(ctx, CopyName(subset, k))
		if err != nil {
			return n, err
		}
		for _, m := range marks {
			if !s.files[m.Digest] {
				n++
			}
		}
	}
	return n, nil
}

// fillFloor gives the floor what the cases ask for: it answers from memory,
// which need not hold the rest.
func (s *study) fillFloor(ctx context.Context, a engine.Archive, subset string) (n int64, err error) {
	l, err := a.Loader(ctx, subset)
	if err != nil {
		return 0, err
	}
	defer l.Close() //nolint:errcheck // nothing is left of it
	for _, b := range s.asked.Rows() {
		c := design.NewCatalog(subset)
		c.Add(b)
		if err := l.Add(ctx, b); err != nil {
			return n, err
		}
		stored, err := l.Commit(ctx, engine.Commit{Catalog: c})
		if err != nil {
			return n, err
		}
		n += stored.New
	}
	return n, nil
}

// forecast tells once, when some of the data are read, how long the rest will
// take and how much memory the cases.
type forecast struct {
	began time.Time
	told  bool
}

// forecastAfter is how long the data are read before anything is foretold.
const forecastAfter = 2 * time.Second

func (f *forecast) tell(ctx context.Context, s *study, at Progress) {
	if f.began.IsZero() {
		f.began = time.Now()
	}
	took := time.Since(f.began)
	if f.told || took < forecastAfter || at.Done*50 < at.Of {
		return
	}
	f.told = true
	share, memory := float64(at.Of)/float64(at.Done), 0.0
	for _, b := range s.asked.Rows() {
		memory += share * float64(b.Len()*(120+8*len(b.Num)+16*len(b.Text)))
	}
	s.o.Progress(Progress{Step: "forecast", Finished: true, Note: fmt.Sprintf("reading will take %s in all, and the cases %.1f GB of memory", seconds(time.Duration(share*float64(took))), memory/1e9)})
	if free := float64(measure.AvailableMemory(ctx)); free > 0 && memory > free/2 {
		s.warn(fmt.Sprintf("the cases will take some %.1f GB of memory, of which %.1f GB are free; ask for less by --case", memory/1e9, free/1e9))
	}
}
