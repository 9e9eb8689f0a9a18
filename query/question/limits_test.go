package question

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestHostileYAML: a text that requests too much memory is refused before anything is allocated.
func TestHostileYAML(t *testing.T) {
	bomb := "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
	for i := 1; i < 12; i++ {
		bomb += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9), ", "))
	}
	question := "name: x\nline_type: SL1L2\ncolumns: [fbar]\n"
	for name, c := range map[string]struct{ text, says string }{
		"aliases":      {bomb, "aliases"},
		"a merge":      {"a: &a {b: c}\nd: {<<: *a}\n", "aliases"},
		"brackets":     {strings.Repeat("[", 200_000), "brackets"},
		"braces":       {"x: " + strings.Repeat("{a: ", 60_000), "brackets"},
		"dashes":       {strings.Repeat("- ", 120_000), "lists"},
		"keys of keys": {strings.Repeat("? ", 120_000), "lists"},
		"length":       {"title: " + strings.Repeat("x", 1<<20), "256 KiB"},
		"indents":      {deep(700), ""},
		"leads":        {question + "fcst_lead: ['0-2000000000/1']\n", "not a lead"},
		"many leads":   {question + "fcst_lead: ['0-500000/1']\n", "100,000 leads"},
		"a bare tag":   {"init_hour: !00\n", "not a question"},
		"far before":   {question + "fcst_lead: ['-9223372036854775807-5/1']\n", "not a lead"},
		"wraps":        {question + "fcst_lead: ['-1000000-0/1000000']\n", "not a lead"},
		"not an hour":  {question + "fcst_lead: ['0-48/6.5']\n", "not a lead"},
		"long lead":    {question + "fcst_lead: ['600000']\n", "not a lead"},
		"times":        {question + "fcst_valid_beg: {first: '0001-01-01', last: '9999-12-31', step: 1s}\n", "1000000 times"},
		"init times":   {question + "fcst_init_beg: {first: '0001-01-01', last: '9999-12-31', step: 1s}\n", "1000000 times"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "q.yaml")
			if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := Find(file)
			runtime.ReadMemStats(&after)
			if err == nil || !strings.Contains(err.Error(), c.says) || len(err.Error()) > 2000 {
				t.Errorf("error %.200v, want one of %s", err, c.says)
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > 200<<20 {
				t.Errorf("%d MB were allocated", took>>20)
			}
		})
	}
}

func deep(levels int) string {
	var b strings.Builder
	for i := range levels {
		b.WriteString(strings.Repeat(" ", min(i, 250)) + "a:\n")
	}
	return b.String()
}
