package run

import (
	"encoding/json"
	"testing"
)

// A time that another program wrote is taken only with the verdict equal and a proof.
func TestReadBackTakesOnlyProvenTimes(t *testing.T) {
	for text, want := range map[string]bool{
		`{"verdict":"equal","proof":"every value","measured":{"total_ns":5}}`: true,
		`{"verdict":"equal","measured":{"total_ns":5}}`:                       false,
		`{"verdict":"wrong","proof":"every value","measured":{"total_ns":5}}`: false,
		`{"verdict":"wrong","measured":{"total_ns":5}}`:                       false,
		`{"verdict":"equal","proof":"every value"}`:                           false,
	} {
		var s Sample
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			t.Fatal(err)
		}
		if got := s.Measured() != nil; got != want {
			t.Errorf("%s: has a time: %v, want %v", text, got, want)
		}
	}
}
