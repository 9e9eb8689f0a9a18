package load

import (
	"context"
	"errors"
	"sync"

	"github.com/barograph/barograph/engine/archive"
)

// marksPerFile: if the archive has more marks than this for each file of the load, the load looks up marks one by one. A
// small load then takes as long into a large archive as into a new one. Without the list of marks the load cannot
// compare modification times, so it reads the bytes of every file.
const marksPerFile = 16

// marks are the files that the archive knew before the load.
type marks struct {
	archive archive.Archive
	subset  string
	all     []archive.Mark // nil = they are looked up one by one

	mu sync.Mutex // guards byDigest, because parsers look up marks concurrently
	// by digest; a mark with an empty digest = the archive does not know the file
	byDigest map[string]archive.Mark
}

// newMarks reads all marks. If there are more than maxMarks, it reads none, and find looks them up.
func newMarks(ctx context.Context, a archive.Archive, subset string, maxMarks int64) (*marks, error) {
	m := &marks{archive: a, subset: subset, byDigest: map[string]archive.Mark{}}
	c, err := a.Catalog(ctx, subset)
	if err != nil {
		return nil, err
	}
	if c.Counted && c.Sealed && c.Files.Records > maxMarks {
		if _, err := archive.MarksOf(ctx, a, subset, nil); !errors.Is(err, errors.ErrUnsupported) {
			return m, err
		}
	}
	all, err := a.Marks(ctx, subset)
	m.all = append([]archive.Mark{}, all...) // not nil
	for _, one := range all {
		m.byDigest[one.Digest] = one
	}
	return m, err
}

// find returns the mark of a file's bytes, if there is one.
func (m *marks) find(ctx context.Context, digest string) (one archive.Mark, known bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	one, isCached := m.byDigest[digest]
	if isCached || m.all != nil {
		return one, one.Digest != "", nil
	}
	found, err := archive.MarksOf(ctx, m.archive, m.subset, []archive.Mark{{Digest: digest}})
	if err != nil {
		return one, false, err
	}
	if len(found) > 0 {
		one = found[0]
	}
	m.byDigest[digest] = one
	return one, one.Digest != "", nil
}

// cached returns the mark of a file that a parser has looked up.
func (m *marks) cached(digest string) archive.Mark {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.byDigest[digest]
}

// list returns all marks.
func (m *marks) list(ctx context.Context) ([]archive.Mark, error) {
	if m.all != nil {
		return m.all, nil
	}
	return m.archive.Marks(ctx, m.subset)
}
