package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpWidth is the number of columns that help uses.
const helpWidth = 100

// groups are the groups of commands in `barograph --help`, in their order.
var groups = []struct{ title, commands string }{ //nolint:gochecknoglobals // a constant table
	{"Archives", "show load ask cases verify adopt diff"},
	{"Studies", "quickstart met growth ycsb post scan faults"},
	{"Results", "report compare merge serve"},
	{"River data", "shef"},
	{"Servers and data", "lab synth agent"},
	{"Reference", "list version completion help"},
}

// group puts the commands of the root into their groups, which list them in this order. It also makes cobra print every
// help with the function help.
func group(root *cobra.Command) {
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, c := range root.Commands() {
			if slices.Contains(strings.Fields(g.commands), c.Name()) {
				c.GroupID = g.title
			}
		}
	}
	root.SetCompletionCommandGroupID("Reference")
	root.SetHelpCommandGroupID("Reference")
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { help(c.OutOrStdout(), c) })
	root.SetUsageFunc(func(c *cobra.Command) error { help(c.OutOrStderr(), c); return nil })
}

const exitStatus = "Exit status: "

// generalStatuses are the exit statuses of every command.
const generalStatuses = `  0    success: everything requested was done, and every result is correct
  1    failure: something requested could not be done
  2    usage: Barograph does not understand the command line, a question or a workload property
  3    difference: a result or a stored value is wrong, or an archive is damaged
  4    incomplete: lines are quarantined, input files are unreadable, records are missing, or a
       threshold is exceeded
  5    unreachable: a server, archive, library or permission is missing, or the archive is in use
  130  interrupted: everything that was committed before the interruption is complete and readable
`

// specialStatuses are the special meanings of exit statuses, by command.
var specialStatuses = map[string]string{ //nolint:gochecknoglobals // a constant table
	"adopt":             "3: the archive is not intact, so --forget dropped nothing",
	"ask":               "2: also if the archive has several designs and none is named, or a derived curve of a plot cannot be computed (nothing is drawn); 4: no record matches, a curve is left out (the others are drawn), or --where, --lead or --valid names a value that the archive does not have",
	"cases":             "4: there is no record to query; with FILES: lines are quarantined, or files are unreadable",
	"compare":           "4: a run has not finished; with --fail-over also if a cell, or the median of all changes, is worse by more than the limit, if a cell that the first run had correct is wrong or absent, or if the runs cannot be compared",
	"diff":              "3: there are differences that no known fault explains",
	"faults":            "3: a result was wrong or the archive differs; 4: a load or a query did not recover, or files were unreadable",
	"growth":            "3: a result is wrong, or the records of an archive differ from the files; 4: an archive was not loaded, lines were quarantined or conflict with earlier ones, files were unreadable, or no question has rows",
	"load":              "3: --verify found damage; 4: lines were quarantined or refused, files were unreadable, or --retain refused to remove records; 5: also if the archive stays locked for longer than --wait",
	"met":               "3: a result is wrong, or the records of an archive differ from the files; 4: an archive was not loaded, lines were quarantined or conflict with earlier ones, files were unreadable, or no question has rows",
	"post":              "3: the tables differ from the reference; 4: values could not be decoded, or files were unreadable",
	"quickstart":        "3: a result is wrong, or the records of an archive differ from the files",
	"report":            "3: with --check, a run folder is not consistent or differs from its digests",
	"scan":              "3: a result is wrong; 4: a configuration failed, and the others were measured",
	"scan own":          "3: a result is wrong; 4: a query or a table failed, and the others were measured",
	"scan verification": "3: a result is wrong; 4: files were unreadable",
	"scan forecast":     "1: a query that --queries names, or every query, has no model",
	"scan lake":         "3: a result is wrong; 4: files were unreadable",
	"shef decode":       "4: values could not be decoded, files were unreadable, or there is no value",
	"shef encode":       "4: values could not be read or encoded, or there is no value",
	"shef export":       "4: there is no value to write",
	"shef post":         "4: values could not be decoded, the database refused them, files were unreadable, or there is no product",
	"shef retry":        "4: there is no failed file",
	"shef serve":        "5: the database is unreachable, with --wait-for-database=false",
	"show":              "4: with FILES: lines are quarantined or conflict with each other, or files are unreadable",
	"verify":            "3: an archive is not intact, or --prune refused (more than 10 % of a subset's records were deleted, or it has other changes); 4: the load of an archive has not finished, a load changed the archive meanwhile, another program loaded it (not verified), files are unreadable, or --prune --dry-run finds that --prune would refuse",
	"ycsb":              "3: a scan or a value is wrong; 4: records were not found, operations failed, keys existed already, or the engine did not sustain the rate; with --ycsb-exit-codes: 255 if recordcount or dataintegrity is invalid, else 0, even after failures",
}

// newExitStatus is the help topic that lists the exit statuses. Cobra treats a command without
// a function as a topic.
func newExitStatus() *cobra.Command {
	var text strings.Builder
	text.WriteString("The exit statuses of every command:\n\n" + generalStatuses + "\nSpecial meanings:\n")
	for _, name := range slices.Sorted(maps.Keys(specialStatuses)) {
		for line := range strings.SplitSeq(fill(specialStatuses[name], helpWidth-20), "\n") {
			fmt.Fprintf(&text, "\n  %-17s %s", name, line)
			name = ""
		}
	}
	return &cobra.Command{Use: "exit-status", Short: "Meaning of the exit statuses", Long: text.String()}
}

// help writes the help of a command.
func help(w io.Writer, c *cobra.Command) {
	fmt.Fprintln(w, fill(strings.TrimSpace(cmp.Or(c.Long, c.Short)), helpWidth))
	if !c.Runnable() && !c.HasAvailableSubCommands() {
		return // a topic
	}
	use := strings.ReplaceAll(c.UseLine(), " | "+c.Name()+" ", "\n  "+c.CommandPath()+" ")
	fmt.Fprintf(w, "\nUsage:\n  %s\n", use)
	if c.Example != "" {
		fmt.Fprintln(w, "\nExamples:")
		for line := range strings.SplitSeq(c.Example, "\n") {
			fmt.Fprintln(w, strings.Join(hang(line, helpWidth-2, " \\"), "\n"))
		}
	}
	listCommands(w, c)
	common, rare := &pflag.FlagSet{}, &pflag.FlagSet{}
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if _, seldom := f.Annotations["seldom"]; seldom {
			rare.AddFlag(f)
		} else if f.Name != "help" {
			common.AddFlag(f)
		}
	})
	listFlags(w, "Flags", common)
	listFlags(w, "Less common flags", rare)
	listFlags(w, "Global flags", c.InheritedFlags())
	special, name := "", commandName(c)
	if text := cmp.Or(specialStatuses[name], specialStatuses[strings.Fields(name)[0]]); text != "" {
		special = "; here " + text
	}
	fmt.Fprintln(w, "\n"+fill(exitStatus+"see `barograph help exit-status`"+special+".", helpWidth))
}

func listFlags(w io.Writer, title string, flags *pflag.FlagSet) {
	if flags.HasAvailableFlags() {
		fmt.Fprintf(w, "\n%s:\n%s", title, flags.FlagUsagesWrapped(helpWidth))
	}
}

// listCommands writes the subcommands, by group if there are groups.
func listCommands(w io.Writer, c *cobra.Command) {
	list := func(title, group string, order []string, topics bool) {
		all := slices.DeleteFunc(slices.Clone(c.Commands()), func(sub *cobra.Command) bool {
			return sub.GroupID != group || sub.Hidden || sub.IsAdditionalHelpTopicCommand() != topics
		})
		slices.SortStableFunc(all, func(a, b *cobra.Command) int { return slices.Index(order, a.Name()) - slices.Index(order, b.Name()) })
		for i, sub := range all {
			if i == 0 {
				fmt.Fprintf(w, "\n%s:\n", title)
			}
			fmt.Fprintf(w, "  %-13s %s\n", sub.Name(), sub.Short)
		}
	}
	for _, g := range groups {
		list(g.title, g.title, strings.Fields(g.commands), false)
	}
	list("Commands", "", nil, false)
	list("Topics", "", nil, true)
}

// fill breaks the paragraphs of a text into lines of at most width characters; it keeps
// indented lines.
func fill(text string, width int) string {
	var out, words []string
	flush := func() {
		if words != nil {
			out, words = append(out, wrap(words, width)...), nil
		}
	}
	for line := range strings.SplitSeq(text, "\n") {
		if line == "" || line[0] == ' ' || line[0] == '\t' {
			flush()
			out = append(out, hang(line, width, "")...)
			continue
		}
		words = append(words, strings.Fields(line)...)
	}
	flush()
	return strings.Join(out, "\n")
}

// hang breaks an indented line into lines of at most width characters. If continued is "", hang aligns the further
// lines with the text after the last gap (two spaces) of the first line. Otherwise it ends every line but the last in
// continued, and indents the further lines by four more characters.
func hang(line string, width int, continued string) []string {
	if utf8.RuneCountInString(line) <= width {
		return []string{line}
	}
	text := strings.TrimLeft(line, " ")
	column := len(line) - len(text) + 4
	if lastGap := strings.LastIndex(line, "  "); continued == "" {
		column = utf8.RuneCountInString(line[:lastGap+2])
	}
	prefix := string([]rune(line)[:column])
	var words []string
	for word := range strings.FieldsSeq(string([]rune(line)[column:])) {
		if n := len(words); continued != "" && n > 0 && word[0] != '-' { // word is the value of a flag
			words[n-1] += " " + word
		} else {
			words = append(words, word)
		}
	}
	lines := wrap(words, width-column)
	for i := range lines {
		lines[i] = prefix + lines[i]
		prefix = strings.Repeat(" ", column)
		if i < len(lines)-1 {
			lines[i] += continued
		}
	}
	return lines
}
