package postgres

import (
	"testing"

	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/lab"
)

func TestTLS(t *testing.T) { enginetest.RunTLS(t, Driver(), lab.Options{Memory: 1 << 30}) }
