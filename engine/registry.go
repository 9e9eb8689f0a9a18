package engine

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/barograph/barograph/fault"
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

func (r Registry) schemes() []string { return r.Those(func(*Driver) bool { return true }) }

// Those are the schemes of the drivers that can do something.
func (r Registry) Those(can func(d *Driver) bool) (schemes []string) {
	for i := range r {
		if can(&r[i]) {
			schemes = append(schemes, r[i].Scheme)
		}
	}
	return schemes
}

// Servers are the schemes of the engines whose servers a lab can start.
func (r Registry) Servers() []string { return r.Those(func(d *Driver) bool { return d.Server != nil }) }

// KeepsArchives refuses an engine that keeps no verification archives.
func (r Registry) KeepsArchives(d *Driver) error {
	keeps := func(d *Driver) bool { return len(d.Offers) > 0 }
	if keeps(d) {
		return nil
	}
	return &fault.Error{Setting: "engine " + d.Scheme, Problem: "keeps no verification archives", Cure: "choose one of " + strings.Join(r.Those(keeps), ", ")}
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

// Reach opens each server once, so that one that is not reached is told before
// any file is read.
func (r Registry) Reach(ctx context.Context, o Options, urls ...string) error {
	slices.Sort(urls)
	for _, raw := range slices.Compact(urls) {
		if d, _, err := r.Parse(raw); err != nil || d.Place != Remote {
			continue
		}
		db, err := r.Open(ctx, raw, o)
		if err != nil {
			return err
		}
		if db.About != nil {
			_, err = db.About(ctx)
		}
		if err = errors.Join(err, db.Close()); err != nil {
			return err
		}
	}
	return nil
}

// SplitName splits NAME=URL: two servers of one kind need names of their own.
func SplitName(arg string) (name, url string) {
	before, after, ok := strings.Cut(arg, "=")
	if !ok || strings.ContainsAny(before, ":/?") {
		return "", arg
	}
	return before, after
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
