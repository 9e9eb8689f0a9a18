//go:build !unix

package engine

import "os"

// ownFile returns an error if the file does not exist. It checks no owner, because labs do not run on this system.
func ownFile(name string) error {
	_, err := os.Lstat(name)
	return err
}
