package enginetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/flavour"
)

// driver checks the driver's description of itself.
func (c Config) driver(t *testing.T) {
	d := c.Driver
	if d.Scheme == "" || d.Summary == "" || d.Open == nil || d.Place == "" || len(archive.OfferOf(&d).Designs)+len(d.Offers) == 0 {
		t.Errorf("the driver is incomplete: %+v", d)
	}
	registry := engine.Registry{d}
	if _, _, err := registry.Parse(d.Example); err != nil {
		t.Errorf("the example %q: %v", d.Example, err)
	}
	if _, _, err := registry.Parse(d.Scheme + ":x?no_such_parameter=1"); err == nil {
		t.Error("an unknown parameter was accepted")
	}
	for _, p := range d.Params {
		if p.Name == "" || p.Help == "" {
			t.Errorf("parameter %+v is not explained", p)
		}
	}
	for n, flavours := range archive.OfferOf(&d).Designs {
		if len(flavours) == 0 || !slices.Contains(design.Names(), n) {
			t.Errorf("design %q is offered with flavours %q", n, flavours)
		}
	}
	e, err := registry.Open(t.Context(), c.URL(t), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}()
	if a, err := e.About(t.Context()); err != nil || a.Product == "" || a.Version == "" {
		t.Errorf("about: %+v, %v", a, err)
	}
	KeepsPromise(t, d, e)
	for _, n := range append(design.Names(), "no such design") {
		if archive.Flavours(&d, n) != nil || archive.DatabaseOf(e) == nil {
			continue
		}
		if _, err := archive.DatabaseOf(e).Open(t.Context(), n); !errors.Is(err, engine.ErrNoDesign) {
			t.Errorf("design %q is not offered; opening it gives %v, want ErrNoDesign", n, err)
		}
	}
}

// Offered returns the designs of an engine with their flavours.
func Offered(d engine.Driver) map[design.Name][]flavour.Name { return archive.OfferOf(&d).Designs }

// Only restricts an engine's designs to the named ones, each with these flavours, or with all of its own if flavours is
// empty.
func Only(d *engine.Driver, n design.Name, flavours ...flavour.Name) {
	if len(flavours) == 0 {
		flavours = archive.Flavours(d, n)
	}
	d.Offers = slices.Clone(d.Offers)
	for i, a := range d.Offers {
		if o, ok := a.(archive.Offer); ok {
			o.Designs = map[design.Name][]flavour.Name{n: flavours}
			d.Offers[i] = o
		}
	}
}

// KeepsPromise reports an engine that has archives but offers no design, and an engine that offers a design but has no
// archives.
func KeepsPromise(t *testing.T, d engine.Driver, e *engine.Engine) {
	t.Helper()
	if (archive.DatabaseOf(e) == nil) != (len(archive.OfferOf(&d).Designs) == 0) {
		t.Errorf("%s offers %v; it has archives: %v", d.Scheme, archive.OfferOf(&d).Designs, archive.DatabaseOf(e) != nil)
	}
}

// unreachable opens a URL that cannot be opened. The error must name the URL, without a password, and a cure.
func (c Config) unreachable(t *testing.T) {
	var url string
	switch {
	case c.Unreachable != nil:
		url = c.Unreachable(t)
	case c.Driver.Place == engine.Embedded:
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, []byte("no folder"), 0o600); err != nil {
			t.Fatal(err)
		}
		url = c.Driver.Scheme + ":" + filepath.Join(file, "archive")
	default:
		return // the client's own memory is always reachable
	}
	for _, readOnly := range []bool{false, true} {
		c.checkRefused(t, url, engine.Options{ReadOnly: readOnly})
	}
}

// checkRefused opens a URL that must be refused, with an error that wraps ErrUnreachable, names the URL and has a cure.
func (c Config) checkRefused(t *testing.T, url string, o engine.Options) {
	t.Helper()
	e, err := engine.Registry{c.Driver}.Open(t.Context(), url, o)
	if err == nil { // a server's client may connect only for the first archive
		defer e.Close()
		_, err = archive.DatabaseOf(e).Open(context.WithoutCancel(t.Context()), c.anyDesign())
	}
	if n := strings.Count(fmt.Sprint(err), engine.ErrUnreachable.Error()); n > 1 {
		t.Errorf("%v reports %d times that the engine is unreachable", err, n)
	}
	if !errors.Is(err, engine.ErrUnreachable) {
		t.Errorf("%s: the error is %v; want one that wraps ErrUnreachable", url, err)
		return
	}
	place := strings.TrimPrefix(fault.Redact(url), c.Driver.Scheme+":") // the error may name a file without its engine
	if strings.Count(err.Error(), place) != 1 && c.Driver.Place != engine.Embedded || !strings.Contains(err.Error(), place) {
		t.Errorf("the error does not name %s: %v", fault.Redact(url), err)
	}
	if !hasCure(err) {
		t.Errorf("the error has no cure: %v", err)
	}
}

func (c Config) anyDesign() design.Name {
	for n := range archive.OfferOf(&c.Driver).Designs {
		return n
	}
	return ""
}

// hasCure looks for a fault.Error with a cure in a chain of errors.
func hasCure(err error) bool {
	for f, ok := errors.AsType[*fault.Error](err); ok; f, ok = errors.AsType[*fault.Error](f.Err) {
		if f.Cure != "" {
			return true
		}
		if f.Err == nil {
			break
		}
	}
	return false
}
