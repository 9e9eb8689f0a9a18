// Package all is the only list of engines.
package all

import (
	"barograph/engine"
	"barograph/engine/dry"
	"barograph/engine/pebble"
)

// Registry lists every engine that Barograph knows, in the documented order.
func Registry() engine.Registry {
	return engine.Registry{dry.Driver(), pebble.Driver()}
}
