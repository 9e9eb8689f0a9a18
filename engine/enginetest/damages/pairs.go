package damages

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2"
)

// Pairs changes one pair of a Pebble database. Of a document it changes a bit of the value or the time in the
// key, or deletes the pair. Of marks and the catalog it changes an entry.
func Pairs(r *rand.Rand, dir string, k Kind) (d Damage, err error) {
	db, err := pebble.Open(dir, &pebble.Options{Logger: quiet{}})
	if err != nil {
		return d, err
	}
	defer func() {
		if closed := db.Close(); err == nil {
			err = closed
		}
	}()
	in, err := db.NewIter(nil)
	if err != nil {
		return d, err
	}
	var keys, values []string
	for ok := in.First(); ok; ok = in.Next() {
		key := string(in.Key())
		kind := Value
		switch {
		case strings.Contains(strings.ToLower(key[:min(len(key), 16)]), "mark"):
			kind = Mark
		case strings.Contains(strings.ToLower(key[:min(len(key), 16)]), "catalog"):
			kind = Catalog
		case !strings.Contains(key, "::"):
			continue
		}
		if kind == k || kind == Value && (k == Row || k == Lead || k == Time) {
			keys, values = append(keys, key), append(values, string(in.Value()))
		}
	}
	if err := in.Close(); err != nil || len(keys) == 0 {
		return d, none(err)
	}
	i := r.IntN(len(keys))
	key, value := keys[i], []byte(values[i])
	d = Damage{Kind: k, Place: strconv.Quote(short(key)), Before: "there", After: "deleted"}
	switch {
	case k == Row || k == Mark && r.IntN(4) == 0:
		return d, db.Delete([]byte(key), pebble.Sync)
	case k == Time:
		cut := strings.LastIndex(key, "::") + 2
		epoch, err := strconv.ParseInt(key[cut:], 10, 64)
		if err != nil {
			return d, err
		}
		d.Before, d.After = key[cut:], strconv.FormatInt(epoch+3600, 10)
		if err := db.Delete([]byte(key), pebble.Sync); err != nil {
			return d, err
		}
		return d, db.Set([]byte(key[:cut]+d.After), value, pebble.Sync)
	case k == Mark || k == Catalog:
		// The order of loading is not part of a mark.
		isPart := func(path string) bool { return path != ".number" && path != ".version" }
		text, edit, err := editJSON(r, values[i], isPart)
		if err != nil {
			return d, err
		}
		d.Place, d.Before, d.After = d.Place+edit.Place, edit.Before, edit.After
		return d, db.Set([]byte(key), []byte(text), pebble.Sync)
	default:
		if len(value) == 0 {
			return d, ErrNone
		}
		offset, bit := r.IntN(len(value)), byte(1)<<r.IntN(8)
		d.Place += fmt.Sprintf(", byte %d of %d", offset, len(value))
		d.Before, d.After = fmt.Sprintf("%#02x", value[offset]), fmt.Sprintf("%#02x", value[offset]^bit)
		value[offset] ^= bit
		return d, db.Set([]byte(key), value, pebble.Sync)
	}
}

// quiet keeps Pebble's messages out of a test's output.
type quiet struct{}

func (quiet) Infof(string, ...any)              {}
func (quiet) Errorf(string, ...any)             {}
func (quiet) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
