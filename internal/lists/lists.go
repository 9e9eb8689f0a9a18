// Package lists has the functions on slices that package slices lacks.
package lists

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
