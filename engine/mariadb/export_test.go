package mariadb

import (
	"testing"

	"github.com/barograph/barograph/engine/enginetest"
)

// FindGalera looks for all that a cluster needs.
var FindGalera = findGalera

// Drop takes away a database that a test made.
var Drop = drop

// Servers are shared by the tests of both packages, and Mortal by those that kill
// theirs, and start it again.
var Servers, Mortal enginetest.Servers

func TestMain(m *testing.M) {
	Servers.Main(m)
	Mortal.End()
}
