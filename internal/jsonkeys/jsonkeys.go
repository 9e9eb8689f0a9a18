// Package jsonkeys reads JSON that was written under earlier keys. A field that was renamed names
// its earlier key in the tag "old":
//
//	Complete bool `json:"complete" old:"whole"`
//
// It may import nothing of the project. Test with: go test ./internal/jsonkeys
package jsonkeys

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
)

// Unmarshal is json.Unmarshal, which also accepts the earlier keys of fields. If an object has both
// keys, the new one counts. A type with an UnmarshalJSON of its own accepts earlier keys if that
// method calls Unmarshal.
func Unmarshal(text []byte, v any) error {
	var tree any
	d := json.NewDecoder(bytes.NewReader(text))
	// The fast path for text in which every key is the present key of a field. If a key is unknown, it is either an
	// earlier key, which rename replaces, or the key of a later version, which json.Unmarshal ignores.
	d.DisallowUnknownFields()
	if d.Decode(v) == nil && errors.Is(d.Decode(&tree), io.EOF) {
		return nil
	}
	d = json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()                                                        // integers above 2^53 stay exact
	if d.Decode(&tree) == nil && errors.Is(d.Decode(new(any)), io.EOF) { // otherwise json.Unmarshal reports the error
		rename(tree, reflect.TypeOf(v))
		text, _ = json.Marshal(tree) // it never fails: the tree was decoded from JSON
	}
	return json.Unmarshal(text, v)
}

// rename replaces the earlier keys of a decoded value of type t.
func rename(tree any, t reflect.Type) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	list, _ := tree.([]any)
	for _, x := range list {
		rename(x, t)
	}
	object, _ := tree.(map[string]any)
	if t.Kind() == reflect.Map {
		for _, x := range object {
			rename(x, t.Elem())
		}
	}
	if t.Kind() != reflect.Struct || object == nil {
		return
	}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" {
			rename(object, f.Type)
			continue
		}
		old := f.Tag.Get("old")
		if value, isOld := object[old]; isOld && old != "" {
			if _, isNew := object[name]; !isNew {
				object[name] = value
			}
			delete(object, old)
		}
		rename(object[name], f.Type)
	}
}
