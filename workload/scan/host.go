package scan

import (
	"context"

	"github.com/barograph/barograph/engine"
)

// Host is an engine that is ready to take a configuration. It is used by one
// goroutine.
type Host struct {
	Scans engine.Scans
	PIDs  []int32 // of its server's processes on this machine; nil = it is embedded, or runs elsewhere

	// Restart stops the server, calls stopped, and starts it again on its data;
	// Scans and PIDs are then those of the server that runs. What was opened by
	// Scans is closed before. Nil where the server is not to be stopped: the
	// engine's memory is then as cold as Star.Cold makes it.
	Restart func(ctx context.Context, stopped func() error) error

	Log   func() string // the end of the server's log, kept with an error; nil = there is none
	Close func() error
}

// Opener makes an engine ready for a configuration. It is called before each
// load, and the Host is closed before the next one. Errors that wrap a
// fault.Status end the whole run: no configuration can do better.
type Opener func(ctx context.Context, p engine.Placement) (*Host, error)

// Opened is the Opener of an engine that is open already and that the caller
// closes; pids are its server's processes on this machine.
func Opened(scans engine.Scans, pids []int32) Opener {
	return func(context.Context, engine.Placement) (*Host, error) {
		return &Host{Scans: scans, PIDs: pids, Close: func() error { return nil }}, nil
	}
}
