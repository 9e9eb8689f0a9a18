package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"sync"

	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/results/run"

	"github.com/zeebo/xxh3"
)

// answerCache contains the rows of the last questions. The server computes the intervals and the downloads
// of a curve from them.
type answerCache struct {
	mu      sync.Mutex
	entries []cachedAnswer // the latest first
}

type cachedAnswer struct {
	key  string
	rows *answer.Answer
}

// The limits of the cache: the number of answers, and the bytes of all answers.
const (
	maxCached      = 8
	maxCachedBytes = 256 << 20
)

// get returns the rows of a question; nil if the cache does not contain them.
func (c *answerCache) get(key string) *answer.Answer {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.entries, func(e cachedAnswer) bool { return e.key == key })
	if i < 0 {
		return nil
	}
	found := c.entries[i]
	c.entries = slices.Insert(slices.Delete(c.entries, i, i+1), 0, found)
	return found.rows
}

// put stores the rows of a question, and removes the oldest rows beyond the limits.
func (c *answerCache) put(key string, rows *answer.Answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries = slices.DeleteFunc(c.entries, func(e cachedAnswer) bool { return e.key == key })
	c.entries = slices.Insert(c.entries, 0, cachedAnswer{key, rows})
	var size int64
	for i, e := range c.entries {
		if size += e.rows.Bytes(); i == maxCached || size > maxCachedBytes {
			c.entries = slices.Delete(c.entries, i, len(c.entries)) // clears them, so that their memory is freed
			return
		}
	}
}

// contentsID identifies the contents of a subset. It is derived from the files that were loaded.
func contentsID(ctx context.Context, in archive.Archive, subset string) (string, error) {
	marks, err := in.Marks(ctx, subset)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(marks)
	return fmt.Sprintf("%016x", xxh3.Hash(text)), err
}

// notModified sets the ETag of a response about an archive. If the browser already has that response,
// notModified sends status 304 and returns true.
func (s *Server) notModified(w http.ResponseWriter, r *http.Request, data string) bool {
	source := r.URL.Path + "?" + r.URL.Query().Encode() + "\n" + data + "\n" + s.o.Version
	tag := fmt.Sprintf(`W/"%016x"`, xxh3.HashString(source))
	w.Header().Set("ETag", tag)
	w.Header().Set("Cache-Control", "private, no-cache")
	if r.Header.Get("If-None-Match") != tag {
		return false
	}
	w.WriteHeader(http.StatusNotModified)
	return true
}

// maxPoints is the maximum number of points that a page draws.
const maxPoints = 100_000

// thin reduces all curves together to about limit points. It divides each curve into stretches of equally many
// points, and keeps the lowest and the highest point of each, which are one point if all are equal. A curve
// keeps its first and its last point. thin returns the number of remaining points and the number of all points.
func thin(c *run.VerificationPlot, limit int) (shown, all int) {
	for i := range c.Series {
		all += len(c.Series[i].X)
	}
	if all <= limit {
		return all, all
	}
	stretch := 2 * ((all + limit - 1) / limit)
	for i := range c.Series {
		s := &c.Series[i]
		if len(s.X) == 0 {
			continue
		}
		kept := []int{0}
		for from := 0; from < len(s.X); from += stretch {
			to := min(from+stretch, len(s.X))
			low, high := from, from
			for k := from; k < to; k++ {
				if s.Y[k] < s.Y[low] || math.IsNaN(s.Y[low]) {
					low = k
				}
				if s.Y[k] > s.Y[high] || math.IsNaN(s.Y[high]) {
					high = k
				}
			}
			kept = append(kept, min(low, high), max(low, high))
		}
		kept = slices.Compact(append(kept, len(s.X)-1)) // they are sorted
		s.X, s.Records = lists.Pick(s.X, kept), lists.Pick(s.Records, kept)
		s.Labels, s.Marks = lists.Pick(s.Labels, kept), lists.Pick(s.Marks, kept)
		s.Y, s.Low, s.High = lists.Pick(s.Y, kept), lists.Pick(s.Low, kept), lists.Pick(s.High, kept)
		s.WhiskerLow, s.WhiskerHigh = lists.Pick(s.WhiskerLow, kept), lists.Pick(s.WhiskerHigh, kept)
		s.Outliers = lists.Pick(s.Outliers, kept)
		shown += len(s.X)
	}
	return shown, all
}
