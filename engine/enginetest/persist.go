package enginetest

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/barograph/barograph/engine"
)

// persist tests closing and reopening.
func (s *suite) persist(t *testing.T) {
	url := s.URL(t)
	files := Generate(7, 4, mixedSeries()...)
	h := s.open(t, url, engine.Options{})
	mustStore(t, h, "a", files[:2], 1)
	mustStore(t, h, "b", files[3:], 1)
	h.close(t)

	h = s.open(t, url, engine.Options{})
	checkDigest(t, h, "a", expect(files[:2]))
	checkMarks(t, h, "a", files[:2])
	checkCatalog(t, h, "a", files[:2])
	mustStore(t, h, "a", files[2:], 2)
	h.close(t)

	h = s.open(t, url, engine.Options{Threads: 1})
	checkDigest(t, h, "a", expect(files))
	checkDigest(t, h, "b", expect(files[3:]))
	checkMarks(t, h, "a", files)
	checkMarkOrder(t, h, "a", files)
	checkCatalog(t, h, "a", files)
	s.prove(t, h, files, everything("a", lineType("CTC")))
	mustStore(t, h, "a", files, 4)
	checkDigest(t, h, "a", expect(files))
}

// readOnly tests archives that are opened read-only: they answer questions and refuse loads.
func (s *suite) readOnly(t *testing.T) {
	url := s.URL(t)
	files := Generate(7, 2, mixedSeries()...)
	h := s.open(t, url, engine.Options{})
	mustStore(t, h, "a", files, 2)
	h.close(t)

	h = s.open(t, url, engine.Options{ReadOnly: true})
	if l, err := h.Loader(t.Context(), "a"); !errors.Is(err, engine.ErrReadOnly) {
		t.Errorf("the loader of a read-only archive is %v, %v; want ErrReadOnly", l, err)
	}
	checkDigest(t, h, "a", expect(files))
	checkMarks(t, h, "a", files)
	s.prove(t, h, files, everything("a", lineType("CTC")))
	s.checkEmpty(t, h, "nowhere")
	if n, err := h.Size(t.Context()); err != nil || n <= 0 {
		t.Errorf("size is %d, %v", n, err)
	}
	h.close(t)

	h = s.open(t, url, engine.Options{})
	checkDigest(t, h, "a", expect(files))
	h.close(t)

	if s.Driver.Place == engine.Embedded {
		t.Run("on read-only media", func(t *testing.T) {
			readOnlyMedia(t, filepath.Dir(databasePath(t, url)))
			s.attacked(t, "read-only media").Times = 1
			h := s.open(t, url, engine.Options{ReadOnly: true})
			checkDigest(t, h, "a", expect(files))
			s.prove(t, h, files, everything("a", lineType("CTC")))
			h.close(t)
			s.checkRefused(t, url, engine.Options{}) // before the load reads anything
		})
	}

	t.Run("a database that does not exist", func(t *testing.T) {
		if s.Driver.Place != engine.Embedded {
			t.Skip("the URL of a server names an existing database")
		}
		e, err := engine.Registry{s.Driver}.Open(t.Context(), s.URL(t), engine.Options{ReadOnly: true})
		if err == nil {
			_ = e.Close()
			t.Fatal("a database that does not exist was opened read-only")
		}
		if !errors.Is(err, engine.ErrUnreachable) {
			t.Errorf("the error is %v; want one that wraps ErrUnreachable", err)
		}
	})
}
