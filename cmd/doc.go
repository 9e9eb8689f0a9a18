// Package cmd has no code of its own. Its folder barograph contains the
// program, package main, with a file for each command: its flags, its calls of
// the other packages, and its output. Package main may import everything. Of
// the code that is not a test, only package main imports engine/all, the list
// of engines. No package imports package main.
//
// The tests of package main run complete commands with the embedded engines and with each
// installed server: go test ./cmd/...
package cmd
