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
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/results/run"

	"github.com/zeebo/xxh3"
)

// answers are the rows of the last questions, from which the intervals and the downloads of a curve
// are computed.
type answers struct {
	mu   sync.Mutex
	last []kept // the latest first
}

type kept struct {
	key  string
	rows *answer.Answer
}

// The limits of what is kept: answers, and bytes of all.
const (
	maxKept  = 8
	maxBytes = 256 << 20
)

func (k *answers) recall(key string) *answer.Answer {
	k.mu.Lock()
	defer k.mu.Unlock()
	i := slices.IndexFunc(k.last, func(o kept) bool { return o.key == key })
	if i < 0 {
		return nil
	}
	found := k.last[i]
	k.last = slices.Insert(slices.Delete(k.last, i, i+1), 0, found)
	return found.rows
}

func (k *answers) keep(key string, rows *answer.Answer) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.last = slices.Insert(k.last, 0, kept{key, rows})
	var size int64
	for i, o := range k.last {
		if size += o.rows.Bytes(); i == maxKept || size > maxBytes {
			k.last = slices.Clip(k.last[:i])
			return
		}
	}
}

// dataOf returns a name of the contents of a subset, derived from the files that were loaded into
// it.
func dataOf(ctx context.Context, in archive.Archive, subset string) (string, error) {
	marks, err := in.Marks(ctx, subset)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(marks)
	return fmt.Sprintf("%016x", xxh3.Hash(text)), err
}

// fresh sets the ETag of a question to an archive, and reports whether the
// browser has its answer already.
func (s *Server) fresh(w http.ResponseWriter, r *http.Request, data string) bool {
	tag := fmt.Sprintf(`W/"%016x"`, xxh3.HashString(r.URL.Path+"?"+r.URL.Query().Encode()+"\n"+data+"\n"+s.o.Version))
	w.Header().Set("ETag", tag)
	w.Header().Set("Cache-Control", "private, no-cache")
	if r.Header.Get("If-None-Match") != tag {
		return false
	}
	w.WriteHeader(http.StatusNotModified)
	return true
}

// maxPoints are as many as a page draws.
const maxPoints = 100_000

// thin leaves so many points of all curves at most, of each stretch of a curve
// the lowest and the highest, and returns how many are shown of how many.
func thin(c *run.VerificationPlot, most int) (shown, all int) {
	for i := range c.Series {
		all += len(c.Series[i].X)
	}
	if all <= most {
		return all, all
	}
	stretch := 2 * ((all + most - 1) / most)
	for i := range c.Series {
		s := &c.Series[i]
		out := run.Series{Name: s.Name}
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
			for _, k := range slices.Compact([]int{min(low, high), max(low, high)}) {
				out.X, out.Records, out.Y = append(out.X, s.X[k]), append(out.Records, s.Records[k]), append(out.Y, s.Y[k])
				out.Low, out.High = append(out.Low, s.Low[k]), append(out.High, s.High[k])
			}
		}
		*s = out
		shown += len(s.X)
	}
	return shown, all
}
