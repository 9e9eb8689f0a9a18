package valkey

import (
	"testing"

	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/lab"
)

// TestTLS connects to a server and to a cluster, which redirects its clients to other nodes.
func TestTLS(t *testing.T) {
	enginetest.NotUnderRace(t)
	enginetest.RunTLS(t, Driver(), lab.Options{Memory: 1 << 30})
	l := enginetest.Lab(t, Driver(), lab.Options{Memory: 1 << 28, Nodes: 3, TLS: true})
	enginetest.RefusesStrangers(t, Driver(), l.URL())
}
