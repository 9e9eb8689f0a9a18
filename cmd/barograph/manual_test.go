package main

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/all"
	"github.com/barograph/barograph/engine/archive"
)

// manualCommand is a command line of the manual.
type manualCommand struct {
	line   int
	args   []string
	stdout string // the file behind ">"
	block  bool   // it is in a code block, not in running text
	run    bool   // the test runs its block
}

var (
	fence      = regexp.MustCompile("^\\s*```")
	marked     = regexp.MustCompile(`^<!-- (run|setup): ?(.*?) ?-->$|^<!-- (run) -->$`)
	invocation = regexp.MustCompile(`(?:^|[\s/=$"(|])barograph ((?:-[-a-z]+|[a-z]).*)`)
	inline     = regexp.MustCompile("`(barograph [^`]*)`")
	asFile     = regexp.MustCompile("(?s)<!-- file: (\\S+) -->\n```[a-z]*\n(.*?)\n```")
)

// manualCommands returns the command lines of a page. The test runs a block after the comment
// "run". "run: FLAGS" adds flags to the commands that have them and do not set them, and properties (-p). The test also
// runs the command line of "setup: …", which the page does not show.
func manualCommands(page string) (commands []manualCommand) {
	var (
		inBlock, run bool
		extra        []string
		lines        = strings.Split(page, "\n")
	)
	for i := 0; i < len(lines); i++ {
		line, number := lines[i], i+1
		if m := marked.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			if m[1] == "setup" {
				commands = append(commands, manualCommand{line: number, args: manualWords(m[2])[1:], block: true, run: true})
			} else {
				run, extra = true, manualWords(m[2])
			}
			continue
		}
		if fence.MatchString(line) {
			if inBlock = !inBlock; !inBlock {
				run, extra = false, nil
			}
			continue
		}
		block := inBlock || strings.HasPrefix(line, "    ")
		if !block {
			for _, m := range inline.FindAllStringSubmatch(line, -1) {
				commands = append(commands, manualCommand{line: number, args: manualWords(m[1])[1:]})
			}
			continue
		}
		for strings.HasSuffix(line, "\\") && i+1 < len(lines) {
			i++
			line = strings.TrimSuffix(line, "\\") + " " + strings.TrimSpace(lines[i])
		}
		for {
			at := invocation.FindStringSubmatchIndex(line)
			if at == nil {
				break
			}
			args, stdout, rest := shellWords(line[at[2]:at[3]])
			m := manualCommand{line: number, args: withFlags(args, extra), stdout: stdout, block: true, run: run}
			commands = append(commands, m)
			line = rest
		}
	}
	return commands
}

// manualWords splits a command line into words.
func manualWords(text string) []string {
	args, _, _ := shellWords(text)
	return args
}

// shellWords returns the words of the first command of a shell line, the file to which it redirects
// its output, and the rest of the line.
func shellWords(text string) (args []string, stdout, rest string) {
	var (
		word  strings.Builder
		quote rune
		has   bool
	)
	end := func() {
		if has {
			args = append(args, word.String())
		}
		word.Reset()
		has = false
	}
	for i, r := range text {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, has = r, true
		case r == ' ' || r == '\t':
			end()
		case r == '#' && !has, r == '|' || r == ';' || r == '&':
			end()
			return args, stdout, text[i+1:]
		case r == '>':
			end()
			file, _, after := shellWords(text[i+1:])
			if len(file) > 0 {
				stdout = file[0]
			}
			return args, stdout, after
		default:
			word.WriteRune(r)
			has = true
		}
	}
	end()
	return args, stdout, ""
}

// withFlags adds each flag, with its value, that the command has and the arguments do not set. It adds a property (-p)
// in any case, because the last value of a property counts.
func withFlags(args, extra []string) []string {
	c, _, err := newRoot(&env{engines: all.Registry()}).Find(args)
	if err != nil {
		return args
	}
	for i := 0; i+1 < len(extra); i += 2 {
		isProperty := extra[i] == "-p" && c.Flags().ShorthandLookup("p") != nil
		if isProperty || c.Flags().Lookup(strings.TrimLeft(extra[i], "-")) != nil && !slices.Contains(args, extra[i]) {
			args = append(slices.Clone(args), extra[i], extra[i+1])
		}
	}
	return args
}

// fits returns an error unless the program has the command of a manual line, has its flags under their present
// names, and accepts the number of its arguments and the combination of its flags. The engines of a line must offer
// its designs, and a time limit must be able to end its run.
func (m manualCommand) fits() error {
	root := newRoot(&env{engines: all.Registry()})
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	c, rest, err := root.Find(m.args)
	if err != nil {
		return err
	}
	c.InitDefaultHelpFlag()
	if err := c.ParseFlags(rest); err != nil {
		return err
	}
	if help, _ := c.Flags().GetBool("help"); help {
		return nil
	}
	c.Flags().Visit(func(f *pflag.Flag) {
		if f.Hidden && err == nil {
			err = fmt.Errorf("--%s is a former name", f.Name)
		}
	})
	if err == nil && m.block {
		err = cmp.Or(c.ValidateArgs(c.Flags().Args()), c.ValidateFlagGroups(), checkEmpty(c, c.Flags().Args()),
			checkNumbers(c), checkDesigns(c), checkTimeLimit(c))
	}
	return err
}

// checkDesigns returns an error if an engine of the command line offers none of the designs that the line names.
func checkDesigns(c *cobra.Command) error {
	designs := c.Flags().Lookup("design")
	if designs == nil || !designs.Changed || c.Name() == "post" { // post has designs of its own
		return nil
	}
	urls := slices.Clone(c.Flags().Args())
	if f := c.Flags().Lookup(engineFlag); f != nil {
		urls = append(urls, values(f)...)
	}
	for _, url := range urls {
		_, url = engine.SplitName(url)
		scheme, _, _ := strings.Cut(strings.TrimPrefix(url, "lab:"), ":")
		d, ok := all.Registry().Find(scheme)
		if !ok || d.Place == engine.Memory {
			continue
		}
		isOffered := func(n string) bool { return slices.Contains(archive.Designs(d), design.Name(n)) }
		if !slices.ContainsFunc(values(designs), isOffered) {
			return fmt.Errorf("%s offers no design of %v", scheme, values(designs))
		}
	}
	return nil
}

// checkTimeLimit returns an error if a run of ycsb has a time limit, and the number of operations of YCSB's files would
// end the run before it. Faults and ramps ignore that number. The first value of a property is that of the page; the
// comment "run" may add another one.
func checkTimeLimit(c *cobra.Command) error {
	f := c.Flags().Lookup("property")
	if f == nil || c.Flags().Changed("fault") || c.Flags().Changed("ramp") {
		return nil
	}
	given := strings.Join(values(f), " ")
	_, count, _ := strings.Cut(given, "operationcount=")
	if strings.Contains(given, "maxexecutiontime=") && !strings.HasPrefix(count+" ", "0 ") {
		return fmt.Errorf("a time limit needs operationcount=0: %s", given)
	}
	return nil
}

// manualPages calls each for every page of the manual.
func manualPages(t *testing.T, each func(name, text string)) {
	t.Helper()
	root := filepath.Join("..", "..", "docs")
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".md" {
			return err
		}
		text, err := os.ReadFile(name)
		if err == nil {
			short, _ := filepath.Rel(root, name)
			each(short, string(text))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestManual parses every command line of the manual, in code blocks and in running text, and those of the help. The
// program must have its command and its flags, and accept the number of its arguments.
func TestManual(t *testing.T) {
	parsed, blocks := 0, 0
	check := func(name, text string) {
		for _, m := range manualCommands(text) {
			if slices.Contains(m.args, "COMMAND") {
				continue
			}
			if err := m.fits(); err != nil {
				t.Errorf("%s:%d: barograph %s: %v", name, m.line, strings.Join(m.args, " "), err)
			}
			if parsed++; m.block {
				blocks++
			}
		}
	}
	commands(func(c *cobra.Command) { check("help of "+c.CommandPath(), "```\n"+c.Example+"\n```\n") })
	if parsed < 80 {
		t.Errorf("only %d command lines of the help were found", parsed)
	}
	manualPages(t, check)
	if parsed < 330 || blocks < 250 {
		t.Errorf("only %d command lines were found, %d of them in code blocks", parsed, blocks)
	}
	t.Logf("%d command lines, %d of them in code blocks", parsed, blocks)
}

// TestManualRuns runs the marked blocks of the manual. Each page has its own folder with the files
// that the page shows after the comment "file: NAME".
func TestManualRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT TESTED in short mode: the commands of the manual; the plain run tests them")
	}
	ran := 0
	manualPages(t, func(name, text string) {
		commands := slices.DeleteFunc(manualCommands(text), func(m manualCommand) bool { return !m.run })
		if len(commands) == 0 {
			return
		}
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			for _, m := range asFile.FindAllStringSubmatch(text, -1) {
				if err := os.MkdirAll(filepath.Dir(m[1]), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(m[1], []byte(m[2]+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for _, m := range commands {
				status, stdout, stderr := barograph(t, m.args...)
				if status != 0 {
					t.Fatalf("%s:%d: barograph %s: status %d\n%s", name, m.line, strings.Join(m.args, " "), status, stderr)
				}
				if m.stdout != "" {
					if err := os.WriteFile(m.stdout, []byte(stdout), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				ran++
			}
		})
	})
	if ran < 20 {
		t.Errorf("only %d command lines were run", ran)
	}
	t.Logf("%d command lines were run", ran)
}

// TestManualCommandsAreChecked: the parser finds the commands of a page, and a wrong command fails.
func TestManualCommandsAreChecked(t *testing.T) {
	page := "Run `barograph verify URL --prume`.\n\n<!-- run: --reps 2 -->\n```sh\nX=… barograph met data \\\n" +
		"    --engine 'sqlite:a b.db' > out.txt # a comment\n" +
		"barograph cases data | barograph lod data\n```\n\n<!-- run: -p operationcount=9 -->\n```sh\n" +
		"barograph ycsb run --engine sqlite:y -P workloada -p maxexecutiontime=60\n" +
		"barograph met data --engine sqlite --design wide\n```\n"
	got := manualCommands(page)
	want := []manualCommand{
		{line: 1, args: []string{"verify", "URL", "--prume"}},
		{
			line: 5, args: []string{"met", "data", "--engine", "sqlite:a b.db", "--reps", "2"}, stdout: "out.txt",
			block: true, run: true,
		},
		{line: 7, args: []string{"cases", "data"}, block: true, run: true},
		{line: 7, args: []string{"lod", "data"}, block: true, run: true},
		{
			line: 12, args: manualWords("ycsb run --engine sqlite:y -P workloada -p maxexecutiontime=60 -p operationcount=9"),
			block: true, run: true,
		},
		{line: 13, args: manualWords("met data --engine sqlite --design wide"), block: true, run: true},
	}
	if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	for i, wrong := range []bool{true, false, false, true, true, true} {
		if err := got[i].fits(); (err != nil) != wrong {
			t.Errorf("%v: %v", got[i].args, err)
		}
	}
}

// TestInstallPage: the page about the installation names each engine that "lab install" installs.
func TestInstallPage(t *testing.T) {
	text, err := os.ReadFile("../../docs/start/install.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, scheme := range all.Registry().Installable() {
		if !strings.Contains(strings.ToLower(string(text)), scheme) {
			t.Errorf("the page does not name %s", scheme)
		}
	}
}
