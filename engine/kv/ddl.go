package kv

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/internal/fault"
)

// DDL is a script of SQL statements, written by a user, that makes a table in place of
// the engine's own statements.
type DDL struct {
	File string // as the user gave it; for messages
	Text string
}

// Digest is the SHA-256 of the text, in hexadecimal.
func (d *DDL) Digest() string {
	sum := sha256.Sum256([]byte(d.Text))
	return hex.EncodeToString(sum[:])
}

// Name names the table that the script makes in reports: the name of the file and the
// beginning of the digest, since a file may change between two runs.
func (d *DDL) Name() string { return filepath.Base(d.File) + "@" + d.Digest()[:8] }

// Fault is the error of a script, at a line; 0 = nowhere in particular.
func (d *DDL) Fault(line int, problem, cure string, err error) *fault.Error {
	return &fault.Error{File: d.File, Line: line, Problem: problem, Cure: cure, Err: err}
}

// Mark is what the comment of a table says that a script made.
func (d *DDL) Mark() string { return markOf + d.Digest() }

const markOf = "barograph ddl sha256 "

// Marked is the comment of a table after the mark was put behind it.
func (d *DDL) Marked(comment string) string { return strings.TrimSpace(comment + " " + d.Mark()) }

// Made reports whether a table with this comment was made by the script.
func (d *DDL) Made(comment string) bool { return strings.HasSuffix(comment, d.Mark()) }

// CheckDDL checks that a driver takes the script, and such a layout with it: one whose
// columns, and nothing else, Barograph decides.
func (t *Table) CheckDDL(d engine.Driver) error {
	if t.DDL == nil {
		return nil
	}
	if !OfferOf(&d).OwnDDL {
		return &fault.Error{Setting: "--ddl", Problem: "is for engines of which Barograph reads the columns of a table; " +
			d.Scheme + " is none", Cure: "leave it out for " + d.Scheme}
	}
	if t.Layout != Columns && t.Layout != Document && t.Layout != Array {
		return &fault.Error{
			Setting: "--ddl",
			Problem: fmt.Sprintf("and the layout %s exclude each other: the script decides the physical form", t.Layout),
			Cure:    "give the layout columns, document or array, or leave it out",
		}
	}
	return nil
}

// checkSpace checks the name of a schema for one table.
func (t *Table) checkSpace() error {
	if t.Space == "" || plain("_"+t.Space) {
		return nil
	}
	return &fault.Error{
		Setting: "schema " + t.Space, Problem: "the name cannot be used",
		Cure: "use letters, digits and '_'",
	}
}

// SpaceOf is a name for the schema of a table that has one of its own, by what the
// table is called in reports: its letters and digits, in lower case.
func SpaceOf(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			b.WriteRune(r)
		} else {
			b.WriteByte('_')
		}
	}
	text := b.String()
	if len(text) > longestSpace { // the digest at the end stays
		text = text[len(text)-longestSpace:]
	}
	return text
}

const longestSpace = 40
