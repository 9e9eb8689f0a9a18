package answer

import (
	"cmp"
	"math/bits"
	"slices"

	"barograph/question"
	"barograph/record"
)

// Arrange is Select for engines that have no language of their own and must be
// fast: it projects the given rows of b, all of which match q, in q's order.
// It orders by one packed integer a row instead of comparing column by column.
// The reference does not use it.
func Arrange(q *question.Question, b *record.Batch, rows []int32, into *Builder) {
	rows = sorted(q, b, rows)
	into.Reset(q.Columns)
	for k := range q.Columns {
		project(&q.Columns[k], b, rows, into.Vector(k))
	}
	into.Grow(len(rows))
}

// project appends a column of the rows to v.
func project(c *question.Column, b *record.Batch, rows []int32, v *Vector) {
	switch {
	case c.Role == question.HeaderField:
		v.Text = slices.Grow(v.Text, len(rows))
		for _, i := range rows {
			v.Text = append(v.Text, b.Headers[b.Head[i]][c.Field])
		}
	case c.Kind == question.Text:
		v.Text = gather(v.Text, b.Text[c.Slot], rows)
	case c.Kind == question.Number:
		v.Num = gather(v.Num, b.Num[c.Slot], rows)
	default:
		v.Whole = slices.Grow(v.Whole, len(rows))
		for _, i := range rows {
			v.Whole = append(v.Whole, seconds(c.Role, b, i))
		}
	}
}

func gather[T any](dst, column []T, rows []int32) []T {
	dst = slices.Grow(dst, len(rows))
	for _, i := range rows {
		dst = append(dst, column[i])
	}
	return dst
}

// seconds is a time or span of row i.
func seconds(r question.Role, b *record.Batch, i int32) int64 {
	switch r {
	case question.ValidBeg:
		return b.Valid[i]
	case question.InitBeg:
		return b.Valid[i] - int64(b.Lead[i])
	case question.Lead:
		return int64(b.Lead[i])
	case question.ValidEnd:
		return b.ValidEnd[i]
	case question.ObsLead:
		return int64(b.ObsLead[i])
	case question.ObsBeg:
		return b.ObsBeg[i]
	default:
		return b.ObsEnd[i]
	}
}

// packed is a row with its place in the order.
type packed struct {
	key uint64
	row int32
}

// sorted returns the rows in q's order. Each column of the order becomes a few
// bits of a key: the rank of its value among those that occur. Columns that do
// not fit any more are compared where all before are equal.
func sorted(q *question.Question, b *record.Batch, rows []int32) []int32 {
	keys := make([]packed, len(rows))
	for i, r := range rows {
		keys[i].row = r
	}
	cols := slices.Concat(q.Order, q.Tie())
	free := 64
	column := make([]uint64, len(rows))
	for len(cols) > 0 {
		width, ok := rank(&cols[0], b, rows, column)
		if !ok || width > free {
			break
		}
		free -= width
		for i := range keys {
			keys[i].key = keys[i].key<<width | column[i]
		}
		cols = cols[1:]
	}
	rest := by(cols, b)
	slices.SortFunc(keys, func(x, y packed) int {
		if x.key != y.key {
			return cmp.Compare(x.key, y.key)
		}
		return rest(int(x.row), int(y.row))
	})
	out := make([]int32, len(keys))
	for i := range keys {
		out[i] = keys[i].row
	}
	return out
}

// rank writes a column of the order as small whole numbers that sort as its
// values do, and returns how many bits they need; ok is false for data columns.
func rank(c *question.Column, b *record.Batch, rows []int32, into []uint64) (width int, ok bool) {
	switch c.Role {
	case question.Data:
		return 0, false
	case question.HeaderField:
		ranks, n := headerRanks(c.Field, b)
		for i, r := range rows {
			into[i] = ranks[b.Head[r]]
		}
		return bits.Len64(n), true
	}
	if len(rows) == 0 {
		return 0, true
	}
	least := seconds(c.Role, b, rows[0])
	for _, r := range rows {
		least = min(least, seconds(c.Role, b, r))
	}
	var divisor, most uint64
	for i, r := range rows {
		into[i] = uint64(seconds(c.Role, b, r) - least)
		most = max(most, into[i])
		if divisor == 0 || into[i]%divisor != 0 {
			divisor = gcd(divisor, into[i])
		}
	}
	if divisor > 1 {
		for i := range into {
			into[i] /= divisor
		}
		most /= divisor
	}
	return bits.Len64(most), true
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// headerRanks ranks the headers of b by one field; most is the highest rank.
func headerRanks(f record.Field, b *record.Batch) (ranks []uint64, most uint64) {
	values := make([]string, len(b.Headers))
	for i := range b.Headers {
		values[i] = b.Headers[i][f]
	}
	slices.Sort(values)
	values = slices.Compact(values)
	ranks = make([]uint64, len(b.Headers))
	for i := range b.Headers {
		at, _ := slices.BinarySearch(values, b.Headers[i][f])
		ranks[i] = uint64(at)
	}
	return ranks, uint64(max(len(values), 1) - 1)
}
