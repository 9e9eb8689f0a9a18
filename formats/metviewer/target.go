package metviewer

import (
	"net/url"

	"github.com/barograph/barograph/internal/fault"
)

// Target is the URL of the database that a load_spec names: for MariaDB the server's, where each
// subset is a database, otherwise the database's.
func (s *LoadSpec) Target() (string, error) {
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
