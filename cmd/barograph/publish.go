package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/results/report/sharing"
	"github.com/barograph/barograph/results/report/site"
	"github.com/barograph/barograph/results/run"
)

// publication has the flags with which report prepares runs for other readers, instead of writing their reports.
type publication struct {
	site, share string
	check       bool
}

func (p *publication) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&p.site, "site", "", "write one static page over all named run folders into this folder, instead of reporting them")
	f.StringVar(&p.share, "share", "", "instead of reporting the run folder, write it into this file (.tar.gz), without names of hosts, users and paths")
	f.BoolVar(&p.check, "check", false, "check run folders instead of reporting them: run.json agrees with the samples, and the "+
		"files of an unpacked --share file agree with the digests in its manifest.json; detects accidental edits, not forgery")
	exclusive := []string{"site", "share", "check", "svg", "weigh", "with"}
	for i, name := range exclusive[:3] {
		for _, other := range exclusive[i+1:] {
			c.MarkFlagsMutuallyExclusive(name, other)
		}
	}
}

// requested reports whether a flag of publication is set.
func (p *publication) requested() bool { return p.site != "" || p.share != "" || p.check }

// publish does what the flags request.
func (e *env) publish(p *publication, dirs []string) error {
	switch {
	case p.check:
		return e.checkFolders(dirs)
	case p.share != "" && len(dirs) > 1:
		return fault.Misuse("--share", "writes one run folder, and several are named", "repeat the command for each of them")
	case p.share != "":
		if err := e.mayWrite("--share", p.share, nil); err != nil { // an archive, for example, which shareFolder would replace
			return err
		}
		if err := checkShareName(p.share); err != nil {
			return err
		}
		return e.shareFolder(dirs[0], p.share)
	}
	s, err := site.Read(dirs)
	if err != nil {
		return err
	}
	path, err := s.Write(p.site)
	if err != nil {
		return err
	}
	if e.json {
		return e.printJSON(map[string]any{
			"site": path, "runs": len(s.Runs), "configurations": len(s.Configs), "results": len(s.Results), "text_size": s.TextSize,
		})
	}
	fmt.Fprintf(e.stdout, "%s, %s, %s; queries and plans of at most %d bytes each\nsite: %s\n",
		run.CountOf(len(s.Runs), "run folder"), run.CountOf(len(s.Configs), "configuration"), run.CountOf(len(s.Results), "result"),
		s.TextSize, fault.Name(path))
	return nil
}

// checkFolders checks run folders, and fails if one has a problem.
func (e *env) checkFolders(dirs []string) error {
	var all []*sharing.Report
	n := 0
	for _, dir := range dirs {
		r, err := sharing.Check(dir)
		if err != nil {
			return err
		}
		all = append(all, r)
		if n += len(r.Problems); e.json {
			continue
		}
		fmt.Fprintf(e.stdout, "%s: %s\n", fault.Name(dir), r)
		for _, p := range r.Problems {
			fmt.Fprintf(e.stdout, "  %s\n", fault.Plain(p))
		}
	}
	if e.json {
		if err := e.printJSON(all); err != nil {
			return err
		}
	}
	if n > 0 {
		problem := fmt.Sprintf("the check of %s found %s", run.CountOf(len(dirs), "run folder"), run.CountOf(n, "problem"))
		return differs(&fault.Error{Problem: problem, Cure: "restore the files, or repeat the run"})
	}
	return nil
}

// shareFlag adds the flag of quickstart.
func shareFlag(c *cobra.Command) *bool {
	return c.Flags().Bool("share", false,
		"also write the run folder as RUN.tar.gz, without names of hosts, users and paths, and print how to contribute it")
}

// shareAfter shares the folder of a run if the user requested it. err is the error of the run: shareAfter shares only
// runs that are complete, with correct or wrong results.
func (e *env) shareAfter(requested bool, dir string, err error) error {
	if !requested || fault.Code(err) != 0 && fault.Code(err) != fault.Differs {
		return err
	}
	return errors.Join(err, e.shareFolder(dir, filepath.Clean(dir)+".tar.gz"))
}

// checkShareName refuses a name for the shared file that promises another format.
func checkShareName(file string) error {
	if strings.HasSuffix(file, ".tar.gz") || strings.HasSuffix(file, ".tgz") {
		return nil
	}
	return fault.Misuse("--share "+fault.Name(file), "is not the name of a compressed tar file", "name a file *.tar.gz or *.tgz")
}

// shareFolder writes the archive of a run folder, and prints how to contribute it.
func (e *env) shareFolder(dir, file string) error {
	r, err := sharing.Write(dir, file)
	if err != nil {
		return err
	}
	if e.json {
		return e.printJSON(r)
	}
	const folder = "docs/results/shared"
	fmt.Fprintf(e.stdout, `shared: %s (%s; %s left out). Host names, user names and paths are replaced.
Read the files before you publish them. To contribute them, open a pull request:
  git clone https://github.com/barograph/barograph
  mkdir -p barograph/%[4]s && tar -xzf %[1]s -C barograph/%[4]s
  barograph report --check barograph/%[4]s/%[5]s
  cd barograph && git switch -c %[5]s && git add %[4]s && git commit -m "results: %[5]s"
  git push YOUR-FORK %[5]s, then open the pull request on the page of your fork
`, fault.Name(file), run.CountOf(len(r.Files)+1, "file"), english.Plural(r.Omitted, "other is", "others are"), folder, r.Name)
	return nil
}
