//go:build unix

package engine

import (
	"errors"
	"os"
	"syscall"
)

// ownFile returns an error unless the file is a regular file of this process's user. The folder of labs is in /var/tmp,
// where another user can make a folder of that name first: its URL would direct this user's data to that user's server.
func ownFile(name string) error {
	info, err := os.Lstat(name)
	if err != nil {
		return err
	}
	if s, ok := info.Sys().(*syscall.Stat_t); !ok || int(s.Uid) != os.Geteuid() || !info.Mode().IsRegular() {
		return errors.New("belongs to another user, or is not a regular file")
	}
	return nil
}
