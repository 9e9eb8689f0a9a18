package mariadb

import (
	"testing"

	"github.com/barograph/barograph/engine/enginetest"
)

// FindGalera looks for everything that a cluster needs.
var FindGalera = findGalera

// Drop drops a database that a test created.
var Drop = drop

// Servers are shared by the tests of both packages, and Mortal by the tests that kill their server and start it again.
var Servers, Mortal enginetest.Servers

func TestMain(m *testing.M) {
	Servers.Main(m)
	Mortal.End()
}
