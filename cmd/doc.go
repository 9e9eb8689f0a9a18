// Package cmd has no code of its own; barograph is the program. It has one
// file for each command: its flags, its calls of the packages below, and what
// it prints. It may import everything, and alone imports engine/all, the list
// of engines. Nothing imports it.
//
// Whole commands are tested there with the embedded engines, and with each
// server that is installed: go test ./cmd/...
package cmd
