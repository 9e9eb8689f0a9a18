//go:build !linux

package lab

import (
	"context"

	"github.com/barograph/barograph/engine/launch"
)

// UpDisks checks the options and returns an error, because throttled disks need Linux.
func UpDisks(_ context.Context, o DiskOptions) (DiskSet, error) {
	if err := o.Check(); err != nil {
		return DiskSet{}, err
	}
	return DiskSet{}, errSystem
}

// DownDisks does nothing, because UpDisks creates nothing on this system.
func DownDisks(string) error { return nil }

func mountsBelow(string) (map[string]string, error) { return nil, nil } //nolint:nilnil // none are
func throttleNode(*launch.Cluster, int) error       { return nil }
