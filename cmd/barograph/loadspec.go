package main

import (
	"fmt"
	"net/url"
	"strings"

	"barograph/design"
	"barograph/fault"
	"barograph/formats"
	"barograph/formats/metviewer"
)

// spec fills in from a load_spec what the command line does not say: the
// target, the subset and the files. What the load_spec says beyond that is
// answered on stderr.
func (e *env) spec(file string, p *place, subsetNamed bool) ([]string, error) {
	s, err := metviewer.ReadLoadSpec(file)
	if err != nil {
		return nil, usage(err)
	}
	for _, w := range s.Warnings {
		fmt.Fprintf(e.stderr, "%s: %s\n", file, w)
	}
	for _, r := range s.SetAside {
		fmt.Fprintf(e.stderr, "%s: %s\n", file, r)
	}
	if !s.LoadStat {
		return nil, usage(&fault.Error{File: file, Setting: "load_stat", Problem: "is false, which leaves nothing to load: Barograph reads .stat and VSDB files", Cure: "write true, or load with METdbLoad"})
	}
	if p.url == "" {
		if p.url, err = targetOf(s); err != nil {
			return nil, usage(err)
		}
		if p.design == "" {
			p.design = string(design.Normalized) // METviewer's own tables
		}
	}
	if !subsetNamed && s.Connection.Database != "" {
		p.subset = s.Connection.Database
	}
	return e.specFiles(s)
}

// targetOf is the URL of the database that a load_spec names: of MariaDB's
// server, where each subset is a database, else of the database.
func targetOf(s *metviewer.LoadSpec) (string, error) {
	file, c := s.File, &s.Connection
	bad := func(problem string) error {
		return &fault.Error{File: file, Line: c.Line, Setting: "connection", Problem: problem, Cure: "name the target with --engine (barograph list engines)"}
	}
	scheme := map[string]string{"": "mariadb", "mysql": "mariadb", "mariadb": "mariadb", "aurora": "mariadb", "postgres": "postgres", "postgresql": "postgres"}[c.System]
	switch {
	case c.Line == 0:
		return "", bad("is not there")
	case scheme == "" && (c.System == "cb" || c.System == "couchbase"):
		return "", bad("management_system " + c.System + ": Couchbase is no target yet")
	case scheme == "":
		return "", bad("management_system " + c.System + " is not known")
	case c.Host == "" || c.Database == "":
		return "", bad("lacks host or database")
	}
	u := url.URL{Scheme: scheme, Host: c.Host, Path: "/"}
	if scheme != "mariadb" {
		u.Path += c.Database
	} else if s.Indexes {
		u.RawQuery = "apply_indexes=true"
	}
	if c.Port != "" {
		u.Host += ":" + c.Port
	}
	switch password := c.Password.Reveal(); {
	case c.User == "":
	case password == "":
		u.User = url.User(c.User)
	default:
		u.User = url.UserPassword(c.User, password)
	}
	return u.String(), nil
}

// specFiles finds the files of a load_spec. METdbLoad passes over folders that
// do not exist in silence; here they are counted and the first are named. Like
// METdbLoad it looks at what is directly in a folder, not below.
func (e *env) specFiles(s *metviewer.LoadSpec) ([]string, error) {
	if len(s.Files) > 0 {
		return formats.Expand(s.Files)
	}
	var files, missing []string
	folders := s.Folders()
	for _, f := range folders {
		found := formats.Within(f)
		if files = append(files, found...); len(found) == 0 {
			missing = append(missing, f)
		}
	}
	if len(files) == 0 {
		return nil, &fault.Error{File: s.File, Setting: "folder_tmpl", Problem: fmt.Sprintf("none of its %d folders holds a VSDB or MET file (the first is %s)", len(folders), folders[0]), Cure: "check the paths"}
	}
	if len(missing) > 0 {
		fmt.Fprintf(e.stderr, "%s: %d of %d folders hold no VSDB or MET file: %s\n", s.File, len(missing), len(folders), some(missing))
	}
	return formats.Expand(files)
}

// some names the first few.
func some(names []string) string {
	const shown = 5
	if len(names) <= shown {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:shown], ", ") + ", …"
}
