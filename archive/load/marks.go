package load

import (
	"context"
	"errors"
	"sync"

	"github.com/barograph/barograph/engine/archive"
)

// fewFiles: where an archive knows more than so many times the files at hand, their
// marks are looked up one by one, and not all are read. A night's files then take as
// long into an archive of years as into a new one; each is known by its bytes alone.
const fewFiles = 16

// marks are what an archive knew of files before the load.
type marks struct {
	archive archive.Archive
	subset  string
	all     []archive.Mark // nil = they are looked up

	mu sync.Mutex              // the parsers ask for theirs
	of map[string]archive.Mark // by digest; of those looked up, one without a digest where there is none
}

// newMarks reads all, or prepares to look them up where there are more than most.
func newMarks(ctx context.Context, a archive.Archive, subset string, most int64) (*marks, error) {
	m := &marks{archive: a, subset: subset, of: map[string]archive.Mark{}}
	c, err := a.Catalog(ctx, subset)
	if err != nil {
		return nil, err
	}
	if c.Counted && c.Sealed && c.Files.Records > most {
		if _, err := archive.MarksOf(ctx, a, subset, nil); !errors.Is(err, errors.ErrUnsupported) {
			return m, err
		}
	}
	if m.all, err = a.Marks(ctx, subset); err != nil {
		return nil, err
	}
	if m.all == nil {
		m.all = []archive.Mark{}
	}
	for _, one := range m.all {
		m.of[one.Digest] = one
	}
	return m, nil
}

// find is the mark of a file's bytes, if there is one.
func (m *marks) find(ctx context.Context, digest string) (one archive.Mark, known bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	one, asked := m.of[digest]
	if asked || m.all != nil {
		return one, one.Digest != "", nil
	}
	found, err := archive.MarksOf(ctx, m.archive, m.subset, []archive.Mark{{Digest: digest}})
	if err != nil {
		return one, false, err
	}
	if len(found) > 0 {
		one = found[0]
	}
	m.of[digest] = one
	return one, one.Digest != "", nil
}

// found is the mark of a file that a parser has looked for.
func (m *marks) found(digest string) archive.Mark {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.of[digest]
}

// every lists all that there are.
func (m *marks) every(ctx context.Context) ([]archive.Mark, error) {
	if m.all != nil {
		return m.all, nil
	}
	return m.archive.Marks(ctx, m.subset)
}
