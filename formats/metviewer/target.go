package metviewer

import (
	"net/url"

	"github.com/barograph/barograph/internal/fault"
)

// Target returns the URL of the database that a load_spec names, with user and password: for MariaDB
// the server's, where each subset is a database, otherwise the database's. It returns an error if
// connection is missing or incomplete, or names an unsupported system.
func (s *LoadSpec) Target() (string, error) {
	file, c := s.File, &s.Connection
	bad := func(problem string) error {
		return &fault.Error{File: file, Line: c.Line, Setting: "connection", Problem: problem, Cure: "name the target with --engine (barograph list engines)"}
	}
	scheme := map[string]string{
		"": "mariadb", "mysql": "mariadb", "mariadb": "mariadb", "aurora": "mariadb", "postgres": "postgres", "postgresql": "postgres",
	}[c.System]
	switch {
	case c.Line == 0:
		return "", bad("is missing")
	case scheme == "" && (c.System == "cb" || c.System == "couchbase"):
		return "", bad("management_system " + c.System + ": a load_spec cannot have Couchbase as its target")
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
