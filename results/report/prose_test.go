package report

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/results/measure"
)

// TestProse: every key in the code has a text, and every text has a key in the code. A text with verbs of package fmt
// is used as a format, and no other text is. The glossary states the level of significance that package measure uses.
func TestProse(t *testing.T) {
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	used, formats := map[string]bool{}, map[string]bool{}
	format := regexp.MustCompile(`(?:Sprintf\(|say\(|add\(|Fprintf\(&\w+, (?:" "\+)?)prose\("([^"]+)"\)`)
	call := regexp.MustCompile(`\b(?:prose|explain)\("([^"]+)"\)`)
	for _, name := range sources {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range call.FindAllStringSubmatch(string(text), -1) {
			used[m[1]] = true
		}
		for _, m := range format.FindAllStringSubmatch(string(text), -1) {
			formats[m[1]] = true
		}
	}
	verbs := regexp.MustCompile(`%[\d.\[\]]*[sdgf]`)
	for key := range used {
		text := prose(key)
		rest := strings.ReplaceAll(verbs.ReplaceAllString(text, ""), "%%", "")
		if isFormat := verbs.MatchString(text); isFormat != formats[key] || isFormat && strings.Contains(rest, "%") {
			t.Errorf("the text of %q has verbs: %v, the code uses it as a format: %v\n%s", key, isFormat, formats[key], text)
		}
	}
	for _, f := range glossary() {
		used["glossary: "+f.Name] = true
	}
	var keys []string
	for _, m := range regexp.MustCompile(`(?m)^\[(.+)\]$`).FindAllStringSubmatch(proseFile, -1) {
		keys = append(keys, m[1])
		if prose(m[1]) == "" {
			t.Errorf("the text of %q is empty", m[1])
		}
	}
	slices.Sort(keys)
	if want := slices.Sorted(maps.Keys(used)); !slices.Equal(keys, want) {
		t.Errorf("prose.txt has the keys %q\nthe code uses %q", keys, want)
	}
	if p := prose("glossary: p"); !strings.HasSuffix(p, fmt.Sprintf("p is below %g.", measure.Alpha)) {
		t.Error(p)
	}
}
