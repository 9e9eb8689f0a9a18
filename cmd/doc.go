// Package cmd has no code of its own; barograph is the program. It has one
// file for each command: its flags, its calls of the other packages, and its
// output. It may import everything, and only it imports engine/all, the list
// of engines. Nothing imports it.
//
// Its tests run complete commands with the embedded engines and with each
// installed server: go test ./cmd/...
package cmd
