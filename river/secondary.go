package river

import (
	"context"
	"slices"
	"strings"

	"github.com/barograph/barograph/record"
)

// writeSecondary writes rows into a secondary table, for which the database may declare no key. resolve compares a row
// with the stored row of its key; nil = the table has a row for each value and product.
func (w *writer) writeSecondary(
	ctx context.Context, table string, rows []*row, resolve func(stored, r *row) Fate,
) error {
	l := layoutOf(table)
	if _, err := w.Exec(ctx, "LOCK TABLE "+w.schema+table+" IN SHARE ROW EXCLUSIVE MODE"); err != nil {
		return err
	}
	reduced := make([]*row, len(rows))
	for i, r := range rows {
		reduced[i] = l.reduce(r)
	}
	if resolve == nil {
		return w.addMissing(ctx, table, reduced)
	}
	changed, err := w.merge(ctx, table, reduced, "", resolve)
	if err != nil || len(changed) == 0 {
		return err
	}
	args, keys := w.args(l.names, changed), l.names[:l.keys]
	var set []string
	for _, name := range l.names[l.keys:] {
		set = append(set, name+" = u."+name)
	}
	update := "UPDATE " + w.schema + table + " t SET " + strings.Join(set, ", ") + " FROM " + w.unnest(l.names, "", "") +
		" WHERE " + match(keys)
	if _, err := w.Exec(ctx, update, args...); err != nil {
		return err
	}
	_, err = w.Exec(ctx, w.insert(table, l)+w.unlessStored(table, keys), args...)
	return err
}

// unlessStored returns the end of an INSERT of rows u that omits a row if the table has one whose columns names are
// equal.
func (w *writer) unlessStored(table string, names []string) string {
	return " WHERE NOT EXISTS (SELECT FROM " + w.schema + table + " t WHERE " + match(names) + ")"
}

// addMissing adds the rows that a locked table does not have yet. A product that is posted again adds none, although its
// posting time differs.
func (w *writer) addMissing(ctx context.Context, table string, rows []*row) error {
	type content struct {
		key
		value   float64
		qual    byte
		revised bool
		product string
		issued  int64
	}
	seen := map[content]bool{}
	var different []*row
	for _, r := range rows {
		if c := (content{r.key, r.value, r.qual, r.revised, r.product, r.issued}); !seen[c] {
			seen[c] = true
			different = append(different, r)
		}
	}
	slices.SortStableFunc(different, compareKeys)
	l := layoutOf(table)
	names := slices.DeleteFunc(slices.Clone(l.names), func(name string) bool {
		return slices.Contains([]string{"postingtime", "quality_code", "reject_type", "userid"}, name)
	})
	_, err := w.Exec(ctx, w.insertPosted(table, l)+w.unlessStored(table, names), w.args(l.names, different)...)
	return err
}

// insertPosted returns the start of an INSERT into a locked table whose key ends with the posting time. Rows that do
// not differ in the rest of their key get the next free microseconds.
func (w *writer) insertPosted(table string, l layout) string {
	isPostingTime := func(name string) bool { return name == "postingtime" }
	rest := slices.DeleteFunc(slices.Clone(l.names[:l.keys]), isPostingTime)
	afterStored := "(SELECT max(t.postingtime) + interval '1 microsecond' FROM " + w.schema + table + " t WHERE " +
		match(rest) + ")"
	number := "row_number() OVER (PARTITION BY u." + strings.Join(rest, ", u.") + " ORDER BY u.n)"
	values := slices.Clone(l.names)
	for i, name := range values {
		if values[i] = "u." + name; isPostingTime(name) {
			values[i] = "greatest(u.postingtime, " + afterStored + ") + (" + number + " - 1) * interval '1 microsecond'"
		}
	}
	return "INSERT INTO " + w.schema + table + " (" + strings.Join(l.names, ", ") + ") SELECT " +
		strings.Join(values, ", ") + " FROM " + w.unnest(l.names, " WITH ORDINALITY", ", n")
}

// reduce returns a copy of a row for the table. Fields that the table does not have are as readStored returns them.
func (l layout) reduce(r *row) *row {
	c := *r
	c.key, c.fate = l.key(r.full), new(Fate)
	if !l.has("obstime") && !l.has("validtime") {
		c.full.at = 0
	}
	if !l.has("value") {
		c.value, c.qual, c.revised = record.NoValue, 0, false
	}
	if !l.has("quality_code") {
		c.code = 0
	}
	if !l.has("shef_comment") {
		c.comment = ""
	}
	return &c
}
