package ycsb

import (
	"cmp"
	"math/bits"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/barograph/barograph/study/ycsb/dist"
)

// sequence numbers the keys that a run inserts. Workers may request the keys up to last.
type sequence struct {
	next atomic.Int64
	last atomic.Int64 // the insert of every key up to it has finished; if it failed, the key is in absent

	mu    sync.Mutex
	early map[int64]struct{} // numbers above last+1 whose inserts have finished
}

// newSequence returns a sequence that begins after the loaded records.
func newSequence(records int64) *sequence {
	s := &sequence{early: map[int64]struct{}{}}
	s.next.Store(records)
	s.last.Store(records - 1)
	return s
}

// take returns the number of the next key to insert.
func (s *sequence) take() int64 { return s.next.Add(1) - 1 }

// settled marks the insert of a key as finished. If the insert failed, call absent.mark before.
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

// absent is the set of keys that were deleted, or whose insert failed. It allocates pages of bits only
// for ranges of numbers that contain such keys.
type absent struct {
	count atomic.Int64

	mu    sync.RWMutex
	pages map[int64]*[pageBits / 64]uint64
}

const pageBits = 1 << 15

// mark adds a key; it returns false if the set contains the key already.
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

const keyPrefix = "user"

// appendKey appends the key of a number, as YCSB's buildKeyName makes it.
func (c *Config) appendKey(to []byte, number int64) []byte {
	if !c.Ordered {
		number = dist.Hash(number)
	}
	var digits [20]byte
	d := strconv.AppendInt(digits[:0], number, 10)
	to = append(to, keyPrefix...)
	for range c.ZeroPadding - int64(len(d)) {
		to = append(to, '0')
	}
	return append(to, d...)
}

// appendDerived appends the value of YCSB's dataintegrity, of n bytes: key and field, then repeatedly the
// hash that Java computes of the text until then.
func appendDerived(to, key []byte, field string, n int64) []byte {
	begin := len(to)
	to = append(to, key...)
	to = append(to, ':')
	to = append(to, field...)
	h, hashed := int32(0), begin
	for int64(len(to)-begin) < n {
		to = append(to, ':')
		for ; hashed < len(to); hashed++ {
			h = 31*h + int32(to[hashed]) // continues the hash of the shorter text
		}
		to = strconv.AppendInt(to, int64(h), 10)
	}
	return to[:begin+int(n)]
}

// existing lists, in the order of keys, records that a scan must return: all loaded records or,
// if there are more than mostPlaces, about that many with the greatest keys.
type existing struct {
	from   uint64 // ordinals from here on are complete; 0 = all records
	sorted []place
}

// place is a record by its place in the order of keys.
type place struct {
	ordinal uint64
	number  int64
}

const (
	mostPlaces   = 1 << 20 // of 16 bytes each
	mostIndexed  = 1 << 27 // records of a table that are sorted into places, which takes a few seconds
	sampledToCut = 1 << 16 // records from which newExisting estimates the smallest of the greatest keys
)

func power10(n int) uint64 {
	p := uint64(1)
	for range n {
		p *= 10
	}
	return p
}

// ordinal maps a key to a number; these numbers sort like the bytes of the keys. value is the number
// that the key's digits express, length is their count.
func (c *Config) ordinal(value uint64, length int) uint64 {
	switch {
	case c.ZeroPadding >= 19:
		return value // all keys have the same length
	case !c.Ordered:
		return value * power10(19-length) // like decimal places; hashes are not prefixes of each other
	}
	// A key sorts before the longer keys that begin with it. Therefore digits count from 1.
	digits, n := [18]uint64{}, value
	for i := length - 1; i >= 0; i-- {
		digits[i] = n%10 + 1
		n /= 10
	}
	out := uint64(0)
	for _, d := range digits {
		out = out*11 + d
	}
	return out
}

// ordinalOf returns the ordinal of the key of a number.
func (c *Config) ordinalOf(number int64) uint64 {
	if !c.Ordered {
		number = dist.Hash(number)
	}
	length := 1
	for n := number; n >= 10; n /= 10 {
		length++
	}
	return c.ordinal(uint64(number), max(length, int(c.ZeroPadding)))
}

// ordinalKey returns the ordinal of a key; false = it is no key of the workload.
func (c *Config) ordinalKey(key []byte) (uint64, bool) {
	if len(key) <= len(keyPrefix) || string(key[:len(keyPrefix)]) != keyPrefix {
		return 0, false
	}
	digits := key[len(keyPrefix):]
	if c.ZeroPadding < 19 && (len(digits) > 19 || c.Ordered && len(digits) > 18) {
		return 0, false
	}
	v := uint64(0)
	for _, d := range digits {
		hi, lo := bits.Mul64(v, 10)
		if d < '0' || d > '9' || hi > 0 || lo+uint64(d-'0') < lo {
			return 0, false
		}
		v = lo + uint64(d-'0')
	}
	return c.ordinal(v, len(digits)), true
}

// newExisting returns the loaded records of a workload, or nil if there are more than mostIndexed.
func newExisting(c *Config) *existing {
	if c.InsertCount > mostIndexed {
		return nil
	}
	e := &existing{}
	if c.InsertCount > mostPlaces {
		sample := make([]uint64, 0, sampledToCut)
		for i := range int64(sampledToCut) {
			sample = append(sample, c.ordinalOf(c.InsertStart+i*(c.InsertCount/sampledToCut)))
		}
		slices.Sort(sample)
		share := float64(mostPlaces) / float64(c.InsertCount) * 0.9 // less, because a sample is not exact
		e.from = sample[len(sample)-1-int(share*float64(len(sample)-1))]
	}
	for n := c.InsertStart; n < c.InsertStart+c.InsertCount; n++ {
		if o := c.ordinalOf(n); o >= e.from {
			e.sorted = append(e.sorted, place{o, n})
		}
	}
	slices.SortFunc(e.sorted, func(a, b place) int { return cmp.Compare(a.ordinal, b.ordinal) })
	return e
}

// search returns the index of the first place with this ordinal or a greater one.
func (e *existing) search(ordinal uint64) int {
	compare := func(p place, o uint64) int { return cmp.Compare(p.ordinal, o) }
	i, _ := slices.BinarySearchFunc(e.sorted, ordinal, compare)
	return i
}
