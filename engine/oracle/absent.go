//go:build !oracle

package oracle

import (
	"context"
	"errors"
	"net/url"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/internal/fault"
)

// notRun replaces the list of code that was not run against a server.
const notRun = "this build of Barograph has no Oracle; build one that has it: " + build

const build = "go build -tags oracle ./cmd/barograph"

// open refuses every database.
func open(_ context.Context, u *url.URL, _ engine.Options) (*engine.Engine, error) {
	return nil, engine.UnreachableError(fault.Redact(u.String()), errors.New("this build of Barograph has no Oracle"), "build one that has it: "+build)
}
