// Package barograph has no code: the program is cmd/barograph. Its tests hold
// the rules of the house (see CONTRIBUTING.md).
package barograph
