package main

import (
	"bytes"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/barograph/barograph/engine/all"
)

// commands calls each for every command, including hidden ones.
func commands(each func(c *cobra.Command)) {
	root := newRoot(&env{engines: all.Registry()})
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		c.InitDefaultHelpFlag()
		each(c)
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
}

// TestHelp checks the help of every command. It fits two screens of 40 lines and 100 columns and
// names the exit statuses once. Its flags have one name for engines, and values whose names are
// words. Every command of the root is in a group.
func TestHelp(t *testing.T) {
	used := map[string]bool{}
	commands(func(c *cobra.Command) {
		var text bytes.Buffer
		help(&text, c)
		lines := strings.Split(strings.TrimRight(text.String(), "\n"), "\n")
		if len(lines) > 80 && !c.Hidden {
			t.Errorf("%s: the help has %d lines", c.CommandPath(), len(lines))
		}
		for _, line := range lines {
			if n := utf8.RuneCountInString(line); n > helpWidth {
				t.Errorf("%s: the help has a line of %d columns: %s", c.CommandPath(), n, line)
			}
		}
		if n := strings.Count(text.String(), exitStatus); c.Runnable() && n != 1 {
			t.Errorf("%s: the help names the exit statuses %d times", c.CommandPath(), n)
		}
		if line := regexp.MustCompile(`(?m)^  barograph.*\bCOMMAND COMMAND\b.*`).FindString(text.String()); line != "" {
			t.Errorf("%s: the usage line repeats a word: %s", c.CommandPath(), line)
		}
		if old := regexp.MustCompile(`--(db|engine-url)\b`).FindString(text.String()); old != "" {
			t.Errorf("%s: the help has %s", c.CommandPath(), old)
		}
		if c.Parent() == c.Root() && c.Root() != c && c.Runnable() && !c.Hidden && c.GroupID == "" {
			t.Errorf("%s is in no group", c.CommandPath())
		}
		used[strings.TrimPrefix(c.CommandPath(), "barograph ")] = true
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if name, _ := pflag.UnquoteUsage(f); strings.Contains(name, " ") {
				t.Errorf("%s --%s %s", c.CommandPath(), f.Name, name)
			}
		})
	})
	for _, g := range groups {
		for name := range strings.FieldsSeq(g.commands) {
			if !used[name] {
				t.Errorf("group %s has no command %s", g.title, name)
			}
		}
	}
	for name := range specialStatuses {
		if !used[name] {
			t.Errorf("statuses of no command: %s", name)
		}
	}
}

// TestExitStatusesAreListed compares the help topic with the manual. With -update it writes the
// manual's table of commands.
func TestExitStatusesAreListed(t *testing.T) {
	topic := must(t, "help", "exit-status")
	page, err := os.ReadFile("../../docs/reference/exit-status.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^  (\d+) +(\w+):`).FindAllStringSubmatch(generalStatuses, -1) {
		if !strings.Contains(topic, m[0]) || !strings.Contains(string(page), "| "+m[1]+" | "+m[2]+":") {
			t.Errorf("the topic or the manual lacks status %s, %s", m[1], m[2])
		}
	}
	want := "| command | statuses |\n|---|---|\n"
	for _, name := range slices.Sorted(maps.Keys(specialStatuses)) {
		if !strings.Contains(topic, "\n  "+name+" ") {
			t.Errorf("the topic lacks the statuses of %s", name)
		}
		want += "| `" + name + "` | " + specialStatuses[name] + " |\n"
	}
	before, table, _ := strings.Cut(string(page), "| command | statuses |\n")
	table, after, _ := strings.Cut("| command | statuses |\n"+table, "\n\n")
	if table+"\n" == want {
		return
	}
	if !*update {
		t.Fatalf("the table of the manual is not this one; run the test with -update:\n%s", want)
	}
	if err := os.WriteFile("../../docs/reference/exit-status.md", []byte(before+want+"\n"+after), 0o600); err != nil {
		t.Fatal(err)
	}
}
