package answer

import (
	"slices"

	"github.com/barograph/barograph/question"
	"github.com/barograph/barograph/record"
)

// Matcher decides which rows of a batch a question asks for. Headers are
// looked at once per batch, not once per row.
type Matcher struct {
	q     *question.Question
	valid map[int64]struct{} // of a list; nil for ranges
	b     *record.Batch
	heads []bool
}

// NewMatcher prepares to match q.
func NewMatcher(q *question.Question) *Matcher {
	m := &Matcher{q: q}
	if len(q.Valid.List) > 0 {
		m.valid = make(map[int64]struct{}, len(q.Valid.List))
		for _, v := range q.Valid.List {
			m.valid[v] = struct{}{}
		}
	}
	return m
}

// Header reports whether records under h can match.
func (m *Matcher) Header(h *record.Header) bool {
	for f, values := range m.q.Header {
		if len(values) > 0 && !slices.Contains(values, h[f]) {
			return false
		}
	}
	return true
}

// Use points the matcher at b.
func (m *Matcher) Use(b *record.Batch) {
	m.b, m.heads = b, m.heads[:0]
	for i := range b.Headers {
		m.heads = append(m.heads, m.Header(&b.Headers[i]))
	}
}

// Row reports whether row i of the batch in use matches.
func (m *Matcher) Row(i int) bool {
	return m.heads[m.b.Head[i]] && m.Times(m.b.Valid[i], m.b.Lead[i])
}

// Times reports whether a valid time and a lead match.
func (m *Matcher) Times(valid int64, lead int32) bool {
	if len(m.q.Lead) > 0 {
		if _, ok := slices.BinarySearch(m.q.Lead, lead); !ok {
			return false
		}
	}
	if !m.q.Clock.All() && !m.q.Clock.Admits(valid, lead) {
		return false
	}
	if m.valid != nil {
		_, ok := m.valid[valid]
		return ok
	}
	return m.q.Valid.Contains(valid)
}
