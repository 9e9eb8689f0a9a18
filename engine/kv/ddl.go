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

// DDL is a user's script of SQL statements, which creates a table in place of the engine's statements.
type DDL struct {
	File string // as the user gave it; for messages
	Text string
}

// Digest is the SHA-256 of the text, in hexadecimal.
func (d *DDL) Digest() string {
	sum := sha256.Sum256([]byte(d.Text))
	return hex.EncodeToString(sum[:])
}

// Name names the script's table in reports: the name of the file and the beginning of the digest, because a file may
// change between two runs.
func (d *DDL) Name() string { return filepath.Base(d.File) + "@" + d.Digest()[:8] }

// Fault is an error of the script, at a line; 0 = no line.
func (d *DDL) Fault(line int, problem, cure string, err error) *fault.Error {
	return &fault.Error{File: d.File, Line: line, Problem: problem, Cure: cure, Err: err}
}

// Mark identifies the script in the comment of the table that it created.
func (d *DDL) Mark() string { return markPrefix + d.Digest() }

const markPrefix = "barograph ddl sha256 "

// Marked is a table's comment followed by the mark.
func (d *DDL) Marked(comment string) string { return strings.TrimSpace(comment + " " + d.Mark()) }

// Made reports whether the script created a table with this comment.
func (d *DDL) Made(comment string) bool { return strings.HasSuffix(comment, d.Mark()) }

// CheckDDL checks that a driver supports scripts and that the layout determines only the columns of the table.
func (t *Table) CheckDDL(d engine.Driver) error {
	if t.DDL == nil {
		return nil
	}
	if !OfferOf(&d).OwnDDL {
		problem := d.Scheme + " does not support it, because Barograph cannot read the columns of its tables"
		return &fault.Error{Setting: "--ddl", Problem: problem, Cure: "omit it for " + d.Scheme}
	}
	if t.Layout != Columns && t.Layout != Document && t.Layout != Array {
		return &fault.Error{
			Setting: "--ddl",
			Problem: fmt.Sprintf("and the layout %s exclude each other: the script decides the physical form", t.Layout),
			Cure:    "use the layout columns, document or array, or omit --ddl",
		}
	}
	return nil
}

// checkSpace checks the name of the schema of a table. The name may begin with a digit.
func (t *Table) checkSpace() error {
	if t.Space == "" || plain("_"+t.Space) {
		return nil
	}
	return &fault.Error{
		Setting: "schema " + t.Space, Problem: "the name cannot be used",
		Cure: "use letters, digits and '_'",
	}
}

// SpaceOf derives the name of a table's schema from the table's name in reports: its letters and digits, in lower case.
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
	if len(text) > longestSpace { // keep the digest at the end
		text = text[len(text)-longestSpace:]
	}
	return text
}

const longestSpace = 40
