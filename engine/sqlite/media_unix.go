//go:build unix

package sqlite

import "golang.org/x/sys/unix"

// writable returns nil for a writable file. It must not open the file: when a process closes any descriptor
// of a file, the system removes all the process's locks on it, including those of SQLite's connections.
func writable(path string) error { return unix.Access(path, unix.W_OK) }
