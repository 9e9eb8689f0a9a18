// Package lists has the functions on slices that package slices lacks, and lists files.
package lists

import "iter"

// Map returns f of each item, in their order.
func Map[T, U any](items []T, f func(item T) U) []U {
	out := make([]U, len(items))
	for i, item := range items {
		out[i] = f(item)
	}
	return out
}

// Indices returns 0, 1, … n−1.
func Indices(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// Filter returns the items for which keep returns true, in their order; nil for none.
func Filter[T any](items []T, keep func(item T) bool) (out []T) {
	for _, item := range items {
		if keep(item) {
			out = append(out, item)
		}
	}
	return out
}

// Pick returns the items with these indexes, in the order of the indexes; nil if items is nil.
func Pick[S ~[]T, T any](items S, indexes []int) S {
	if items == nil {
		return nil
	}
	return Map(indexes, func(i int) T { return items[i] })
}

// Set returns the set of the keys of all items.
func Set[T any, K comparable](items []T, key func(item T) K) map[K]bool {
	out := map[K]bool{} // often far smaller than items
	for _, item := range items {
		out[key(item)] = true
	}
	return out
}

// Sum adds values in their order.
func Sum[T ~int | ~int64 | ~float64](values iter.Seq[T]) (sum T) {
	for v := range values {
		sum += v
	}
	return sum
}
