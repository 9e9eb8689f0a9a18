package met

import (
	"cmp"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/barograph/barograph/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/fault"
	"github.com/barograph/barograph/flavour"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/run"
)

// Selection names what is studied.
type Selection struct {
	Engines  []string // URLs, NAME=URL, or names of embedded engines; none = all embedded ones
	Designs  []string // none = all that each engine offers
	Flavours []string // none = all that each design offers
	Floor    bool     // the dry engine, too
	Labs     []string // folders of labs, which know the servers that they run
	Folder   string   // of the archives of engines that are only named
}

// Targets are the archives of a study: each engine under each of its designs,
// the floor first.
func (s *Selection) Targets(all engine.Registry) ([]Target, error) {
	urls := slices.Clone(s.Engines)
	if len(urls) == 0 {
		urls = all.Those(func(d *engine.Driver) bool { return d.Place == engine.Embedded })
	}
	if s.Floor && !slices.Contains(urls, "dry") {
		urls = append([]string{"dry"}, urls...)
	}
	if err := s.check(all, urls); err != nil {
		return nil, err
	}
	var out []Target
	for _, raw := range urls {
		name, raw := engine.SplitName(raw)
		d, u, err := all.Parse(raw)
		if err != nil {
			return nil, err
		}
		wanted := d.Designs()
		if len(s.Designs) > 0 && d.Place != engine.Memory {
			wanted = slices.DeleteFunc(wanted, s.leavesOut)
		}
		server := lab.Serving(s.Labs, d, u).Server()
		for _, n := range wanted {
			t := Target{Name: name, Driver: d, Design: n, Server: server}
			if slices.ContainsFunc(out, func(o Target) bool { return o.String() == t.String() }) {
				shown := fault.Redact(raw)
				return nil, fault.Misuse("--engine "+shown, "is a second "+t.String()+": their times would be mixed", "give it a name: --engine NAME="+shown)
			}
			t.URL = s.url(&t, u, raw, len(wanted) > 1)
			out = append(out, t)
		}
	}
	return out, nil
}

func (s *Selection) leavesOut(n design.Name) bool { return !slices.Contains(s.Designs, string(n)) }

// check refuses a design or flavour that no engine of the study offers, and an
// engine that was named and offers none of them.
func (s *Selection) check(all engine.Registry, urls []string) error {
	var designs []design.Name
	var flavours []flavour.Name
	for _, raw := range urls {
		_, raw := engine.SplitName(raw)
		d, _, err := all.Parse(raw)
		if err != nil {
			return &fault.Status{Code: fault.Usage, Err: err}
		}
		if d.Place == engine.Memory {
			continue
		}
		if err := all.KeepsArchives(d); err != nil {
			return &fault.Status{Code: fault.Usage, Err: err}
		}
		mine := d.Designs()
		if len(s.Designs) > 0 && len(s.Engines) > 0 && !slices.ContainsFunc(mine, func(n design.Name) bool { return !s.leavesOut(n) }) {
			return fault.NotOffered("--design", design.Name(strings.Join(s.Designs, ",")), mine, d.Scheme)
		}
		for _, n := range mine {
			if designs = append(designs, n); len(s.Designs) == 0 || !s.leavesOut(n) {
				flavours = append(flavours, d.Offers[n]...)
			}
		}
	}
	if err := allOffered("--design", s.Designs, designs); err != nil {
		return err
	}
	return allOffered("--flavour", s.Flavours, flavours)
}

// allOffered checks names against what the engines of a study offer; engines
// of memory alone offer whatever is asked.
func allOffered[T ~string](flag string, names []string, offered []T) error {
	slices.Sort(offered)
	offered = slices.Compact(offered)
	for _, name := range names {
		if len(offered) > 0 && !slices.Contains(offered, T(name)) {
			return fault.NotOffered(flag, T(name), offered, "the engines of this study")
		}
	}
	return nil
}

// url places the archive of an embedded engine: in the study's folder where only
// its name is given, else where the URL says; several designs get a file each,
// so that sizes can be compared.
func (s *Selection) url(t *Target, u *url.URL, raw string, several bool) string {
	path := engine.Path(u)
	switch {
	case t.Driver.Place != engine.Embedded:
		return raw
	case path == "":
		path = filepath.Join(s.Folder, run.FileName(cmp.Or(t.Name, t.Driver.Scheme)+"-"+string(t.Design))+".db")
	case several:
		ext := filepath.Ext(path)
		path = strings.TrimSuffix(path, ext) + "-" + string(t.Design) + ext
	}
	out := t.Driver.Scheme + ":" + (&url.URL{Path: path}).EscapedPath()
	if u.RawQuery != "" {
		out += "?" + u.RawQuery
	}
	return out
}
