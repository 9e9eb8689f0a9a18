package all_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/all"
	"github.com/barograph/barograph/internal/fault"
)

// TestNothingOfAURLIsDropped: no engine is opened by a URL of which it would ignore a part, such as a parameter that
// requests TLS. The error names the part and a cure, and shows no password.
func TestNothingOfAURLIsDropped(t *testing.T) {
	const password = "PASSWORD"
	for _, d := range all.Registry() {
		t.Run(d.Scheme, func(t *testing.T) {
			var opened *url.URL
			d.Open = func(_ context.Context, u *url.URL, _ engine.Options) (*engine.Engine, error) {
				opened = u
				return &engine.Engine{}, nil
			}
			r := engine.Registry{d}
			base := d.Scheme + "://me:" + password + "@localhost/db"
			refused := map[string]string{
				base + "?no_such=1":      "URL, parameter no_such is not known",
				base + "?x=1;y=2":        "parameter x contains a semicolon",
				base + "?y=2&x=100%.pem": "parameter x contains a semicolon, or a % without",
				base + "?x=1&%zz=2":      "parameter %zz contains",
				base + "?x=1;y=/a@b":     "cannot be parsed",
				d.Scheme + "://me:12?a;" + password + "=1@localhost/db": "cannot be parsed",
				d.Scheme + "://me:12?a;" + password + "@localhost/db":   "has an @ after its host",
			}
			switch d.Place {
			case engine.Remote:
				refused[base+"#x?tls=true"] = "contains a #"
				refused[d.Scheme+":me:"+password+"@localhost/db"] = "has no // before its host"
			case engine.Embedded:
				refused[d.Scheme+"://folder/archive.db"] = "names a host"
			}
			for _, p := range d.Params {
				refused[base+"?"+p.Name] = "parameter " + p.Name + " needs exactly one value"
				refused[base+"?"+p.Name+"="] = "parameter " + p.Name + " needs exactly one value"
				refused[base+"?"+p.Name+"=false&"+p.Name+"=true"] = "parameter " + p.Name + " needs exactly one value"
				refused[base+"?"+p.Name+"=true;tls_ca=ca.pem"] = "parameter " + p.Name + " contains a semicolon"
				refused[base+"?"+p.Name+"=100%.pem"] = "parameter " + p.Name + " contains"
			}
			for raw, want := range refused {
				_, err := r.Open(t.Context(), raw, engine.Options{})
				f, ok := errors.AsType[*fault.Error](err)
				if !ok || f.Cure == "" || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), password) {
					t.Errorf("%s: %v, want %s", raw, err, want)
				}
			}
			if opened != nil {
				t.Fatalf("opened by %s", opened)
			}
			for _, p := range d.Params {
				if _, err := r.Open(t.Context(), base+"?"+p.Name+"=%3B%25", engine.Options{}); err != nil || opened.Query().Get(p.Name) != ";%" {
					t.Errorf("parameter %s: %v, %v", p.Name, opened, err)
				}
			}
			if _, _, err := r.Parse(d.Example); err != nil {
				t.Errorf("its example: %v", err)
			}
		})
	}
}
