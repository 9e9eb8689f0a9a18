package run

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/record"
)

// A time that another program wrote is accepted only with the verdict equal and a proof.
func TestReadAcceptsOnlyProvenTimes(t *testing.T) {
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

// A new verdict that is not correct removes the proof and the time of the earlier one from a sample.
func TestJudgeAgain(t *testing.T) {
	d := record.Digest{Hi: 1, Records: 1}
	p, err := answer.CompareRecords(d, d)
	if err != nil {
		t.Fatal(err)
	}
	wrong, failed := &answer.Diff{Problem: "a row is missing"}, errors.New("no answer")
	for name, err := range map[string]error{"wrong": wrong, "failed": failed} {
		s := Sample{}.Judge(&Measured{Total: 5}, p, nil)
		if s.Measured() == nil || s.Proof == "" {
			t.Fatalf("a proven sample: %+v", s)
		}
		if s = s.Judge(&Measured{Total: 6}, answer.Proof{}, err); s.Measured() != nil || s.Proof != "" {
			t.Errorf("%s: the sample keeps the time %v or the proof %q", name, s.Measured(), s.Proof)
		}
	}
}
