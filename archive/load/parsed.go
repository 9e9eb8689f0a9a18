package load

import (
	"sync"

	"github.com/barograph/barograph/record"
)

// Parsed keeps the batches of the files of a first reading, so that several
// archives are loaded from one parse. It keeps all of them or, where they take
// more memory than it may, none: then each reading parses anew. Nobody changes
// a batch that is kept.
type Parsed struct {
	most int // bytes

	mu      sync.Mutex
	bytes   int // so far
	batches map[string][]*record.Batch
	files   map[string]*File // those that were read to their end, or as far as that went
}

// NewParsed keeps up to so many bytes of memory, about.
func NewParsed(most int) *Parsed {
	return &Parsed{most: most, batches: map[string][]*record.Batch{}, files: map[string]*File{}}
}

// IsComplete reports whether anything is kept.
func (p *Parsed) IsComplete() bool {
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.files) > 0
}

// add keeps a batch.
func (p *Parsed) add(f *File, b *record.Batch) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bytes += footprint(b); p.bytes > p.most {
		p.batches, p.files = nil, nil
	}
	if p.batches != nil {
		p.batches[f.Path] = append(p.batches[f.Path], b)
	}
}

// end keeps what became of a file.
func (p *Parsed) end(f *File) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.files != nil {
		p.files[f.Path] = f
	}
}

// file is what is kept of a file; nil = nothing.
func (p *Parsed) file(path string) (*File, []*record.Batch) {
	if p == nil {
		return nil, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.files[path], p.batches[path]
}
