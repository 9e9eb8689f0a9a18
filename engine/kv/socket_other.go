//go:build !linux

package kv

// canAdvance reports whether advance works on this system.
const canAdvance = false

func (*Socket) advance(uintptr) bool { return true }
