package enginetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/question"
)

// cancel tests cancellation: a waiting caller must get the context's error, and the archive must stay
// usable and intact.
func (s *suite) cancel(t *testing.T) {
	h := s.openNew(t)
	files := Generate(21, 4, caseSeries()...)
	mustStore(t, h, "cases", files[:3], 3)
	canceled, stop := context.WithCancel(t.Context())
	stop()
	t.Run("asking", func(t *testing.T) { s.cancelAsk(t, h, canceled, files[:3]) })
	t.Run("loading", func(t *testing.T) { s.cancelLoad(t, h, canceled, files) })
	t.Run("a dump that the caller ends", func(t *testing.T) {
		for range h.Dump(t.Context(), "cases") {
			break
		}
		ctx, stop := context.WithCancel(t.Context())
		for range h.Dump(ctx, "cases") {
			stop()
			break
		}
		stop()
		checkDigest(t, h, "cases", expect(files))
	})
	t.Run("reading", func(t *testing.T) {
		var failed error
		for b, err := range h.Dump(canceled, "cases") {
			if failed = err; err == nil {
				t.Fatalf("a canceled dump yields %d records", b.Len())
			}
		}
		if !errors.Is(failed, context.Canceled) {
			t.Errorf("a canceled dump ends with %v", failed)
		}
		if _, err := h.Contents(canceled, "cases"); !errors.Is(err, context.Canceled) {
			t.Errorf("contents: %v", err)
		}
		if _, err := h.Marks(canceled, "cases"); !errors.Is(err, context.Canceled) {
			t.Errorf("marks: %v", err)
		}
	})
}

// cancelAsk cancels before an answer and after growing times during it. The result must be complete and
// correct, or the context's error.
func (s *suite) cancelAsk(t *testing.T, h *opened, canceled context.Context, files []File) {
	q := everything("cases", lineType("SAL1L2"))
	q.Valid = question.Times{First: newYear2019, Last: newYear2019 + 90*day, Step: 3 * hour}
	want := references(files, []*question.Question{q})[0]
	for _, f := range s.flavours {
		p, err := h.Phrase(t.Context(), q, f)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ask(canceled, h, p); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: asked with a canceled context, the error is %v", f, err)
		}
		for wait := 100 * time.Microsecond; wait < 100*time.Millisecond; wait *= 4 {
			ctx, stop := context.WithTimeout(t.Context(), wait)
			got, err := ask(ctx, h, p)
			stop()
			if err != nil && !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: stopped after %v, the error is %v", f, wait, err)
			}
			if err == nil {
				if _, err := answer.Compare(want, got); err != nil {
					t.Errorf("%s: stopped after %v, the answer is wrong: %v", f, wait, err)
				}
			}
		}
		s.proveOne(t, h, q, f, want)
	}
}

// cancelLoad cancels commits: each must be stored completely or not at all.
func (s *suite) cancelLoad(t *testing.T, h *opened, canceled context.Context, files []File) {
	if _, err := store(canceled, h, "cases", files[3:], 1); !errors.Is(err, context.Canceled) {
		t.Errorf("loaded with a canceled context, the error is %v", err)
	}
	checkDigest(t, h, "cases", expect(files[:3]))
	for wait := time.Millisecond; wait < 100*time.Millisecond; wait *= 5 {
		ctx, stop := context.WithTimeout(t.Context(), wait)
		_, err := store(ctx, h, "cases", files[3:], 1)
		stop()
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("stopped after %v, the error is %v", wait, err)
		}
		s.checkWholeFiles(t, h, "cases", files)
	}
	mustStore(t, h, "cases", files[3:], 1)
	checkDigest(t, h, "cases", expect(files))
	checkMarks(t, h, "cases", files)
}

// checkWholeFiles checks that the archive contains exactly the records of the marked files, and returns the
// other files. A server may still execute the last commit of a killed client: if the marks change
// meanwhile, checkWholeFiles checks again.
func (s *suite) checkWholeFiles(t *testing.T, h *opened, subset string, files []File) []File {
	t.Helper()
	for {
		rest := s.unmarked(t, h, subset, files)
		stored := slices.DeleteFunc(slices.Clone(files), func(f File) bool {
			return slices.ContainsFunc(rest, func(r File) bool { return r.Path == f.Path })
		})
		seen := &findings{TB: t}
		checkDigest(seen, h, subset, expect(stored))
		checkMarks(seen, h, subset, stored)
		checkCatalog(seen, h, subset, stored)
		if len(seen.errors) == 0 || len(s.unmarked(t, h, subset, files)) == len(rest) {
			for _, e := range seen.errors {
				t.Error(e)
			}
			return rest
		}
	}
}

// findings collects errors that may disappear in the next check.
type findings struct {
	testing.TB
	errors []string
}

func (f *findings) Errorf(format string, args ...any) {
	f.errors = append(f.errors, fmt.Sprintf(format, args...))
}
