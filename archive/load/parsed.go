package load

import (
	"sync"

	"github.com/barograph/barograph/record"
)

// ParseCache stores the batches of parsed files, which lets a study load several archives from one
// parse. It stores all batches. If they need more memory than allowed, it stores none, and each
// load parses the files again. A stored batch must not be changed.
type ParseCache struct {
	maxBytes int // limit of bytes

	mu      sync.Mutex
	bytes   int // memory used until now
	batches map[string][]*record.Batch
	files   map[string]*File // files that were read to their end or to an error
}

// NewParseCache stores up to about this many bytes.
func NewParseCache(maxBytes int) *ParseCache {
	return &ParseCache{maxBytes: maxBytes, batches: map[string][]*record.Batch{}, files: map[string]*File{}}
}

// HasFiles reports whether a finished reading stored all files. It must not be called during the first reading.
func (p *ParseCache) HasFiles() bool { return p.sharesBatches() && len(p.files) > 0 }

// sharesBatches reports whether the cache may store the batches of a reading. Nobody may then recycle their memory.
func (p *ParseCache) sharesBatches() bool {
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.files != nil
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

// file returns a stored file with its batches; nil = not stored. It removes the batches of a reading that was interrupted.
func (p *ParseCache) file(path string) (*File, []*record.Batch) {
	if p == nil {
		return nil, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.files[path] == nil {
		delete(p.batches, path)
	}
	return p.files[path], p.batches[path]
}
