//go:build unix

package sqlite

import "golang.org/x/sys/unix"

// writable is nil for a file that may be written. It is not opened for that: of all
// descriptors of a file the first that is closed ends the process's locks on it, those
// of SQLite's connections with them.
func writable(path string) error { return unix.Access(path, unix.W_OK) }
