package enginetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/barograph/barograph/engine/kv"
)

// kvHistory is a random history of one table, with the records that it must have afterwards.
type kvHistory struct {
	c     *kv.Conn
	rng   *rand.Rand
	base  string // prefix of the history's keys
	model map[string][]string
	step  int
}

// CheckKV runs a random history of steps operations through one connection, which must read its own
// writes. It compares every reply with a model and returns the first difference. Keys begin with the
// seed; several histories can therefore use one table.
func CheckKV(ctx context.Context, r *kv.Records, seed uint64, steps int) (err error) {
	c, err := r.Connect(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	h := &kvHistory{
		c: c, rng: rand.New(rand.NewPCG(seed, 1)), base: fmt.Sprintf("history%d/", seed), model: map[string][]string{},
	}
	for h.step = range steps {
		if err := h.runStep(ctx); err != nil {
			return fmt.Errorf("step %d: %w", h.step, err)
		}
	}
	if c.Scan != nil {
		return h.scan(ctx, h.base, steps)
	}
	for i := range historyKeys {
		if err := h.read(ctx, h.key(i)); err != nil {
			return err
		}
	}
	return nil
}

// historyKeys is the number of keys of a history.
const historyKeys = 40

func (h *kvHistory) key(i int) string { return fmt.Sprintf("%suser%d", h.base, i) }

func (h *kvHistory) runStep(ctx context.Context) error {
	key := h.key(h.rng.IntN(historyKeys))
	switch n := h.rng.IntN(100); {
	case n < 30:
		return h.insert(ctx, key)
	case n < 50:
		return h.update(ctx, key)
	case n < 75 || h.c.Scan == nil && n < 90:
		return h.read(ctx, key)
	case n < 90:
		return h.scan(ctx, key, 1+h.rng.IntN(12))
	case h.c.Delete != nil:
		return h.delete(ctx, key)
	}
	return nil
}

// compareError compares the error of a call with the error of the model.
func compareError(what, key string, got, want error) error {
	switch {
	case want == nil && got != nil:
		return fmt.Errorf("%s of %s: %w", what, key, got)
	case want != nil && got == nil:
		return fmt.Errorf("%s of %s: no error, not %w", what, key, want)
	case want != nil && !errors.Is(got, want):
		return fmt.Errorf("%s of %s: error %w, not %w", what, key, got, want)
	}
	return nil
}

func (h *kvHistory) value(f int) string { return fmt.Sprintf("%d'%d\"%d", h.step, f, h.rng.Int32()) }

func (h *kvHistory) insert(ctx context.Context, key string) error {
	row, values := &kv.Row{}, make([]string, len(kvFields))
	for f := range kvFields {
		values[f] = h.value(f)
		row.AddString(f, values[f])
	}
	var want error
	if h.model[key] == nil {
		h.model[key] = values
	} else {
		want = kv.ErrExists
	}
	return compareError("insert", key, h.c.Insert(ctx, []byte(key), row), want)
}

func (h *kvHistory) update(ctx context.Context, key string) error {
	row, old := &kv.Row{}, h.model[key]
	var want error
	if old == nil {
		want = kv.ErrNotFound
	}
	all := h.rng.IntN(3) == 0
	only := h.rng.IntN(len(kvFields))
	for f := range kvFields {
		if v := h.value(f); all || f == only {
			row.AddString(f, v)
			if old != nil {
				old[f] = v
			}
		}
	}
	return compareError("update", key, h.c.Update(ctx, []byte(key), row), want)
}

func (h *kvHistory) delete(ctx context.Context, key string) error {
	var want error
	if h.model[key] == nil {
		want = kv.ErrNotFound
	}
	delete(h.model, key)
	return compareError("delete", key, h.c.Delete(ctx, []byte(key)), want)
}

// compareRow compares a row with the model.
func compareRow(key string, r *kv.Row, f kv.Fields, want []string) error {
	expected := &kv.Row{}
	for i, v := range want {
		if f == nil || slices.Contains(f, i) {
			expected.AddString(i, v)
		}
	}
	if !r.Equal(expected) {
		return fmt.Errorf("record %s, fields %v: fields %v with %q, not %v with %q",
			key, f, r.Fields(), r.Data(), expected.Fields(), expected.Data())
	}
	return nil
}

func (h *kvHistory) randomFields() kv.Fields {
	switch h.rng.IntN(3) {
	case 0:
		return nil
	case 1:
		return kv.Fields{h.rng.IntN(len(kvFields))}
	}
	return kv.Fields{1, 2}
}

func (h *kvHistory) read(ctx context.Context, key string) error {
	row, f := &kv.Row{}, h.randomFields()
	var want error
	if h.model[key] == nil {
		want = kv.ErrNotFound
	}
	if err := compareError("read", key, h.c.Read(ctx, []byte(key), f, row), want); err != nil || want != nil {
		return err
	}
	return compareRow(key, row, f, h.model[key])
}

func (h *kvHistory) scan(ctx context.Context, from string, n int) error {
	keys := slices.Sorted(maps.Keys(h.model))
	at, _ := slices.BinarySearch(keys, from)
	keys = keys[at:]
	keys = keys[:min(n, len(keys))]
	f, got := h.randomFields(), 0
	errBeyond := errors.New("beyond the history")
	err := h.c.Scan(ctx, []byte(from), n, f, func(key []byte, r *kv.Row) error {
		if string(key) >= h.base+"~" {
			return errBeyond
		}
		if got >= len(keys) || string(key) != keys[got] {
			return fmt.Errorf("scan of %d from %s: record %d is %s; must be %q", n, from, got, key, keys)
		}
		got++
		return compareRow(string(key), r, f, h.model[string(key)])
	})
	if err != nil && !errors.Is(err, errBeyond) {
		return err
	}
	if got != len(keys) {
		return fmt.Errorf("scan of %d from %s: %d records; must be %q", n, from, got, keys)
	}
	return nil
}
