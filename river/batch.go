package river

import (
	"github.com/barograph/barograph/engine/posts"
	"github.com/barograph/barograph/record"
)

// Batch contains copies of products that are posted together.
type Batch struct {
	messages []posts.Message // without their values
	ends     []int           // the end of each message's values in values
	values   []record.Gauge
}

// Reset empties the batch and keeps its memory.
func (b *Batch) Reset() { b.messages, b.ends, b.values = b.messages[:0], b.ends[:0], b.values[:0] }

// Add copies the values of a product that are for poster w of n, and changes them.
func (b *Batch) Add(m *posts.Message, w, n int, change func(*record.Gauge)) {
	begin := len(b.values)
	if n == 1 {
		b.values = append(b.values, m.Values...)
	} else {
		for i := range m.Values {
			if Owner(m.Values[i].Station, n) == w {
				b.values = append(b.values, m.Values[i])
			}
		}
	}
	if change != nil {
		for i := begin; i < len(b.values); i++ {
			change(&b.values[i])
		}
	}
	if len(b.values) > begin { // a product without values for this poster would cost time
		b.messages = append(b.messages, posts.Message{Product: m.Product, Issued: m.Issued})
		b.ends = append(b.ends, len(b.values))
	}
}

// Given returns the products with their values.
func (b *Batch) Given() []posts.Message {
	begin := 0
	for i := range b.messages {
		b.messages[i].Values = b.values[begin:b.ends[i]]
		begin = b.ends[i]
	}
	return b.messages
}

// Full reports whether the batch has at least this many products or values.
func (b *Batch) Full(products, values int) bool {
	return len(b.messages) >= products || len(b.values) >= values
}

// Owner returns which of n groups of stations a station belongs to, by its FNV-1a hash. One poster
// posts all values of a group.
func Owner(station record.ID, n int) int {
	h := uint32(2166136261)
	for _, c := range station {
		h = (h ^ uint32(c)) * 16777619
	}
	return int(h % uint32(n))
}
