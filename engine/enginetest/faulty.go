package enginetest

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/question"
)

// Fault is a kind of wrong answer of an archive.
type Fault string

// The faults. Each changes what Ask returns. An answer that is too small for a fault stays
// unchanged.
const (
	LostRow       Fault = "lost row"       // one row in the middle is missing
	FlippedBit    Fault = "flipped bit"    // the lowest bit of one value is changed
	SwappedRows   Fault = "swapped rows"   // two different adjacent rows are swapped
	MissingLead   Fault = "missing lead"   // all rows of one forecast lead are missing
	StaleRead     Fault = "stale read"     // the first answer to a question is returned forever, also after later loads
	DuplicatedRow Fault = "duplicated row" // one row appears twice
	Truncated     Fault = "truncated"      // the second half of the answer is missing
)

// Faults lists the faults in their documented order.
func Faults() []Fault {
	return []Fault{LostRow, FlippedBit, SwappedRows, MissingLead, StaleRead, DuplicatedRow, Truncated}
}

// Faulty wraps an archive and gives its answers a fault. Tests of a comparison use it: the
// comparison must detect every fault.
func Faulty(a archive.Archive, f Fault) archive.Archive {
	return &faulty{Archive: a, fault: f, first: map[*question.Question]*answer.Answer{}}
}

type faulty struct {
	archive.Archive
	fault Fault

	mu    sync.Mutex
	first map[*question.Question]*answer.Answer
}

// Ask gets the archive's answer and applies the fault.
func (a *faulty) Ask(ctx context.Context, q *archive.Query, into *answer.Builder) error {
	var b answer.Builder
	if err := a.Archive.Ask(ctx, q, &b); err != nil {
		return err
	}
	got := b.Take()
	rows := make([]int, got.Rows)
	for i := range rows {
		rows[i] = i
	}
	middle := got.Rows / 2
	switch {
	case a.fault == StaleRead:
		got = a.remembered(q.Question, got)
		rows = rows[:min(len(rows), got.Rows)]
		for i := len(rows); i < got.Rows; i++ {
			rows = append(rows, i)
		}
	case got.Rows == 0:
	case a.fault == LostRow:
		rows = slices.Delete(rows, middle, middle+1)
	case a.fault == FlippedBit:
		flip(got, middle)
	case a.fault == SwappedRows:
		swap(got, rows)
	case a.fault == MissingLead:
		rows = withoutLead(got, rows, middle)
	case a.fault == DuplicatedRow:
		rows = slices.Insert(rows, middle, middle)
	case a.fault == Truncated:
		rows = rows[:middle]
	}
	into.Reset(got.Columns)
	for _, i := range rows {
		into.Copy(got, i)
	}
	return nil
}

func (a *faulty) remembered(q *question.Question, now *answer.Answer) *answer.Answer {
	a.mu.Lock()
	defer a.mu.Unlock()
	if old := a.first[q]; old != nil {
		return old
	}
	a.first[q] = now
	return now
}

// flip changes the last bit of a number that is not missing, from row i on, or of any other value
// if the answer has no number.
func flip(a *answer.Answer, i int) {
	for k := range slices.Backward(a.Columns) {
		num := a.Vectors[k].Num
		for j := range num {
			at := (i + j) % len(num)
			if num[at] != 0 && !math.IsNaN(num[at]) && !math.IsInf(num[at], 0) {
				num[at] = math.Float64frombits(math.Float64bits(num[at]) ^ 1)
				return
			}
		}
	}
	for k := range a.Columns {
		if v := &a.Vectors[k]; len(v.Seconds) > 0 {
			v.Seconds[i] ^= 1
			return
		} else if len(v.Text) > 0 {
			v.Text[i] += "\x01"
			return
		}
	}
}

// swap exchanges the first two adjacent rows that differ, from the middle on.
func swap(a *answer.Answer, rows []int) {
	for j := range len(rows) {
		i := (len(rows)/2 + j) % len(rows)
		if i+1 < len(rows) && a.Row(i) != a.Row(i+1) {
			rows[i], rows[i+1] = rows[i+1], rows[i]
			return
		}
	}
}

// withoutLead drops every row with the lead of row i, or only row i if the answer does not contain
// leads.
func withoutLead(a *answer.Answer, rows []int, i int) []int {
	k := slices.IndexFunc(a.Columns, func(c question.Column) bool { return c.Role == question.Lead })
	return slices.DeleteFunc(rows, func(j int) bool {
		if k < 0 {
			return j == i
		}
		return a.Vectors[k].Seconds[j] == a.Vectors[k].Seconds[i]
	})
}
