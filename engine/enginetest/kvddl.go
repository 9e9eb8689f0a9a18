package enginetest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/internal/fault"
)

// Script is a user's script that creates the table usertable with the columns field0 and field1, and its expected
// outcome.
type Script struct {
	Name, Text string
	Layout     kv.Layout // "" = columns
	Line       int       // line of the script that the error names
	Want       string    // part of the error; "" = the script creates the table
	Form       string    // part of the description of the table
}

// RunScripts runs users' scripts on databases of cfg. A script that creates the table must yield a table that supports
// all operations and describes itself. Any other script must return one error that names file, line and cure, and must
// leave nothing.
func RunScripts(t *testing.T, cfg Config, all []Script) {
	for _, s := range all {
		t.Run(s.Name, func(t *testing.T) {
			e, err := engine.Registry{cfg.Driver}.Open(t.Context(), cfg.URL(t), engine.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			table := kv.Table{
				Name: "usertable", Fields: []string{"field0", "field1"}, Layout: s.Layout, Make: true,
				DDL: &kv.DDL{File: "own.sql", Text: s.Text},
			}
			r, err := kv.DatabaseOf(e).Table(t.Context(), table)
			if s.Want != "" {
				checkRefusal(t, s, err)
				table.DDL = nil
				if table.Layout == "" {
					table.Layout = kv.Columns
				}
				if r, err = kv.DatabaseOf(e).Table(t.Context(), table); err != nil {
					t.Fatalf("the script left something: %v", err)
				}
				if err := r.Close(); err != nil {
					t.Fatal(err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			described, err := r.Form(t.Context())
			if err != nil || !strings.Contains(described, s.Form) {
				t.Errorf("%v: the description lacks %q:\n%s", err, s.Form, described)
			}
			if err := errors.Join(checkOperations(t.Context(), r), r.Close()); err != nil {
				t.Fatal(err)
			}
			checkReopening(t, e, table)
		})
	}
}

func checkRefusal(t *testing.T, s Script, err error) {
	t.Helper()
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.File != "own.sql" || f.Line != s.Line || !strings.Contains(err.Error(), s.Want) || f.Cure == "" {
		t.Errorf("own.sql:%d … %q is wanted: %v", s.Line, s.Want, err)
	}
	if err != nil && strings.Contains(err.Error(), "\n") {
		t.Errorf("the error has several lines: %v", err)
	}
}

// checkOperations inserts, reads, updates, scans and deletes a record.
func checkOperations(ctx context.Context, r *kv.Records) error {
	c, err := r.Connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	row, got, other := &kv.Row{}, &kv.Row{}, &kv.Row{}
	row.AddString(0, "a")
	row.AddString(1, "b")
	other.AddString(1, "c")
	key := []byte("user1")
	if err := errors.Join(c.Insert(ctx, key, row), c.Read(ctx, key, nil, got)); err != nil || !got.Equal(row) {
		return errors.Join(err, errors.New("the record was not read as it was inserted"))
	}
	if err := c.Insert(ctx, key, row); !errors.Is(err, kv.ErrExists) {
		return errors.Join(err, errors.New("a second insert of the key was acknowledged"))
	}
	n := 0
	scan := func([]byte, *kv.Row) error { n++; return nil }
	err = errors.Join(c.Update(ctx, key, other), c.Scan(ctx, []byte("u"), 5, nil, scan), c.Delete(ctx, key))
	if err != nil || n != 1 {
		return errors.Join(err, errors.New("update, scan or delete"))
	}
	return nil
}

// checkReopening opens a table that a script created: with the script, without it, and with another one.
func checkReopening(t *testing.T, e *engine.Engine, table kv.Table) {
	t.Helper()
	open := func(change func(*kv.Table)) error {
		c := table
		change(&c)
		r, err := kv.DatabaseOf(e).Table(t.Context(), c)
		if err != nil {
			return err
		}
		return r.Close()
	}
	if err := open(func(c *kv.Table) { c.Make = false }); err != nil {
		t.Errorf("by its script: %v", err)
	}
	if err := open(func(*kv.Table) {}); err != nil {
		t.Errorf("made again by its script: %v", err)
	}
	if err := open(func(c *kv.Table) { c.DDL = nil }); err != nil {
		t.Errorf("without its script: %v", err)
	}
	if err := open(func(c *kv.Table) { c.DDL = &kv.DDL{File: "other.sql", Text: c.DDL.Text + " "} }); err == nil ||
		!strings.Contains(err.Error(), "other.sql is not the script that created the table usertable") {
		t.Errorf("by another script: %v", err)
	}
	if err := open(func(c *kv.Table) { c.DDL, c.Layout = nil, kv.Hash }); err == nil {
		t.Error("the table was opened as hash")
	}
	// The same script makes a second table in a schema of its own, next to the first one.
	if err := open(func(c *kv.Table) { c.Space = "beside" }); err != nil {
		t.Errorf("in a schema of its own: %v", err)
	}
	if err := open(func(c *kv.Table) { c.Space, c.Make = "nowhere", false }); err == nil || !strings.Contains(err.Error(),
		"load it first") {
		t.Errorf("in a schema that does not exist: %v", err)
	}
}
