package ycsb

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/barograph/barograph/fault"
)

// Shard is one client's part of the work of several: of a load a range of the
// keys; of a run a part of the operations and of the target, over all keys, and
// every n-th of the keys that are inserted. The zero Shard is all of it.
type Shard struct{ Index, Of int64 } // Index from 0

// ParseShard reads "2/3": the second of three.
func ParseShard(s string) (Shard, error) {
	index, of, ok := strings.Cut(s, "/")
	i, err1 := strconv.ParseInt(index, 10, 32)
	n, err2 := strconv.ParseInt(of, 10, 32)
	if !ok || err1 != nil || err2 != nil || i < 1 || i > n {
		return Shard{}, &fault.Error{Problem: strconv.Quote(s) + " is no part", Cure: "write like 1/3 on the first of three clients"}
	}
	return Shard{i - 1, n}, nil
}

// String writes it as ParseShard reads it; "" for all of it.
func (s Shard) String() string {
	if s.Of == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Index+1, s.Of)
}

// Set and Type make a Shard the value of a flag.
func (s *Shard) Set(text string) (err error) {
	*s, err = ParseShard(text)
	return err
}

// Type names what the flag takes.
func (s *Shard) Type() string { return "i/n" }

// split returns the part of n things that begin at first.
func (s Shard) split(first, n int64) (begin, count int64) {
	if s.Of < 2 {
		return first, n
	}
	share, rest := n/s.Of, n%s.Of
	return first + s.Index*share + min(s.Index, rest), share + min(1, max(0, rest-s.Index))
}

// keyNumber is the number of a key that this client counts as number: those
// that are inserted are dealt out among the clients in turn.
func (c *Config) keyNumber(number int64) int64 {
	if c.Shard.Of < 2 || number < c.Records {
		return number
	}
	return c.Records + (number-c.Records)*c.Shard.Of + c.Shard.Index
}

// stream numbers the random numbers of a worker, apart from those of other clients.
func (s Shard) stream(worker int) uint64 { return uint64(s.Index)<<32 + uint64(worker) } //nolint:gosec // not negative
