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
// a URL too; @FILE and lab:ENGINE are read by ResolveURL.
func (r Registry) Parse(raw string) (*Driver, *url.URL, error) {
	raw, err := ResolveURL(raw)
	if err != nil {
		return nil, nil, err
	}
	if !strings.Contains(raw, ":") {
		raw += ":"
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, nil, &fault.Error{Setting: "engine URL " + Redact(raw), Problem: "cannot be read", Cure: "write it as in `barograph list engines`"}
	}
	d, ok := r.Find(u.Scheme)
	if !ok {
		var known []string
		for _, d := range r {
			known = append(known, d.Scheme)
		}
		return nil, nil, &fault.Error{Setting: "engine " + u.Scheme, Problem: "is not known", Cure: "choose one of " + strings.Join(known, ", ")}
	}
	for name := range u.Query() {
		if !slices.ContainsFunc(d.Params, func(p Param) bool { return p.Name == name }) {
			return nil, nil, &fault.Error{Setting: d.Scheme + " URL, parameter " + name, Problem: "is not known", Cure: "see `barograph list engines`"}
		}
	}
	return d, u, nil
}

// Open parses a URL and opens its engine.
func (r Registry) Open(ctx context.Context, raw string, o Options) (*Engine, error) {
	d, u, err := r.Parse(raw)
	if err != nil {
		return nil, err
	}
	e, err := d.Open(ctx, u, o)
	if err != nil {
		return nil, &fault.Error{Setting: Redact(raw), Err: err}
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

// Redact prints a URL without its password; it is the only printer of URLs.
func Redact(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		scheme, _, _ := strings.Cut(raw, ":")
		return scheme + ":…"
	}
	return u.Redacted()
}
