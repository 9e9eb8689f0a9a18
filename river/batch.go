package river

import (
	"github.com/barograph/barograph/engine/posts"
	"github.com/barograph/barograph/record"
)

// Batch contains copies of products that are posted together.
type Batch struct {
	messages []posts.Message // without their values, which Messages adds
	ends     []int           // for each message, the index in values after its last value
	values   []record.Gauge
}

// Reset empties the batch and keeps its memory.
func (b *Batch) Reset() { b.messages, b.ends, b.values = b.messages[:0], b.ends[:0], b.values[:0] }

// Add copies the values of a product that poster number poster of n posts, and calls change for each copy.
func (b *Batch) Add(m *posts.Message, poster, n int, change func(*record.Gauge)) {
	start := len(b.values)
	if n == 1 {
		b.values = append(b.values, m.Values...)
	} else {
		for i := range m.Values {
			if PosterOf(m.Values[i].Station, n) == poster {
				b.values = append(b.values, m.Values[i])
			}
		}
	}
	if change != nil {
		for i := start; i < len(b.values); i++ {
			change(&b.values[i])
		}
	}
	if len(b.values) > start { // a product without values for this poster would only cost time
		b.messages = append(b.messages, posts.Message{Product: m.Product, Issued: m.Issued})
		b.ends = append(b.ends, len(b.values))
	}
}

// Messages returns the products with their values. They are valid until the next Reset.
func (b *Batch) Messages() []posts.Message {
	start := 0
	for i := range b.messages {
		b.messages[i].Values = b.values[start:b.ends[i]]
		start = b.ends[i]
	}
	return b.messages
}

// Full reports whether the batch has at least this many products or values.
func (b *Batch) Full(products, values int) bool {
	return len(b.messages) >= products || len(b.values) >= values
}

// PosterOf returns which of n posters posts all values of a station, by the FNV-1a hash of the station.
func PosterOf(station record.ID, n int) int {
	h := uint32(2166136261)
	for _, c := range station {
		h = (h ^ uint32(c)) * 16777619
	}
	return int(h % uint32(n))
}
