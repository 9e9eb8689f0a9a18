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

// scriptStatement is one statement of a script.
type scriptStatement struct {
	line int // of its first word, from 1
	text string
}

// splitScript cuts a script into its statements, as the client programs of the engines do: at semicolons outside of
// literals, quoted names and comments.
func (c *KVCatalog) splitScript(text string) (statements []scriptStatement) {
	begin, line, beginLine := -1, 1, 1
	finish := func(end int) {
		if begin >= 0 {
			statements = append(statements, scriptStatement{beginLine, strings.TrimSpace(text[begin:end])})
		}
		begin = -1
	}
	for i := 0; i < len(text); {
		n, isCode := c.tokenLength(text[i:])
		blank := !isCode || strings.TrimSpace(text[i:i+n]) == ""
		switch {
		case text[i] == ';':
			finish(i)
		case !blank && begin < 0:
			begin, beginLine = i, line
		}
		line += strings.Count(text[i:i+n], "\n")
		i += n
	}
	finish(len(text))
	return statements
}

// tokenLength returns the length of the first token of a script; isCode is false for a comment. In PostgreSQL, a
// literal that starts with E' has escapes, and block comments nest. In MariaDB, -- starts a comment only before a blank.
func (c *KVCatalog) tokenLength(text string) (n int, isCode bool) {
	until := func(from int, end string) int {
		if at := strings.Index(text[from:], end); at >= 0 {
			return from + at + len(end)
		}
		return len(text)
	}
	switch {
	case c.HashComments && text[0] == '#', strings.HasPrefix(text, "--") && (!c.HashComments || len(text) == 2 || text[2] <= ' '):
		return until(0, "\n"), false
	case strings.HasPrefix(text, "/*") && c.DollarQuotes:
		return commentLength(text), false
	case strings.HasPrefix(text, "/*"):
		return until(2, "*/"), strings.HasPrefix(text, "/*!") // MariaDB executes comments that start with /*!
	case c.DollarQuotes && len(text) > 1 && (text[0] == 'E' || text[0] == 'e') && text[1] == '\'':
		return 1 + quotedLength(text[1:], true), true
	case text[0] == '\'' || text[0] == '"' || text[0] == '`':
		return quotedLength(text, c.BackslashEscapes && text[0] != '`'), true
	case c.DollarQuotes && text[0] == '$':
		if tag := dollarTag.FindString(text); tag != "" {
			return until(len(tag), tag), true
		}
	}
	return max(1, len(word.FindString(text))), true
}

// quotedLength returns the length of a quoted literal or name. A doubled quote counts as the end of one literal and the
// start of the next.
func quotedLength(text string, hasEscapes bool) int {
	for n := 1; n < len(text); n++ {
		if hasEscapes && text[n] == '\\' {
			n++
		} else if text[n] == text[0] {
			return n + 1
		}
	}
	return len(text)
}

// commentLength returns the length of a block comment, which may contain others.
func commentLength(text string) int {
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

var (
	dollarTag = regexp.MustCompile(`^\$\w*\$`)
	word      = regexp.MustCompile(`^[\pL_][\pL\d_$]*`)
)

// kvColumn is a column of a table.
type kvColumn struct {
	name, kind string
	content    string // what it can contain, see KVCatalog.ColumnsQuery
	required   bool   // an insert must give a value
}

// tableColumns lists the columns of the table. A table that does not exist has none.
func (x *kvTexts) tableColumns(ctx context.Context, s Session) (all []kvColumn, err error) {
	err = x.queryCatalog(ctx, s, x.Catalog.ColumnsQuery, func(v [][]byte) {
		all = append(all, kvColumn{string(v[0]), string(v[1]), string(v[2]), string(v[3]) == "1"})
	})
	return all, err
}

// queryCatalog runs a query of KVCatalog for the table.
func (x *kvTexts) queryCatalog(ctx context.Context, s Session, query string, each func(values [][]byte)) error {
	st, err := s.Prepare(ctx, query)
	if err != nil {
		return err
	}
	return st.Query(ctx, [][]byte{[]byte(x.tableName())}, NoLimit, func(v [][]byte) error {
		each(v)
		return nil
	})
}

// catalogText returns the single value of a query of KVCatalog; "" = no row.
func (x *kvTexts) catalogText(ctx context.Context, s Session, query string) (out string, err error) {
	err = x.queryCatalog(ctx, s, query, func(v [][]byte) { out = string(v[0]) })
	return out, err
}

// openTable checks the columns of an existing table, or creates a missing one if t.Make is set.
func (x *kvTexts) openTable(ctx context.Context, s Session) error {
	existing, err := x.tableColumns(ctx, s)
	if err != nil {
		return err
	}
	if len(existing) > 0 {
		if err := x.checkTable(ctx, s, existing, 0); err != nil {
			return err
		}
		return x.checkScript(ctx, s)
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
	remaining, catalogErr := x.tableColumns(ctx, s)
	switch {
	case catalogErr != nil || len(remaining) == 0:
	case x.t.DDL == nil: // another client created it meanwhile
		return x.checkTable(ctx, s, remaining, 0)
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
		for _, text := range x.createTexts() {
			if err := execute(ctx, s, text); err != nil {
				return false, err
			}
		}
		return false, nil
	}
	statements, line := x.Catalog.splitScript(x.t.DDL.Text), 0
	if len(statements) == 0 {
		return false, x.t.DDL.Fault(0, "contains no statement", "write CREATE TABLE "+x.t.Name+" ("+KVKeyColumn+" …)", nil)
	}
	createsTable := regexp.MustCompile("(?is)^CREATE\\b.*?\\bTABLE\\s+(IF\\s+NOT\\s+EXISTS\\s+)?[`\"]?" + x.t.Name + "\\b")
	for _, st := range statements {
		if err := execute(ctx, s, st.text); err != nil {
			if ctx.Err() != nil {
				return made, ctx.Err()
			}
			cure := "correct the statement; Barograph has undone the script"
			if x.Catalog.Rollback == "" {
				cure = "correct the statement, and drop what the script's earlier statements created except the table " + x.t.Name
			}
			return made, x.t.DDL.Fault(x.errorLine(st, err), "is refused by the server", cure, oneLineError{err})
		}
		if m := createsTable.FindStringSubmatch(st.text); m != nil && line == 0 {
			line, made = st.line, m[1] == "" // with IF NOT EXISTS another client may have created it
		}
	}
	existing, err := x.tableColumns(ctx, s)
	if err != nil {
		return made, err
	}
	if len(existing) == 0 {
		return false, x.t.DDL.Fault(0, "creates no table "+x.t.Name,
			"create it under this name, without a schema, or set -p table=NAME", nil)
	}
	if err := x.checkTable(ctx, s, existing, cmp.Or(line, statements[0].line)); err != nil {
		return made, err
	}
	comment, err := x.catalogText(ctx, s, x.Catalog.CommentQuery)
	if err != nil {
		return made, err
	}
	return made, execute(ctx, s, x.Catalog.SetComment(x.name, x.t.DDL.Marked(comment)))
}

// oneLineError prints a server's error on one line, because servers quote lines of the statement.
type oneLineError struct{ error }

func (e oneLineError) Error() string { return strings.Join(strings.Fields(e.error.Error()), " ") }
func (e oneLineError) Unwrap() error { return e.error }

// errorLine returns the line of the script at which its statement p failed.
func (x *kvTexts) errorLine(p scriptStatement, err error) int {
	switch position := x.Catalog.ErrorPosition(err); {
	case position < 0:
		return p.line - position - 1
	case position > 0:
		text := []rune(p.text)
		return p.line + strings.Count(string(text[:min(position-1, len(text))]), "\n")
	}
	return p.line
}

// checkScript checks that the user's script is the one that created the existing table.
func (x *kvTexts) checkScript(ctx context.Context, s Session) error {
	if x.t.DDL == nil {
		return nil
	}
	comment, err := x.catalogText(ctx, s, x.Catalog.CommentQuery)
	if err != nil || x.t.DDL.Made(comment) {
		return err
	}
	return x.t.DDL.Fault(0, "is not the script that created the table "+x.t.Name,
		"drop the table, set -p table=NAME, or omit --ddl to use the existing table", nil)
}

// checkTable checks that a table has the columns of the layout and that its keys are unique. line is the line of the
// script's statement that created the table; 0 = the table existed before.
func (x *kvTexts) checkTable(ctx context.Context, s Session, existing []kvColumn, line int) error {
	mismatch := func(problem, cure string) error {
		if line > 0 {
			return x.t.DDL.Fault(line, "creates the table "+x.t.Name+" "+problem, cure, nil)
		}
		return &fault.Error{
			Setting: "table " + x.t.Name, Problem: "exists " + problem,
			Cure: cure + ", or use the layout and the fields of the table",
		}
	}
	needed, content := append([]string{KVKeyColumn}, x.t.Fields...), "text"
	if x.isDocument() {
		needed = []string{KVKeyColumn, KVDocumentColumn}
	}
	for i, name := range needed {
		if i > 0 && x.isDocument() {
			content = "document"
		}
		c := x.columnNamed(existing, name)
		switch {
		case c == nil:
			return mismatch("without the column "+name, fmt.Sprintf("add the column %s %s", name, x.typeOf(i)))
		case !strings.Contains(c.content, content):
			return mismatch(fmt.Sprintf("with the column %s of type %s", name, c.kind), "give it the type "+x.typeOf(i))
		}
		c.required = false // each insert gives it
	}
	for _, c := range existing {
		if c.required {
			return mismatch(fmt.Sprintf("with the column %s, which is NOT NULL, has no default and is not inserted", c.name),
				"give it a default")
		}
	}
	unique, err := x.catalogText(ctx, s, x.Catalog.UniqueQuery)
	if err == nil && unique != "1" {
		return mismatch("without a primary key or unique index over only "+KVKeyColumn+", so two records could have one key",
			"add PRIMARY KEY ("+KVKeyColumn+")")
	}
	return err
}

// typeOf returns the engine's type of column i of a layout: the key, a field, or the document.
func (x *kvTexts) typeOf(i int) string {
	switch {
	case i == 0:
		return x.KeyType
	case x.isDocument():
		return x.DocType
	}
	return x.TextType
}

// columnNamed returns the column with a name, nil = none. The engine decides whether upper and lower case are the same.
func (x *kvTexts) columnNamed(all []kvColumn, name string) *kvColumn {
	for i := range all {
		isSame := strings.EqualFold(all[i].name, name)
		if x.FoldsNames {
			isSame = all[i].name == strings.ToLower(name)
		}
		if isSame {
			return &all[i]
		}
	}
	return nil
}
