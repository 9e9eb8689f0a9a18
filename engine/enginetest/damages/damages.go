// Package damages applies single random damages to an archive: to a byte, a row, the last digit of a value,
// a lead, a time, a mark, an entry of the catalog. It changes stored data without Barograph, with the
// engines' own drivers and in the bytes of files. It imports none of the packages that read archives.
// Therefore the checks that find damages cannot share a fault with this package.
package damages

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Kind is the damaged part of an archive.
type Kind string

// The kinds.
const (
	Byte    Kind = "byte"
	Row     Kind = "row"
	Value   Kind = "value"
	Lead    Kind = "lead"
	Time    Kind = "time"
	Mark    Kind = "mark"
	Catalog Kind = "catalog"
)

// Kinds lists all kinds.
func Kinds() []Kind { return []Kind{Byte, Row, Value, Lead, Time, Mark, Catalog} }

// Damage describes one applied damage.
type Damage struct {
	Kind          Kind
	Place         string // table, row and column; file and offset; key
	Before, After string
}

// ErrNone means that the archive has nothing of that kind.
var ErrNone = errors.New("the archive has nothing of that kind")

// File flips one bit of one file below path. Each byte of the eligible files has the same probability. If page, the
// size of a page, is not 0, File skips the first three pages of each file (InnoDB's lists of pages) and pages of
// zeros, which nobody has written yet. If 1000 draws find nothing else, the error is ErrNone.
func File(r *rand.Rand, path string, page int64, isEligible func(name string) bool) (Damage, error) {
	var names []string
	var sizes []int64
	var all int64
	err := filepath.WalkDir(path, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !isEligible(name) {
			return err
		}
		info, err := e.Info()
		if err == nil && info.Size() > 0 {
			names, sizes = append(names, name), append(sizes, info.Size())
			all += info.Size()
		}
		return err
	})
	if err != nil || all == 0 {
		return Damage{}, errors.Join(err, ErrNone)
	}
	for range 1000 {
		offset, i := r.Int64N(all), 0
		for offset >= sizes[i] {
			offset -= sizes[i]
			i++
		}
		text, err := os.ReadFile(names[i])
		if err != nil {
			return Damage{}, err
		}
		if page > 0 {
			start := offset / page * page
			if start < 3*page || len(bytes.Trim(text[start:min(start+page, sizes[i])], "\x00")) == 0 {
				continue
			}
		}
		rel, err := filepath.Rel(filepath.Dir(path), names[i])
		d := Damage{Byte, fmt.Sprintf("%s, byte %d of %d", rel, offset, sizes[i]), fmt.Sprintf("%#02x", text[offset]), ""}
		text[offset] ^= 1 << r.IntN(8)
		d.After = fmt.Sprintf("%#02x", text[offset])
		return d, errors.Join(err, os.WriteFile(names[i], text, 0o600)) // WriteFile keeps the owner and mode of an existing file
	}
	return Damage{}, ErrNone
}

// editJSON changes one random entry of a JSON text whose path the filter accepts: the last digit of a number or
// the number by one, one letter of a text, or it removes an element.
func editJSON(r *rand.Rand, text string, takes func(path string) bool) (string, Damage, error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var root any
	if err := d.Decode(&root); err != nil {
		return "", Damage{}, err
	}
	var edits []func() Damage
	walk(r, "", root, func(v any) { root = v }, func(path string, edit func() Damage) {
		if takes(path) {
			edits = append(edits, edit)
		}
	})
	if len(edits) == 0 {
		return "", Damage{}, ErrNone
	}
	done := edits[r.IntN(len(edits))]()
	out, err := json.Marshal(root)
	return string(out), done, err
}

// walk yields an edit for each leaf, and one for each element of a list.
func walk(r *rand.Rand, path string, v any, set func(any), offer func(string, func() Damage)) {
	leaf := func(before, after any) {
		offer(path, func() Damage {
			set(after)
			return Damage{Place: path, Before: fmt.Sprint(before), After: fmt.Sprint(after)}
		})
	}
	switch v := v.(type) {
	case map[string]any:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			walk(r, path+"."+k, v[k], func(x any) { v[k] = x }, offer)
		}
	case []any:
		for i := range v {
			walk(r, fmt.Sprintf("%s[%d]", path, i), v[i], func(x any) { v[i] = x }, offer)
		}
		if len(v) > 0 {
			i := r.IntN(len(v))
			offer(path+"[]", func() Damage {
				removed, _ := json.Marshal(v[i])
				set(slices.Delete(slices.Clone(v), i, i+1))
				return Damage{Place: fmt.Sprintf("%s[%d]", path, i), Before: short(string(removed)), After: "gone"}
			})
		}
	case string:
		leaf(v, v+"x")
	case json.Number:
		leaf(v, json.Number(next(string(v))))
	case bool:
		leaf(v, !v)
	}
}

// next returns the next greater number: by one unit in its last place, or by one.
func next(text string) string {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return strconv.FormatInt(n+1, 10)
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return text + "1"
	}
	return strconv.FormatFloat(math.Nextafter(f, math.Inf(1)), 'g', -1, 64)
}

// short returns a text without its middle.
func short(s string) string {
	if len(s) > 80 {
		return s[:60] + "…" + s[len(s)-15:]
	}
	return s
}
