package answer_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/record"
)

// Answers that were compared one by one are proven if all of them are correct and at least one was checked. The degree
// reports what was compared.
func TestCompareAll(t *testing.T) {
	for _, c := range []struct {
		name   string
		tally  answer.Tally
		failed error
		degree answer.Degree
		wrong  bool
	}{
		{"values", answer.Tally{Succeeded: 2, Found: 2, Values: 2}, nil, answer.EveryValue, false},
		{"keys", answer.Tally{Succeeded: 2, Found: 2, Values: 1}, nil, answer.KeysAndCounts, false},
		{"a wrong answer", answer.Tally{Succeeded: 2, Found: 2, Wrong: 1}, nil, "", true},
		{"wrong and failed", answer.Tally{Wrong: 1, Failed: 1}, errors.New("x"), "", true},
		{"a missing record", answer.Tally{Succeeded: 2, Found: 2, Missing: 1}, nil, "", false},
		{"a failed operation", answer.Tally{Succeeded: 2, Found: 2, Failed: 1}, nil, "", false},
		{"an error", answer.Tally{Succeeded: 2, Found: 2}, errors.New("x"), "", false},
		{"only acknowledgments of the engine", answer.Tally{Succeeded: 2, Written: 2}, nil, "", false},
		{"nothing", answer.Tally{}, nil, "", false},
	} {
		p, err := answer.CompareAll(c.tally, c.failed)
		_, wrong := errors.AsType[*answer.Diff](err)
		if p.Degree() != c.degree || p.Valid() != (c.degree != "") || (err == nil) != p.Valid() || wrong != c.wrong {
			t.Errorf("%s: degree %q, %v", c.name, p.Degree(), err)
		}
	}
	if _, err := answer.CompareAll(answer.Tally{}, nil); err == nil || !strings.Contains(err.Error(), "measure longer") {
		t.Errorf("an answer that took longer than was measured: %v", err)
	}
	// The number of wrong answers comes first, and the error that ended the work has no secrets.
	tally := answer.Tally{Succeeded: 7, Found: 9, Wrong: 2}
	const counts = "2 answers are wrong, 0 records are missing, 0 operations failed, 7 succeeded"
	for _, x := range []struct {
		failed error
		want   string
	}{
		{nil, counts},
		{errors.New("no answer from postgres://me:geheim@host/db"), "2 answers are wrong; the work ended early: no answer from postgres://me:xxxxx@host/db"},
		{&answer.Diff{Problem: "a promise was broken"}, "a promise was broken"},
	} {
		if _, err := answer.CompareAll(tally, x.failed); err == nil || err.Error() != x.want {
			t.Errorf("%v, want %s", err, x.want)
		}
	}
	const one = "1 answer is wrong, 1 record is missing, 1 operation failed, 1,000 succeeded"
	if _, err := answer.CompareAll(answer.Tally{Succeeded: 1000, Wrong: 1, Missing: 1, Failed: 1}, nil); err == nil || err.Error() != one {
		t.Errorf("%v, want %s", err, one)
	}
	if p, err := answer.CompareRecords(record.Digest{Hi: 1, Records: 1}, record.Digest{Hi: 1, Records: 1}); p.Degree() != answer.DigestOnly {
		t.Errorf("%q, %v", p.Degree(), err)
	}
}
