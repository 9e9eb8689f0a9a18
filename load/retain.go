package load

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/fault"
)

// trimStep bounds what one commit removes.
const trimStep = 30 * 24 * time.Hour

// Retain removes from a subset the records that are older than the newest by
// more than keep, by fcst_valid_beg, and returns how many. The marks of their
// files stay, so that no load brings them back.
func Retain(ctx context.Context, a engine.Archive, subset string, keep time.Duration) (removed int64, from time.Time, err error) {
	c, err := a.Catalog(ctx, subset)
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	for _, g := range c.Groups {
		if n := len(g.Valid); n > 0 {
			first, last = min(first, g.Valid[0]), max(last, g.Valid[n-1])
		}
	}
	cut := last - int64(keep/time.Second)
	from = time.Unix(cut, 0).UTC()
	if err != nil || first >= cut {
		return 0, from, err
	}
	l, err := a.Loader(ctx, subset)
	if err != nil {
		return 0, from, err
	}
	defer l.Close() //nolint:errcheck // everything is committed
	for at := first; at < cut && err == nil; {
		at = min(at+int64(trimStep/time.Second), cut)
		err = engine.Trim(ctx, l, at)
	}
	if errors.Is(err, errors.ErrUnsupported) {
		err = &fault.Error{Setting: "--retain", Problem: "this engine removes no records of an archive", Err: err, Cure: "load into a new subset from time to time, or choose another engine"}
	}
	if err != nil {
		return 0, from, err
	}
	now, err := a.Catalog(ctx, subset)
	if err != nil {
		return 0, from, err
	}
	if removed = now.Trimmed - c.Trimmed; now.Brought() < c.Brought() {
		err = &fault.Error{Err: fmt.Errorf("%w: %d records were counted before %d were removed, and %d after", ErrNotConserved, c.Held().Records, removed, now.Held().Records), Cure: cure}
	}
	return removed, from, err
}
