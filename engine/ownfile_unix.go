//go:build unix

package engine

import (
	"errors"
	"os"
	"syscall"
)

// ownFile returns an error unless the file exists and belongs to this process's user.
func ownFile(name string) error {
	info, err := os.Lstat(name)
	if err != nil {
		return err
	}
	if s, ok := info.Sys().(*syscall.Stat_t); !ok || int(s.Uid) != os.Geteuid() || !info.Mode().IsRegular() {
		return errors.New(name + " belongs to another user, or is not a regular file")
	}
	return nil
}
