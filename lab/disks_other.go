//go:build !linux

package lab

import (
	"context"

	"github.com/barograph/barograph/engine/launch"
)

// UpDisks makes throttled disks, which takes Linux.
func UpDisks(_ context.Context, o DiskOptions) (DiskSet, error) {
	if err := o.Check(); err != nil {
		return DiskSet{}, err
	}
	return DiskSet{}, errSystem
}

// DownDisks has nothing to remove on this system.
func DownDisks(string) error { return nil }

func mountsBelow(string) (map[string]string, error) { return nil, nil } //nolint:nilnil // none are
func throttleNode(*launch.Cluster, int) error       { return nil }
