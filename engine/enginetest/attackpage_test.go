package enginetest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the tables of docs/results/attacks.md")

// TestAttackPage: the tables of the page are the rows that the tests wrote. A comment of the page names the attacks of
// the table after it, and every row of the file is in one table.
func TestAttackPage(t *testing.T) {
	dir := filepath.Join("..", "..", "docs", "results")
	rows, err := os.ReadFile(filepath.Join(dir, "attacks.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(dir, "attacks.md"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(rows)), "\n")[1:]
	marker := regexp.MustCompile(`(?m)^(<!-- rows: (.*) -->\n)\n(?:\|.*\n)*`)
	used := map[string]bool{}
	want := marker.ReplaceAllStringFunc(string(page), func(found string) string {
		m := marker.FindStringSubmatch(found)
		return m[1] + "\n" + attackTable(lines, strings.Split(m[2], "; "), used)
	})
	for _, line := range lines {
		if !used[line] {
			t.Errorf("no table of attacks.md has the row %q", line)
		}
	}
	if *update {
		err = os.WriteFile(filepath.Join(dir, "attacks.md"), []byte(want), 0o644) //nolint:gosec // a page for everyone
	} else if want != string(page) {
		t.Error("the tables of attacks.md differ from attacks.tsv; run go test ./engine/enginetest -run TestAttackPage -update")
	}
	if err != nil {
		t.Fatal(err)
	}
}

// attackTable writes the rows of attacks as a table of Markdown, without the cure of a full disk, which all rows share.
func attackTable(lines, attacks []string, used map[string]bool) string {
	var out strings.Builder
	out.WriteString("| engine | design | attack | attacks | counted | result | seed |\n|---|---|---|---|---|---|---|\n")
	short := strings.NewReplacer("; free space on that disk and run the same command again: everything that was committed is intact", "",
		" were complete or in flight", "", "|", `\|`)
	for _, line := range lines {
		if c := strings.Split(line, "\t"); slices.Contains(attacks, c[2]) {
			used[line] = true
			fmt.Fprintf(&out, "| %s | %s | %s | %s | %s | %s | %s |\n", c[0], c[1], c[2], c[3], short.Replace(c[5]), c[6], c[4])
		}
	}
	return out.String()
}
