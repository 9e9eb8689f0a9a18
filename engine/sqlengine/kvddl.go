package sqlengine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/barograph/barograph/internal/fault"
)

// scriptPart is one statement of a script.
type scriptPart struct {
	line int // of its first word, from 1
	text string
}

// splitScript cuts a script into its statements, as the client programs of the engines do:
// at semicolons outside of texts, quoted names and comments.
func (c *KVCatalog) splitScript(text string) (all []scriptPart) {
	begin, line, beginLine := -1, 1, 1
	end := func(at int) {
		if begin >= 0 {
			all = append(all, scriptPart{beginLine, strings.TrimSpace(text[begin:at])})
		}
		begin = -1
	}
	for i := 0; i < len(text); {
		n, isCode := c.token(text[i:])
		blank := !isCode || strings.TrimSpace(text[i:i+n]) == ""
		switch {
		case text[i] == ';':
			end(i)
		case !blank && begin < 0:
			begin, beginLine = i, line
		}
		line += strings.Count(text[i:i+n], "\n")
		i += n
	}
	end(len(text))
	return all
}

// token is the length of the first token of a script; isCode is false for a comment. A text of PostgreSQL that starts with
// E' has escapes, and its block comments nest.
func (c *KVCatalog) token(text string) (n int, isCode bool) {
	until := func(from int, end string) int {
		if at := strings.Index(text[from:], end); at >= 0 {
			return from + at + len(end)
		}
		return len(text)
	}
	switch {
	case strings.HasPrefix(text, "--"), c.Hash && text[0] == '#':
		return until(0, "\n"), false
	case strings.HasPrefix(text, "/*") && c.Dollar:
		return nestedComment(text), false
	case strings.HasPrefix(text, "/*"):
		return until(2, "*/"), strings.HasPrefix(text, "/*!") // MariaDB executes those
	case c.Dollar && len(text) > 1 && (text[0] == 'E' || text[0] == 'e') && text[1] == '\'':
		return 1 + quoted(text[1:], true), true
	case text[0] == '\'' || text[0] == '"' || text[0] == '`':
		return quoted(text, c.Backslash && text[0] != '`'), true
	case c.Dollar && text[0] == '$':
		if tag := dollarTag.FindString(text); tag != "" {
			return until(len(tag), tag), true
		}
	}
	return 1, true
}

// quoted is the length of a quoted text. A doubled quote ends it and starts the next part of the same text.
func quoted(text string, escapes bool) int {
	for n := 1; n < len(text); n++ {
		if escapes && text[n] == '\\' {
			n++
		} else if text[n] == text[0] {
			return n + 1
		}
	}
	return len(text)
}

// nestedComment is the length of a block comment, which may contain others.
func nestedComment(text string) int {
	depth := 0
	for n := 0; n+1 < len(text); n++ {
		switch text[n : n+2] {
		case "/*":
			depth++
			n++
		case "*/":
			if n++; depth == 1 {
				return n + 1
			}
			depth--
		}
	}
	return len(text)
}

var dollarTag = regexp.MustCompile(`^\$\w*\$`)

// kvColumn is a column of a table.
type kvColumn struct {
	name, kind, holds string
	needed            bool // an insert must give a value
}

// columnsOf lists the columns of the table; none = it does not exist.
func (x *kvTexts) columnsOf(ctx context.Context, s Session) (all []kvColumn, err error) {
	err = x.look(ctx, s, x.Catalog.Columns, func(v [][]byte) {
		all = append(all, kvColumn{string(v[0]), string(v[1]), string(v[2]), string(v[3]) == "1"})
	})
	return all, err
}

// look asks the catalog about the table.
func (x *kvTexts) look(ctx context.Context, s Session, query string, each func(values [][]byte)) error {
	st, err := s.Prepare(ctx, query)
	if err != nil {
		return err
	}
	return st.Query(ctx, [][]byte{[]byte(x.tableName())}, NoLimit, func(v [][]byte) error {
		each(v)
		return nil
	})
}

// text returns the single value of a catalog query; "" = no row.
func (x *kvTexts) text(ctx context.Context, s Session, query string) (out string, err error) {
	err = x.look(ctx, s, query, func(v [][]byte) { out = string(v[0]) })
	return out, err
}

// fitting creates the table if it does not exist and should be created, and checks its columns.
func (x *kvTexts) fitting(ctx context.Context, s Session) error {
	there, err := x.columnsOf(ctx, s)
	if err != nil {
		return err
	}
	if len(there) > 0 {
		if err := x.fits(ctx, s, there, 0, false); err != nil {
			return err
		}
		return x.madeBy(ctx, s)
	}
	if !x.t.Make {
		return x.t.MissingError(false)
	}
	c := x.Catalog
	if c.Begin != "" {
		if err := execute(ctx, s, c.Begin); err != nil {
			return err
		}
	}
	made, err := x.makeTable(ctx, s)
	if err == nil {
		if c.Commit != "" {
			err = execute(ctx, s, c.Commit)
		}
		return err
	}
	if c.Rollback != "" {
		err = errors.Join(err, execute(context.WithoutCancel(ctx), s, c.Rollback))
	}
	left, looked := x.columnsOf(ctx, s)
	switch {
	case looked != nil || len(left) == 0:
	case x.t.DDL == nil: // another client made it meanwhile
		return x.fits(ctx, s, left, 0, false)
	case made && c.Rollback == "":
		err = errors.Join(err, execute(ctx, s, c.Drop(x.name)))
	}
	return err
}

func execute(ctx context.Context, s Session, text string) error {
	st, err := s.Prepare(ctx, text)
	if err == nil {
		_, err = st.Exec(ctx, nil)
	}
	return err
}

// makeTable creates the table, with the user's script if there is one. made reports whether a statement of the script
// created it.
func (x *kvTexts) makeTable(ctx context.Context, s Session) (made bool, err error) {
	if x.t.DDL == nil {
		for _, text := range x.create() {
			if err := execute(ctx, s, text); err != nil {
				return false, err
			}
		}
		return false, nil
	}
	parts, line := x.Catalog.splitScript(x.t.DDL.Text), 0
	if len(parts) == 0 {
		return false, x.t.DDL.Fault(0, "contains no statement", "write CREATE TABLE "+x.t.Name+" ("+KeyColumn+" …)", nil)
	}
	makes := regexp.MustCompile("(?is)^CREATE\\b.*?\\bTABLE\\s+(IF\\s+NOT\\s+EXISTS\\s+)?[`\"]?" + x.t.Name + "\\b")
	for _, p := range parts {
		if err := execute(ctx, s, p.text); err != nil {
			if ctx.Err() != nil {
				return made, ctx.Err()
			}
			return made, x.t.DDL.Fault(x.placed(p, err), "is refused by the server",
				"correct the statement; Barograph has undone the script", oneLine{err})
		}
		if m := makes.FindStringSubmatch(p.text); m != nil && line == 0 {
			line, made = p.line, m[1] == ""
		}
	}
	there, err := x.columnsOf(ctx, s)
	if err != nil {
		return made, err
	}
	if len(there) == 0 {
		return false, x.t.DDL.Fault(0, "creates no table "+x.t.Name,
			"create it under this name, without a schema, or set -p table=NAME", nil)
	}
	if err := x.fits(ctx, s, there, cmp.Or(line, parts[0].line), true); err != nil {
		return made, err
	}
	comment, err := x.text(ctx, s, x.Catalog.Comment)
	if err != nil {
		return made, err
	}
	return made, execute(ctx, s, x.Catalog.SetComment(x.name, x.t.DDL.Marked(comment)))
}

// oneLine prints a server's error on one line; servers quote lines of the statement.
type oneLine struct{ error }

func (e oneLine) Error() string { return strings.Join(strings.Fields(e.error.Error()), " ") }
func (e oneLine) Unwrap() error { return e.error }

// placed is the line of a script at which its statement failed.
func (x *kvTexts) placed(p scriptPart, err error) int {
	switch at := x.Catalog.Place(err); {
	case at < 0:
		return p.line - at - 1
	case at > 0:
		begin := []rune(p.text)
		return p.line + strings.Count(string(begin[:min(at-1, len(begin))]), "\n")
	}
	return p.line
}

// madeBy checks that the given script created the existing table.
func (x *kvTexts) madeBy(ctx context.Context, s Session) error {
	if x.t.DDL == nil {
		return nil
	}
	comment, err := x.text(ctx, s, x.Catalog.Comment)
	if err != nil || x.t.DDL.Made(comment) {
		return err
	}
	return x.t.DDL.Fault(0, "is not the script that created the table "+x.t.Name,
		"drop the table, set -p table=NAME, or omit --ddl to use the existing table", nil)
}

// fits checks that a table has the columns of the layout and that its keys are unique; line is the line of the
// statement that created it.
func (x *kvTexts) fits(ctx context.Context, s Session, there []kvColumn, line int, byScript bool) error {
	bad := func(problem, cure string) error {
		if byScript {
			return x.t.DDL.Fault(line, "creates the table "+x.t.Name+" "+problem, cure, nil)
		}
		return &fault.Error{Setting: "table " + x.t.Name, Problem: "exists " + problem, Cure: cure +
			", or use the layout and the fields of the table"}
	}
	needed, holds := append([]string{KeyColumn}, x.t.Fields...), "text"
	if x.document() {
		needed = []string{KeyColumn, DocumentColumn}
	}
	for i, name := range needed {
		if i > 0 && x.document() {
			holds = "document"
		}
		c := x.columnNamed(there, name)
		switch {
		case c == nil:
			return bad("without the column "+name, fmt.Sprintf("add the column %s %s", name, x.typeOf(i)))
		case !strings.Contains(c.holds, holds):
			return bad(fmt.Sprintf("with the column %s of type %s", name, c.kind), "give it the type "+x.typeOf(i))
		}
		c.needed = false // each insert gives it
	}
	for _, c := range there {
		if c.needed {
			return bad(fmt.Sprintf("with the column %s, which is NOT NULL, has no default and is not inserted", c.name),
				"give it a default")
		}
	}
	unique, err := x.text(ctx, s, x.Catalog.Unique)
	if err == nil && unique != "1" {
		return bad("without a primary key or unique index over only "+KeyColumn+", so two records could have one key",
			"add PRIMARY KEY ("+KeyColumn+")")
	}
	return err
}

// typeOf is the engine's type of a required column: the key, a field, or the document.
func (x *kvTexts) typeOf(i int) string {
	switch {
	case i == 0:
		return x.KeyType
	case x.document():
		return x.DocType
	}
	return x.TextType
}

// columnNamed finds a column by its name; nil = there is none.
func (x *kvTexts) columnNamed(all []kvColumn, name string) *kvColumn {
	for i := range all {
		isSame := strings.EqualFold(all[i].name, name)
		if x.Folded {
			isSame = all[i].name == strings.ToLower(name)
		}
		if isSame {
			return &all[i]
		}
	}
	return nil
}
