package main

import (
	"cmp"
	"fmt"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/formats"
	"github.com/barograph/barograph/formats/metviewer"
)

// readLoadSpec reads a load_spec and takes from it what the command line omits: the target, the subset,
// the files and the line types. It lists on stderr the elements that Barograph does not use.
func (e *env) readLoadSpec(file string, p *archiveRef, subsetNamed bool) (files []string, s *metviewer.LoadSpec, err error) {
	if s, err = metviewer.ReadLoadSpec(file); err != nil {
		return nil, nil, usage(err)
	}
	for _, remark := range append(s.Warnings, s.Ignored...) {
		fmt.Fprintf(e.stderr, "%s: %s\n", file, remark)
	}
	if p.url == "" {
		if p.url, err = s.Target(); err != nil {
			return nil, nil, usage(err)
		}
		p.design = cmp.Or(p.design, string(design.Normalized)) // METviewer's own tables
	}
	if !subsetNamed && s.Connection.Database != "" {
		p.subset = s.Connection.Database
	}
	files, err = formats.SpecFiles(s, e.info)
	return files, s, err
}
