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

// scriptPart is a statement of a script.
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

// token is the length of what a script begins with, and whether it is more than a comment.
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
	case strings.HasPrefix(text, "/*"):
		return until(2, "*/"), strings.HasPrefix(text, "/*!") // MariaDB executes those
	case text[0] == '\'' || text[0] == '"' || text[0] == '`':
		for n = 1; n < len(text); n++ {
			if c.Backslash && text[n] == '\\' && text[0] != '`' {
				n++
			} else if text[n] == text[0] {
				return n + 1, true // a doubled quote begins the next part of the same text
			}
		}
		return len(text), true
	case c.Dollar && text[0] == '$':
		if tag := dollarTag.FindString(text); tag != "" {
			return until(len(tag), tag), true
		}
	}
	return 1, true
}

var dollarTag = regexp.MustCompile(`^\$\w*\$`)

// kvColumn is a column of a table.
type kvColumn struct {
	name, kind, holds string
	needed            bool // an insert must give a value
}

// columnsOf are the columns of the table; none where it does not exist.
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

// text is the one text that the catalog answers; "" where there is none.
func (x *kvTexts) text(ctx context.Context, s Session, query string) (out string, err error) {
	err = x.look(ctx, s, query, func(v [][]byte) { out = string(v[0]) })
	return out, err
}

// fitting makes the table where it is wanted and does not exist, and checks its columns.
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

// makeTable makes the table: by the user's script, if there is one. made reports whether it
// exists because of a statement of the script, and of nothing else.
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
				"correct the statement; Barograph keeps nothing of the script", oneLine{err})
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
		return false, x.t.DDL.Fault(0, "makes no table "+x.t.Name,
			"name the table so, without a schema, or give -p table=NAME", nil)
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

// oneLine prints a server's error, which may quote lines of the statement, as one line.
type oneLine struct{ error }

func (e oneLine) Error() string { return strings.Join(strings.Fields(e.error.Error()), " ") }
func (e oneLine) Unwrap() error { return e.error }

// placed is the line of a script at which a statement of it failed.
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

// madeBy checks that the script that is named made the table that exists.
func (x *kvTexts) madeBy(ctx context.Context, s Session) error {
	if x.t.DDL == nil {
		return nil
	}
	comment, err := x.text(ctx, s, x.Catalog.Comment)
	if err != nil || x.t.DDL.Made(comment) {
		return err
	}
	return x.t.DDL.Fault(0, "is not the script that made the table "+x.t.Name,
		"drop the table, give -p table=NAME, or leave out --ddl: the run then uses and describes the table as it is", nil)
}

// fits checks that a table has the columns that the layout needs, and that its keys are
// unique; line is that of the script at which it is made.
func (x *kvTexts) fits(ctx context.Context, s Session, there []kvColumn, line int, byScript bool) error {
	bad := func(problem, cure string) error {
		if byScript {
			return x.t.DDL.Fault(line, "makes the table "+x.t.Name+" "+problem, cure, nil)
		}
		return &fault.Error{Setting: "table " + x.t.Name, Problem: "was made " + problem, Cure: cure +
			", or give the layout and the fields that it has"}
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
			return bad(fmt.Sprintf("with the column %s, which has no default and may not be null; no insert gives it", c.name),
				"give it a default")
		}
	}
	unique, err := x.text(ctx, s, x.Catalog.Unique)
	if err == nil && unique != "1" {
		return bad("without a primary key or unique index over "+KeyColumn+" alone, so that two records could have one key",
			"add PRIMARY KEY ("+KeyColumn+")")
	}
	return err
}

// typeOf is the engine's own type of a needed column: the key, a field, or the document.
func (x *kvTexts) typeOf(i int) string {
	switch {
	case i == 0:
		return x.KeyType
	case x.document():
		return x.DocType
	}
	return x.TextType
}

// columnNamed is the column that the statements name so; nil = there is none.
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
