package answer

import (
	"math/bits"
	"slices"

	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// Arrange is a fast variant of Select for engines without a query language. It projects the rows of b, all of which
// must match q, in q's order. It sorts one packed integer per row instead of comparing column by column, and it sets no
// Ties. The reference does not use it, so a fault in Arrange is found.
func Arrange(q *question.Question, b *record.Batch, into *Builder) {
	rows := sortedRows(q, b)
	into.Reset(q.Columns)
	for k := range q.Columns {
		if q.Columns[k].Kind == question.List {
			for _, i := range rows {
				into.List(k, b.Repeats(int(i)))
			}
			continue
		}
		project(&q.Columns[k], b, rows, into.Vector(k))
	}
	into.Grow(len(rows))
}

// AcceptedRows returns the rows that the question's TimeFilter accepts: the same batch if it accepts
// all, else a copy.
func AcceptedRows(q *question.Question, rows *record.Batch) *record.Batch {
	if q.TimeFilter.AcceptsAll() {
		return rows
	}
	return rows.Filter(func(i int) bool { return q.TimeFilter.Accepts(rows.Valid[i], rows.Lead[i]) })
}

// project appends the rows' values of one column to v.
func project(c *question.Column, b *record.Batch, rows []int32, v *Vector) {
	switch {
	case c.Role == question.HeaderField:
		v.Text = slices.Grow(v.Text, len(rows))
		for _, i := range rows {
			v.Text = append(v.Text, b.Headers[b.HeaderIndex[i]][c.Field])
		}
	case c.Kind == question.Text:
		v.Text = gather(v.Text, b.Text[c.Slot], rows)
	case c.Kind == question.Number:
		v.Num = gather(v.Num, b.Num[c.Slot], rows)
	default:
		v.Seconds = slices.Grow(v.Seconds, len(rows))
		for _, i := range rows {
			v.Seconds = append(v.Seconds, c.Role.Seconds(b, int(i)))
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

// sortKey is a row with the number by which it is sorted.
type sortKey struct {
	key uint64
	row int32
}

// sortedRows returns the rows in q's order. Each column of the order contributes a few bits to a
// key: the rank of its value among the values that occur. Columns that no longer fit into the key
// are compared one by one where the keys are equal.
func sortedRows(q *question.Question, b *record.Batch) []int32 {
	keys := make([]sortKey, b.Len())
	for i := range keys {
		keys[i].row = int32(i)
	}
	cols := dropImplied(slices.Concat(q.Order, q.TieBreakers()))
	used := 0
	column := make([]uint64, len(keys))
	for len(cols) > 0 {
		width, ok := rank(&cols[0], b, column)
		if !ok || used+width > 64 {
			break
		}
		if width > 0 {
			used += width
			for i := range keys {
				keys[i].key = keys[i].key<<width | column[i]
			}
		}
		cols = cols[1:]
	}
	keys = radix(keys, used)
	if len(cols) > 0 {
		sortTies(keys, compareBy(cols, b))
	}
	return lists.Map(keys, func(k sortKey) int32 { return k.row })
}

// dropImplied drops a valid time, initialization time or lead if the order contains the other two
// before it, because these determine it.
func dropImplied(cols []question.Column) []question.Column {
	seen := 0
	return slices.DeleteFunc(cols, func(c question.Column) bool {
		if c.Role != question.ValidBeg && c.Role != question.InitBeg && c.Role != question.Lead {
			return false
		}
		seen++
		return seen > 2
	})
}

// digitBits is the number of bits that one pass of radix sorts by.
const digitBits = 11

// radix sorts by the lowest bits of the keys. Equal keys keep their order.
func radix(keys []sortKey, bits int) []sortKey {
	spare := make([]sortKey, len(keys))
	for shift := 0; shift < bits; shift += digitBits {
		var starts [1 << digitBits]int32
		for i := range keys {
			starts[keys[i].key>>shift&(1<<digitBits-1)]++
		}
		sum := int32(0)
		for i, n := range starts {
			starts[i] = sum
			sum += n
		}
		for i := range keys {
			next := &starts[keys[i].key>>shift&(1<<digitBits-1)]
			spare[*next] = keys[i]
			*next++
		}
		keys, spare = spare, keys
	}
	return keys
}

// sortTies sorts the rows of each group of equal keys with compareRows.
func sortTies(keys []sortKey, compareRows func(i, j int) int) {
	for from := 0; from < len(keys); {
		to := from + 1
		for to < len(keys) && keys[to].key == keys[from].key {
			to++
		}
		slices.SortFunc(keys[from:to], func(x, y sortKey) int { return compareRows(int(x.row), int(y.row)) })
		from = to
	}
}

// rank writes a column of the order as small integers that sort as its values do, and returns how
// many bits they need; 0 means that all values are equal. For data columns, ok is false.
func rank(c *question.Column, b *record.Batch, into []uint64) (width int, ok bool) {
	if c.Role == question.Data || b.Len() == 0 {
		return 0, c.Role != question.Data
	}
	if c.Role == question.HeaderField {
		ranks, most := headerRanks(c.Field, b)
		if most == 0 {
			return 0, true
		}
		for i, head := range b.HeaderIndex {
			into[i] = ranks[head]
		}
		return bits.Len64(most), true
	}
	least := c.Role.Seconds(b, 0)
	most := least
	for i := range into {
		v := c.Role.Seconds(b, i)
		into[i], least, most = uint64(v), min(least, v), max(most, v)
	}
	if most == least {
		return 0, true
	}
	divisor := uint64(0)
	for i := range into {
		into[i] -= uint64(least)
		if divisor != 1 && (divisor == 0 || into[i]%divisor != 0) {
			divisor = gcd(divisor, into[i])
		}
	}
	for i := range into {
		into[i] /= divisor
	}
	return bits.Len64(uint64(most-least) / divisor), true
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// headerRanks ranks the headers of b by one field; most is the highest rank.
func headerRanks(f record.Field, b *record.Batch) (ranks []uint64, most uint64) {
	values := lists.Map(b.Headers, func(h record.Header) string { return h[f] })
	slices.Sort(values)
	values = slices.Compact(values)
	ranks = make([]uint64, len(b.Headers))
	for i := range b.Headers {
		position, _ := slices.BinarySearch(values, b.Headers[i][f])
		ranks[i] = uint64(position)
	}
	return ranks, uint64(max(len(values), 1) - 1)
}
