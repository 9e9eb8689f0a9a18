// Command new creates an engine that speaks SQL: it writes the files of its folder, which compile, and its
// line in engine/all.
//
//	go run ./engine/new clickhouse
//	go test ./engine/clickhouse -run TestConformance
//
// The test then lists what is missing, file by file. sqlengine does everything that SQL engines have in common.
package main

import (
	"embed"
	"errors"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

//go:embed template/*.txt
var templates embed.FS

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "new:", err)
		os.Exit(1) //nolint:forbidigo // exits with status 1
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return errors.New("name the engine: go run ./engine/new clickhouse")
	}
	dir := filepath.Join("engine", args[0])
	if _, err := os.Stat(dir); err == nil {
		return fmt.Errorf("%s exists already", dir)
	}
	files, err := scaffold(".", args[0])
	if err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	for path, text := range files {
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return err
		}
	}
	fmt.Fprintf(os.Stderr, "created %s; to list what is missing there: go test ./%s -run TestConformance; then name it in README.md and CHANGELOG.md\n", dir, dir)
	return nil
}

var scheme = regexp.MustCompile(`^[a-z][a-z0-9]*$`)

// scaffold returns the files of an engine, by their paths in the repository.
func scaffold(root, name string) (map[string][]byte, error) {
	if !scheme.MatchString(name) || name == "new" || name == "all" {
		return nil, fmt.Errorf("%q is not a valid name of an engine: use small letters and digits", name)
	}
	list := filepath.Join("engine", "all", "all.go")
	text, err := os.ReadFile(filepath.Join(root, list))
	if err != nil {
		return nil, err
	}
	all := strings.Replace(string(text), "github.com/barograph/barograph/engine\"\n", "github.com/barograph/barograph/engine\"\n\t\"github.com/barograph/barograph/engine/"+name+"\"\n", 1)
	all = strings.Replace(all, "\n\t}\n}", "\n\t\t"+name+".Driver(),\n\t}\n}", 1)
	files := map[string][]byte{}
	if files[list], err = format.Source([]byte(all)); err != nil { // it also sorts the imports
		return nil, err
	}
	entries, err := templates.ReadDir("template")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		text, err := templates.ReadFile("template/" + e.Name())
		if err != nil {
			return nil, err
		}
		file := strings.Replace(strings.TrimSuffix(e.Name(), ".txt"), "engine", name, 1)
		files[filepath.Join("engine", name, file)] = []byte(strings.ReplaceAll(string(text), "NAME", name))
	}
	return files, nil
}
