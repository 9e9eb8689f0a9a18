package jsonkeys

import (
	"encoding/json"
	"reflect"
	"testing"
)

type inner struct {
	Complete bool  `json:"complete" old:"whole"`
	Large    int64 `json:"large"`
}

// Inner is inner as an embedded struct that is exported.
type Inner inner

type embedded struct {
	Kept string `json:"kept,omitempty" old:"held"`
}

type outer struct {
	embedded
	Inner *inner           `json:"inner" old:"core"`
	List  []inner          `json:"list"`
	Map   map[string]inner `json:"map"`
	Whole string           `json:"whole"` // an earlier key of another type
	Next  *outer           `json:"next,omitempty"`
	Own   own              `json:"own"`
}

// own has an UnmarshalJSON of its own.
type own struct{ inner }

func (o *own) UnmarshalJSON(text []byte) error { return Unmarshal(text, &o.inner) }

func TestUnmarshal(t *testing.T) {
	const large = 1<<62 + 1 // not a float64
	want := outer{
		embedded: embedded{Kept: "k"}, Inner: &inner{true, large}, List: []inner{{false, 1}, {true, 2}},
		Map: map[string]inner{"whole": {true, 3}}, Whole: "text", Next: &outer{embedded: embedded{}, Inner: &inner{true, 4}}, Own: own{inner{true, 5}},
	}
	for name, text := range map[string]string{
		"earlier keys": `{"held":"k","core":{"whole":true,"large":4611686018427387905},"list":[{"whole":false,"large":1},{"whole":true,"large":2}],
			"map":{"whole":{"whole":true,"large":3}},"whole":"text","next":{"held":"","inner":{"whole":true,"large":4}},"own":{"whole":true,"large":5}}`,
		"new keys": `{"kept":"k","inner":{"complete":true,"large":4611686018427387905},"list":[{"complete":false,"large":1},{"complete":true,"large":2}],
			"map":{"whole":{"complete":true,"large":3}},"whole":"text","next":{"kept":"","inner":{"complete":true,"large":4}},"own":{"complete":true,"large":5}}`,
		"both: the new key counts": `{"kept":"k","held":"x","inner":{"complete":true,"whole":false,"large":4611686018427387905},"list":[{"large":1},{"whole":true,"large":2}],
			"map":{"whole":{"complete":true,"large":3}},"whole":"text","next":{"held":"","core":{"whole":true,"large":4}},"own":{"whole":true,"large":5}}`,
	} {
		var got outer
		if err := Unmarshal([]byte(text), &got); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !reflect.DeepEqual(got, want) {
			g, _ := json.Marshal(got)
			w, _ := json.Marshal(want)
			t.Errorf("%s:\n%s\nwant\n%s", name, g, w)
		}
	}
	for _, text := range []string{`{"complete":true}}`, `{"whole":true}}`, `{"whole":true} {}`} {
		if err := Unmarshal([]byte(text), new(inner)); err == nil {
			t.Errorf("%s: the end is not read", text)
		}
	}
	var later inner
	if err := Unmarshal([]byte(`{"complete":true,"of a later version":1}`), &later); err != nil || !later.Complete {
		t.Error("a field of a later version:", err)
	}
	var got inner
	if err := Unmarshal([]byte(`{"whole": tru`), &got); err == nil {
		t.Error("damaged JSON is read")
	}
	if err := Unmarshal([]byte(`{"whole": "x"}`), &got); err == nil {
		t.Error("a text is read as a truth value")
	}
}

// TestBothKeys: the new key counts even if its value is null, which leaves the field as it is.
func TestBothKeys(t *testing.T) {
	for text, want := range map[string]bool{
		`{"complete":null,"whole":true}`: false, `{"whole":true,"complete":null}`: false,
		`{"complete":true,"whole":null}`: true, `{"whole":null}`: false,
	} {
		var got inner
		if err := Unmarshal([]byte(text), &got); err != nil || got.Complete != want {
			t.Errorf("%s: %t, %v", text, got.Complete, err)
		}
	}
}

// reused has a key that meant another field earlier.
type reused struct {
	First  int `json:"first" old:"second"`
	Second int `json:"second" old:"third"`
}

// TestReusedKey: a key that now belongs to another field is read by what it meant when the text was written.
func TestReusedKey(t *testing.T) {
	for _, text := range []string{`{"second":1,"third":2}`, `{"first":1,"second":2}`} {
		var got reused
		if err := Unmarshal([]byte(text), &got); err != nil || got != (reused{1, 2}) {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
}

// TestKeepsWhatTheTextOmits: a field that the text does not contain keeps its value, as with json.Unmarshal.
func TestKeepsWhatTheTextOmits(t *testing.T) {
	got := outer{Inner: &inner{Large: 7}, Whole: "before"}
	if err := Unmarshal([]byte(`{"held":"k","":"an empty key"}`), &got); err != nil || got.Kept != "k" || got.Inner == nil || got.Whole != "before" {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestEmbeddedWithKey: an embedded struct with a key of its own is an object below that key.
func TestEmbeddedWithKey(t *testing.T) {
	var got struct {
		Inner `json:"core"`
	}
	if err := Unmarshal([]byte(`{"core":{"whole":true}}`), &got); err != nil || !got.Complete {
		t.Errorf("%+v, %v", got, err)
	}
}
