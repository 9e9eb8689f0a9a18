//go:build !oracle

package oracle

import (
	"context"
	"errors"
	"net/url"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/internal/fault"
)

// notRun is Driver.Untested in builds without the tag oracle. With the tag, oracle.go lists the untested code.
const notRun = "this build of Barograph has no Oracle; build one that has it: " + build

const build = "go build -tags oracle ./cmd/barograph"

// open refuses every database.
func open(_ context.Context, u *url.URL, _ engine.Options) (*engine.Engine, error) {
	return nil, engine.UnreachableError(fault.Redact(u.String()), errors.New("this build of Barograph has no Oracle"), "build one that has it: "+build)
}
