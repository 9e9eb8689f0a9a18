package asterixdb

import (
	"flag"
	"testing"

	"github.com/barograph/barograph/engine/enginetest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestDialect(t *testing.T) {
	enginetest.Dialect(t, Driver(), dialectIn("barograph", false), *update)
}
