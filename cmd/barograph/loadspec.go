package main

import (
	"fmt"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/formats"
	"github.com/barograph/barograph/formats/metviewer"
)

// spec fills in from a load_spec what the command line does not say: the
// target, the subset, the files and their lines. What the load_spec says beyond
// that is answered on stderr.
func (e *env) spec(file string, p *place, subsetNamed bool) (files []string, s *metviewer.LoadSpec, err error) {
	if s, err = metviewer.ReadLoadSpec(file); err != nil {
		return nil, nil, usage(err)
	}
	for _, w := range s.Warnings {
		fmt.Fprintf(e.stderr, "%s: %s\n", file, w)
	}
	for _, r := range s.Ignored {
		fmt.Fprintf(e.stderr, "%s: %s\n", file, r)
	}
	if p.url == "" {
		if p.url, err = s.Target(); err != nil {
			return nil, nil, usage(err)
		}
		if p.design == "" {
			p.design = string(design.Normalized) // METviewer's own tables
		}
	}
	if !subsetNamed && s.Connection.Database != "" {
		p.subset = s.Connection.Database
	}
	files, err = formats.SpecFiles(s, e.says)
	return files, s, err
}
