//go:build unix

package engine

import (
	"errors"
	"os"
	"syscall"
)

// ownFile fails unless the file is there and belongs to this process's user.
func ownFile(name string) error {
	info, err := os.Lstat(name)
	if err != nil {
		return err
	}
	if s, ok := info.Sys().(*syscall.Stat_t); !ok || int(s.Uid) != os.Geteuid() || !info.Mode().IsRegular() {
		return errors.New(name + " belongs to another user, or is no file")
	}
	return nil
}
