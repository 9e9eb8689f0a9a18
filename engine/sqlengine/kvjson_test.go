package sqlengine

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/barograph/barograph/engine/kv"
)

// Other programs can parse what append writes, and parse accepts what they write.
func FuzzKVJSON(f *testing.F) {
	for _, s := range []string{"", "a", `"\`, "\x00\x1f\x7f", "äß水😀", `\u0041`} {
		f.Add(s, s+"x")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		if !utf8.ValidString(a) || !utf8.ValidString(b) {
			return // no valid text
		}
		j := newKVJSON([]string{"x", "y"}, false)
		row, got := &kv.Row{}, &kv.Row{}
		row.AddString(0, a)
		row.AddString(1, b)
		doc := j.append(nil, row)
		var theirs map[string]string
		if err := json.Unmarshal(doc, &theirs); err != nil || theirs["x"] != a || theirs["y"] != b || len(theirs) != 2 {
			t.Fatalf("encoding/json parses %q as %q, %v", doc, theirs, err)
		}
		if err := j.parse(doc, got); err != nil || !got.Equal(row) {
			t.Fatalf("%q is read back as %q, %v", doc, got.Data(), err)
		}
		theirDoc, err := json.MarshalIndent(map[string]any{"y": b, "x": a, "z": nil, "w": "other"}, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		pieces := newKVJSON([]string{"x", "y"}, true)
		var array struct {
			X []string
			Y string
		}
		arrayDoc := pieces.append(nil, row)
		if err := json.Unmarshal(arrayDoc, &array); err != nil || strings.Join(array.X, "") != a || array.Y != b {
			t.Fatalf("encoding/json parses %q as %q, %v", arrayDoc, array, err)
		}
		got.Reset()
		if err := pieces.parse(arrayDoc, got); err != nil || !got.Equal(row) {
			t.Fatalf("%q is read back as %q, %v", arrayDoc, got.Data(), err)
		}
		got.Reset()
		if err := j.parse(theirDoc, got); err != nil || !got.Equal(row) {
			t.Fatalf("parse reads %q of encoding/json as %q, %v", theirDoc, got.Data(), err)
		}
	})
}

// parse accepts no document that encoding/json refuses.
func FuzzKVJSONParse(f *testing.F) {
	for _, s := range []string{"{}", `{"x":"\ud83d\ude00"}`, `{"x":"\ud83d"}`, `{"x":1}`, `{"x":"a"`, `{"x":null,"y":"b"}`, `[]`, `{"x":"a"}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		got := &kv.Row{}
		if err := newKVJSON([]string{"x", "y"}, false).parse(doc, got); err != nil {
			return
		}
		var theirs map[string]*string
		if err := json.Unmarshal(doc, &theirs); err != nil {
			t.Fatalf("parse accepts %q, which encoding/json refuses: %v", doc, err)
		}
	})
}
