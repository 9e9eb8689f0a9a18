package ycsb

import (
	"sync"
	"sync/atomic"
)

// sequence numbers the keys that a run inserts, and knows up to where they are
// acknowledged. Only those may be requested.
type sequence struct {
	next atomic.Int64
	last atomic.Int64 // every key up to it was acknowledged, or is in absent

	mu    sync.Mutex
	early map[int64]struct{} // acknowledged before one below
}

// newSequence begins behind the records that are loaded.
func newSequence(records int64) *sequence {
	s := &sequence{early: map[int64]struct{}{}}
	s.next.Store(records)
	s.last.Store(records - 1)
	return s
}

func (s *sequence) take() int64 { return s.next.Add(1) - 1 }

// settled says that the insert of a key has ended. One that failed must be
// marked absent before.
func (s *sequence) settled(number int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.last.Load()
	if number != last+1 {
		s.early[number] = struct{}{}
		return
	}
	for last++; len(s.early) > 0; last++ {
		if _, ok := s.early[last+1]; !ok {
			break
		}
		delete(s.early, last+1)
	}
	s.last.Store(last)
}

// absent is the set of keys that were deleted, or whose insert failed: pages
// of bits, so that it grows with what is in it.
type absent struct {
	count atomic.Int64

	mu    sync.RWMutex
	pages map[int64]*[pageBits / 64]uint64
}

const pageBits = 1 << 15

// mark adds a key; false where it was there.
func (a *absent) mark(number int64) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.pages == nil {
		a.pages = map[int64]*[pageBits / 64]uint64{}
	}
	page := a.pages[number/pageBits]
	if page == nil {
		page = new([pageBits / 64]uint64)
		a.pages[number/pageBits] = page
	}
	word, bit := &page[number%pageBits/64], uint64(1)<<(number%64)
	if *word&bit != 0 {
		return false
	}
	*word |= bit
	a.count.Add(1)
	return true
}

func (a *absent) has(number int64) bool {
	if a.count.Load() == 0 {
		return false
	}
	a.mu.RLock()
	defer a.mu.RUnlock()
	page := a.pages[number/pageBits]
	return page != nil && page[number%pageBits/64]&(1<<(number%64)) != 0
}
