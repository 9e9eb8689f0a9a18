//go:build !linux

package lab

import "github.com/barograph/barograph/engine/launch"

func isolate(*launch.Cluster, *Isolate) error                      { return errSystem }
func connect(*launch.Cluster) error                                { return nil }
func disconnect(*launch.Cluster) error                             { return nil }
func inNamespace(_ *launch.Isolation, _ int, f func() error) error { return f() }
func confine(*launch.Isolation, int, int) error                    { return nil }
func setConnected(*launch.Isolation, int, bool) error              { return errSystem }
func setQueue(*launch.Isolation, int, Fault) error                 { return errSystem }
func tryQueue(Fault) error                                         { return errSystem }

func (*Lab) mount(int) error               { return errSystem }
func (*Lab) controlDisk(int, string) error { return errSystem }
func (*State) unmount() error              { return nil }

const diskFull, diskFree, diskLose, diskFlush = "", "", "", "" // see frail_linux.go

// DiskCommand is the command of this program whose body is ServeDisk.
const DiskCommand = "frail-disk"

// TryFrailDisk returns the reason why frail disks are not possible.
func TryFrailDisk() error { return errSystem }

// ServeDisk serves a disk of a lab.
func ServeDisk(string, string) error { return errSystem }
