//go:build !linux

package lab

import "github.com/barograph/barograph/engine"

func isolate(*engine.Cluster, *Isolate) error                 { return errSystem }
func connect(*engine.Cluster) error                           { return nil }
func disconnect(*engine.Cluster) error                        { return nil }
func within(_ *engine.Isolation, _ int, f func() error) error { return f() }
func confine(*engine.Isolation, int, int) error               { return nil }
func cut(*engine.Isolation, int, bool) error                  { return errSystem }
