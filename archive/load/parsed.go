package load

import (
	"sync"

	"github.com/barograph/barograph/record"
)

// ParseCache stores the batches of parsed files, which lets a study load several archives from one
// parse. It stores all batches or, if they need more memory than allowed, none; then each load
// parses again. Nobody may change a stored batch.
type ParseCache struct {
	maxBytes int // bytes

	mu      sync.Mutex
	bytes   int // memory used until now
	batches map[string][]*record.Batch
	files   map[string]*File // files that were read to their end or to an error
}

// NewParseCache stores up to about this many bytes.
func NewParseCache(most int) *ParseCache {
	return &ParseCache{maxBytes: most, batches: map[string][]*record.Batch{}, files: map[string]*File{}}
}

// IsComplete reports whether the cache stores the files.
func (p *ParseCache) IsComplete() bool {
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.files) > 0
}

// add stores a batch.
func (p *ParseCache) add(f *File, b *record.Batch) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bytes += footprint(b); p.bytes > p.maxBytes {
		p.batches, p.files = nil, nil
	}
	if p.batches != nil {
		p.batches[f.Path] = append(p.batches[f.Path], b)
	}
}

// end stores the outcome of a file.
func (p *ParseCache) end(f *File) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.files != nil {
		p.files[f.Path] = f
	}
}

// file returns a stored file with its batches; nil = not stored.
func (p *ParseCache) file(path string) (*File, []*record.Batch) {
	if p == nil {
		return nil, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.files[path], p.batches[path]
}
