package asterixdb

import (
	"encoding/json"
	"strings"
	"testing"
)

// rows splits a reply with the scanner.
func rows(text string) (members map[string]string, rows []string, err error) {
	members = map[string]string{}
	s := newScanner(strings.NewReader(text))
	err = s.object(func(name string) error {
		if strings.HasPrefix(name, "results") {
			return s.array(func(row []byte) error { rows = append(rows, string(row)); return nil })
		}
		v, err := s.value()
		members[name] = string(v)
		return err
	})
	return members, rows, err
}

func TestScanner(t *testing.T) {
	long := strings.Repeat(`x\"`, 1<<16)
	for _, tc := range []struct {
		text string
		want []string
		bad  bool
	}{
		{`{"results": [ 1
, "a]b" , { "x": [ "}" ] }
 ]
	, "status": "success"}`, []string{"1", `"a]b"`, `{ "x": [ "}" ] }`}, false},
		{`{"results": [ "a\\", "\"", null, -1.5E-300 ], "results-0": [ [ ] ], "status": "success"}`, []string{`"a\\"`, `"\""`, "null", "-1.5E-300", "[ ]"}, false},
		{`{"results":["` + long + `"],"status":"success"}`, []string{`"` + long + `"`}, false},
		{`{"status":"success"}`, nil, false},
		{`{"results":[1,2`, nil, true},
		{`{"results":["a`, nil, true},
		{`<html>`, nil, true},
		{``, nil, true},
	} {
		members, got, err := rows(tc.text)
		if tc.bad {
			if err == nil {
				t.Errorf("%.60s: no error", tc.text)
			}
			continue
		}
		if err != nil || strings.Join(got, "\x00") != strings.Join(tc.want, "\x00") || members["status"] != `"success"` {
			t.Errorf("%.60s: rows %.200q, %v", tc.text, got, err)
		}
	}
}

// FuzzScanner: if encoding/json accepts a reply, the scanner splits it into the same rows.
func FuzzScanner(f *testing.F) {
	for _, seed := range []string{`{"results":[1,"a",{"b":[2]}],"status":"x"}`, `{"results":[]}`, `{"a":"\\\"","results":[null]}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, got, err := rows(text)
		var want struct {
			Results []json.RawMessage `json:"results"`
		}
		if json.Unmarshal([]byte(text), &want) != nil || strings.Count(text, "esults") != 1 || !strings.Contains(text, `"results"`) {
			return
		}
		if err != nil || len(got) != len(want.Results) {
			t.Fatalf("%d rows, %v; encoding/json finds %d", len(got), err, len(want.Results))
		}
		for i := range got {
			if got[i] != string(want.Results[i]) {
				t.Fatalf("row %d is %q, not %q", i, got[i], want.Results[i])
			}
		}
	})
}
