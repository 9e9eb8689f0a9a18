//go:build !linux

package lab

import "github.com/barograph/barograph/engine"

func isolate(*engine.Cluster, *Isolate) error                 { return errSystem }
func connect(*engine.Cluster) error                           { return nil }
func disconnect(*engine.Cluster) error                        { return nil }
func within(_ *engine.Isolation, _ int, f func() error) error { return f() }
func confine(*engine.Isolation, int, int) error               { return nil }
func cut(*engine.Isolation, int, bool) error                  { return errSystem }
func queue(*engine.Isolation, int, Fault) error               { return errSystem }
func tryQueue(Fault) error                                    { return errSystem }

func (*Lab) mount(int) error        { return errSystem }
func (*Lab) disk(int, string) error { return errSystem }
func (*State) unmount() error       { return nil }

const diskFull, diskFree, diskLost, diskKept = "", "", "", "" // see frail_linux.go

// DiskCommand is the command of this program that ServeDisk is the whole of.
const DiskCommand = "frail-disk"

// TryFrailDisk tries whether there can be one.
func TryFrailDisk() error { return errSystem }

// ServeDisk serves a disk of a lab.
func ServeDisk(string, string) error { return errSystem }
