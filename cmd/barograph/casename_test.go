package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/barograph/barograph/query/question"
)

// met accepts the name of every variable's derived question, also if cases does not list it.
func TestMetKnowsTheCasesOfEveryVariable(t *testing.T) {
	data, dir := dayOfData(t), t.TempDir()
	listed := must(t, "cases", data)
	shown := must(t, "show", data)
	fields := regexp.MustCompile(`(?m)^SAL1L2[\s\S]*?fcst_var +(.*)$`).FindStringSubmatch(shown)
	if fields == nil {
		t.Fatal(shown)
	}
	tried := 0
	for variable := range strings.FieldsSeq(fields[1]) {
		name := question.JoinName("one", "SAL1L2", variable)
		if strings.Contains(listed, name+"\n") {
			continue
		}
		tried++
		must(t, "met", data, "--engine", "pebble", "--case", name, "--reps", "1", "--out", filepath.Join(dir, name))
	}
	if tried == 0 {
		t.Errorf("cases lists every variable: the test shows nothing:\n%s", listed)
	}
	status, _, stderr := barograph(t, "met", data, "--engine", "pebble", "--case", "one_sal1l2_nope", "--out", filepath.Join(dir, "x"))
	if status != 2 || !strings.Contains(stderr, "one_sal1l2_nope") {
		t.Errorf("status %d: %s", status, stderr)
	}
}
