package docengine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/record"
)

// TestInOrder: results that arrive in any order are passed on in the order of the ids. An error of either function ends
// the calls.
func TestInOrder(t *testing.T) {
	var ids []string
	for i := range 101 {
		ids = append(ids, strconv.Itoa(i))
	}
	late := func(_ context.Context, some []string) ([]string, error) {
		if some[0] == "20" {
			time.Sleep(5 * time.Millisecond)
		}
		return some, nil
	}
	var got []string
	err := InOrder(t.Context(), ids, 10, 4, late, func(at int, some []string) error {
		if ids[at] != some[0] {
			t.Errorf("%s is reported at %d", some[0], at)
		}
		got = append(got, some...)
		return nil
	})
	if err != nil || !slices.Equal(got, ids) {
		t.Errorf("%q, %v", got, err)
	}
	for _, width := range []int{1, 2, 4} {
		var inFlight, most atomic.Int64
		counted := func(ctx context.Context, some []string) ([]string, error) {
			n := inFlight.Add(1)
			defer inFlight.Add(-1)
			for seen := most.Load(); n > seen; seen = most.Load() {
				most.CompareAndSwap(seen, n)
			}
			time.Sleep(time.Millisecond)
			return some, ctx.Err()
		}
		err := InOrder(t.Context(), ids, 5, width, counted, func(int, []string) error { return nil })
		if n := most.Load(); err != nil || n > int64(width) {
			t.Errorf("%d calls were in flight, at most %d are allowed; %v", n, width, err)
		}
	}
	broken := errors.New("broken")
	if err := InOrder(t.Context(), ids, 10, 1, late, func(int, []string) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("the error of the receiver: %v", err)
	}
	fails := func(context.Context, []string) ([]string, error) { return nil, broken }
	if err := InOrder(t.Context(), ids, 10, 4, fails, func(int, []string) error { return nil }); !errors.Is(err, broken) {
		t.Errorf("the error of the request: %v", err)
	}
}

// TestParseMarks: marks are in the order of loading. A file that was loaded again has its last mark.
func TestParseMarks(t *testing.T) {
	var texts []string
	for _, place := range []string{"2 0 b", "10 0 a", "1 1 c", "1 0 a"} {
		p := strings.Fields(place)
		texts = append(texts, fmt.Sprintf(`{"version":%s,"number":%s,"mark":{"digest":%q,"loaded":"2024-01-01T00:00:00Z"}}`, p[0], p[1], p[2]))
	}
	marks, err := ParseMarks(texts)
	var got []string
	for _, m := range marks {
		got = append(got, m.Digest)
	}
	if err != nil || !slices.Equal(got, []string{"c", "b", "a"}) {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := ParseMarks([]string{"{"}); err == nil {
		t.Error("half a mark is accepted")
	}
}

// TestParseNumberedMark: every field is read as it was written. The test fails for a field that is added to
// NumberedMark or archive.Mark and not parsed.
func TestParseNumberedMark(t *testing.T) {
	want := everyField[NumberedMark](t)
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ParseNumberedMark(text)
	if want.Mark.Conflicts = 0; err != nil || got != want { // conflicts are not stored
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	for _, bad := range []string{`{"mark":{"read":"x"}}`, `{"mark":{"read":1.5}}`, `{"number":null}`, `{"mark":{"loaded":"yesterday"}}`, `{"mark":`} {
		if got, err := ParseNumberedMark([]byte(bad)); err == nil {
			t.Errorf("%s is read as %+v", bad, got)
		}
	}
}

// TestStoredTexts: every field of a lock, a state and an undo document is read as it was written.
func TestStoredTexts(t *testing.T) {
	checkStored(t, everyField[lockText](t))
	checkStored(t, everyField[state](t))
	checkStored(t, everyField[undo](t, "size"))
}

func checkStored[T any](t *testing.T, want T) {
	t.Helper()
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got T
	if err := json.Unmarshal(text, &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%s is read as %+v, %v; want %+v", text, got, err, want)
	}
}

// everyField returns a struct without an empty field, whose values all differ. A field of a type that it does not know
// fails the test, and so does a field that is not exported, because encoding/json omits it. The fields named in omitted
// are not stored.
func everyField[T any](t testing.TB, omitted ...string) (all T) {
	t.Helper()
	n := 0
	var fill func(name string, v reflect.Value)
	fill = func(name string, v reflect.Value) {
		n++
		switch x := v.Addr().Interface().(type) {
		case *time.Time:
			*x = time.Date(2025, 3, n, 4, 5, 6, 789, time.UTC)
			return
		case *json.RawMessage:
			*x = fmt.Appendf(nil, `{"catalog":%d}`, n)
			return
		}
		switch v.Kind() {
		case reflect.String:
			v.SetString(fmt.Sprintf("/daten/größe \"%d\" <&>\n\u2028", n))
		case reflect.Int, reflect.Int64:
			v.SetInt(1 << (40 + n) * int64(1-n%2*2))
		case reflect.Uint8:
			v.SetUint(uint64(n)) //nolint:gosec // at most 20
		case reflect.Bool:
			v.SetBool(true)
		case reflect.Pointer:
			v.Set(reflect.New(v.Type().Elem()))
			fill(name, v.Elem())
		case reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			fill(name, v.Index(0))
		case reflect.Struct:
			for i := range v.NumField() {
				switch f := v.Type().Field(i); {
				case slices.Contains(omitted, f.Name):
				case f.IsExported():
					fill(name+"."+f.Name, v.Field(i))
				default:
					t.Fatalf("%s.%s is not exported, and so is not stored", name, f.Name)
				}
			}
		default:
			t.Fatalf("the test does not know how to fill %s, a %s", name, v.Type())
		}
	}
	fill(reflect.TypeFor[T]().Name(), reflect.ValueOf(&all).Elem())
	return all
}

func BenchmarkParseNumberedMark(b *testing.B) {
	text, err := json.Marshal(everyField[NumberedMark](b))
	if err != nil {
		b.Fatal(err)
	}
	b.Run("encoding/json", func(b *testing.B) {
		for b.Loop() {
			var m NumberedMark
			if err := json.Unmarshal(text, &m); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("ParseNumberedMark", func(b *testing.B) {
		for b.Loop() {
			if _, err := ParseNumberedMark(text); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// TestHeaderAdder: documents of one series share a header, and an empty batch gets it again. A text that is no id is an
// error.
func TestHeaderAdder(t *testing.T) {
	lt, _ := record.TypeByName("SL1L2")
	var b record.Batch
	b.Reset(lt, "")
	h := record.DefaultHeader()
	h[record.Model] = "GFS"
	id := func(valid int64) string { return string(design.AppendKey(nil, lt, "a", &h, valid)) }
	var p headerAdder
	for i, valid := range []int64{-3600, 0, 1546300800} {
		if got, err := p.add(id(valid), &b); err != nil || got != valid || len(b.Headers) != 1 || b.Headers[p.head] != h {
			t.Errorf("%d: %d, %v, %d headers", i, got, err, len(b.Headers))
		}
	}
	b.Reset(lt, "")
	if _, err := p.add(id(7), &b); err != nil || len(b.Headers) != 1 {
		t.Errorf("after the batch was emptied: %v, %d headers", err, len(b.Headers))
	}
	for _, bad := range []string{"", "::", "x", "DD::x::y"} {
		if _, err := p.add(bad, &b); err == nil {
			t.Errorf("%q is an id", bad)
		}
	}
}
