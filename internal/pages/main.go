// Command pages renders the pages of docs/results/five, which compare five published evaluations
// with runs of Barograph. It computes numbers from the kept run folders and from the file of the
// original's numbers, and refuses figures that are typed into the text of a template.
//
//	go run ./internal/pages render [NAME…]       # writes docs/results/five/NAME.md and its pictures; without a NAME all
//	                                             # pages and docs/results/site
//	go run ./internal/pages keep NAME [FOLDER]   # copies what the page needs from FOLDER (runs/NAME)
//
// docs/results/five/README.txt describes the functions of the templates.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/barograph/barograph/results/report/site"
)

const (
	pagesDir = "docs/results/five"
	siteDir  = "docs/results/site"
)

// nothing is an expression that no name matches.
const nothing = "$^"

func main() {
	accesses := flag.String("plans", nothing, "keep: also copy the accesses of the plans whose names match this")
	texts := flag.String("texts", nothing, "keep: also copy the texts of those of these plans whose names match this")
	dropped := flag.String("drop", nothing, "keep: omit the parts of samples and measurements, and the counters, whose names match this")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: pages render [NAME…]\n"+
			"       pages [-plans REGEXP] [-texts REGEXP] [-drop REGEXP] keep NAME [FOLDER]")
	}
	flag.Parse()
	if err := command(flag.Args(), *accesses, *texts, *dropped); err != nil {
		fmt.Fprintln(os.Stderr, "pages:", err)
		os.Exit(1) //nolint:forbidigo // main ends the program
	}
}

func command(args []string, accesses, texts, dropped string) error {
	switch {
	case len(args) > 0 && args[0] == "render":
		names, err := pageNames(pagesDir)
		if err != nil {
			return err
		}
		if len(args) > 1 {
			return write(pagesDir, args[1:])
		}
		page, err := renderSite(pagesDir)
		if err != nil {
			return err
		}
		if err := writeFile(filepath.Join(siteDir, site.FileName), page); err != nil {
			return err
		}
		return write(pagesDir, names)
	case len(args) > 1 && len(args) < 4 && args[0] == "keep":
		var which keepOptions
		var err error
		if which.access, err = regexp.Compile(accesses); err != nil {
			return err
		}
		if which.text, err = regexp.Compile(texts); err != nil {
			return err
		}
		if which.drop, err = regexp.Compile(dropped); err != nil {
			return err
		}
		from := filepath.Join("runs", args[1])
		if len(args) > 2 {
			from = args[2]
		}
		return keep(from, filepath.Join(pagesDir, "runs", args[1]), which)
	}
	flag.Usage()
	return errors.New("unknown command")
}

// pageNames lists the pages of a folder: those that have a template.
func pageNames(dir string) (names []string, err error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.md.tmpl"))
	for _, p := range paths {
		names = append(names, strings.TrimSuffix(filepath.Base(p), ".md.tmpl"))
	}
	return names, err
}

// landing is the name of the page "What we found".
const landing = "found"

// write renders pages and removes their pictures of earlier renderings.
func write(dir string, names []string) error {
	all, err := pageNames(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		files, err := render(dir, name)
		if err != nil {
			return err
		}
		old, err := filepath.Glob(filepath.Join(dir, name+"-*.svg"))
		if err != nil {
			return err
		}
		for _, path := range old {
			base := filepath.Base(path)
			ofAnother := func(other string) bool { // x-y-z.svg is a picture of the page x-y, not of x
				return strings.HasPrefix(other, name+"-") && strings.HasPrefix(base, other+"-")
			}
			if _, ok := files[base]; !ok && !slices.ContainsFunc(all, ofAnother) {
				if err := os.Remove(path); err != nil {
					return err
				}
			}
		}
		for file, text := range files {
			if err := os.WriteFile(filepath.Join(dir, file), text, 0o600); err != nil {
				return err
			}
		}
		fmt.Fprintf(os.Stdout, "%s.md and %d pictures\n", filepath.Join(dir, name), len(files)-1)
	}
	return nil
}
