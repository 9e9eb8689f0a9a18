package engine

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"barograph/fault"
)

// Registry is a list of drivers. engine/all holds the one that the program uses.
type Registry []Driver

// Find returns the driver of a scheme.
func (r Registry) Find(scheme string) (*Driver, bool) {
	i := slices.IndexFunc(r, func(d Driver) bool { return d.Scheme == scheme })
	if i < 0 {
		return nil, false
	}
	return &r[i], true
}

// Parse finds the driver of a URL such as duckdb:archive.db or
// postgres://user@host/db, and checks its parameters. A bare scheme ("dry") is
// a URL too.
func (r Registry) Parse(raw string) (*Driver, *url.URL, error) {
	if !strings.Contains(raw, ":") {
		raw += ":"
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, nil, &fault.Error{Setting: "engine URL " + fault.Redact(raw), Problem: "cannot be read", Cure: "write it as in `barograph list engines`"}
	}
	d, ok := r.Find(u.Scheme)
	if !ok {
		return nil, nil, fault.Unknown("engine", u.Scheme, r.schemes())
	}
	for name := range u.Query() {
		if !slices.ContainsFunc(d.Params, func(p Param) bool { return p.Name == name }) {
			unknown := fault.Unknown(d.Scheme+" URL, parameter", name, d.params())
			unknown.Cure += "; see `barograph list engines`"
			return nil, nil, unknown
		}
	}
	return d, u, nil
}

func (r Registry) schemes() (all []string) {
	for _, d := range r {
		all = append(all, d.Scheme)
	}
	return all
}

func (d *Driver) params() (all []string) {
	for _, p := range d.Params {
		all = append(all, p.Name)
	}
	return all
}

// Open parses a URL and opens its engine.
func (r Registry) Open(ctx context.Context, raw string, o Options) (*Engine, error) {
	d, u, err := r.Parse(raw)
	if err != nil {
		return nil, err
	}
	e, err := d.Open(ctx, u, o)
	if err != nil {
		if shown := fault.Redact(raw); !strings.Contains(err.Error(), shown) && (d.Place != Embedded || Path(u) == "" || !strings.Contains(err.Error(), Path(u))) {
			err = &fault.Error{Setting: shown, Err: err}
		}
		return nil, err // which names its place once
	}
	if about := e.About; about != nil {
		e.About = func(ctx context.Context) (About, error) {
			a, err := about(ctx)
			for name, value := range a.Settings {
				a.Settings[name] = fault.RedactValue(name, value)
			}
			return a, err
		}
	}
	return e, nil
}

// Path is the file or folder of an embedded engine's URL: duckdb:a/b.db,
// duckdb:/a/b.db and duckdb:///a/b.db are understood.
func Path(u *url.URL) string {
	if u.Opaque != "" {
		p, err := url.PathUnescape(u.Opaque)
		if err != nil {
			return u.Opaque
		}
		return p
	}
	return u.Path
}
