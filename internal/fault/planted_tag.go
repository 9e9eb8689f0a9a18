//go:build plantedfault

package fault

// Planted is true: this program has faults on purpose.
const Planted = true
