//go:build !plantedfault

package fault

// Planted is true under the build tag plantedfault, where every parser has one
// fault that its fuzz target has to find (go run ./internal/fuzz -planted). It is a
// constant: without the tag nothing of it is compiled.
const Planted = false
