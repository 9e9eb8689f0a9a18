//go:build !plantedfault

package fault

// Planted is true under the build tag plantedfault. Then every parser has one fault that its fuzz
// target must find (go run ./internal/fuzz -planted). It is a constant: without the tag the
// compiler omits the faults.
const Planted = false
