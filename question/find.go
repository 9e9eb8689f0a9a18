package question

import (
	"io"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/barograph/barograph/fault"
)

// Find is FindAll where one question is meant: that case, or the only question
// of that file.
func Find(name string) (*Question, error) {
	qs, _, err := FindAll(name)
	if err != nil {
		return nil, err
	}
	if len(qs) > 1 {
		return nil, &fault.Error{File: name, Problem: "holds " + strconv.Itoa(len(qs)) + " questions", Cure: "choose one: " + name + "#" + qs[0].Name}
	}
	return qs[0], nil
}

// FindAll returns the case of that name; or the question in a file, if the name
// ends in .yaml or .yml; or the questions of a METviewer plot_spec, if it ends
// in .xml. "plot.xml#name" is one of them. The notes say what of a plot is not
// supported, with its line; a plot of which nothing can be asked is an error
// that holds them.
func FindAll(name string) (qs []*Question, notes []string, err error) {
	file, wanted := name, ""
	if i := strings.LastIndex(name, ".xml#"); i >= 0 {
		file, wanted = name[:i+4], name[i+5:]
	}
	switch path.Ext(file) {
	case ".yaml", ".yml":
		q, err := findYAML(file)
		return []*Question{q}, nil, err
	case ".xml":
		qs, notes, err = FromPlotFile(file)
	default:
		q, err := findCase(name)
		return []*Question{q}, nil, err
	}
	if err != nil || wanted == "" {
		return qs, notes, err
	}
	i := slices.IndexFunc(qs, func(q *Question) bool { return q.Name == wanted })
	if i < 0 {
		return nil, notes, &fault.Error{File: file, Problem: "holds no question " + strconv.Quote(wanted), Cure: "choose one of " + strings.Join(names(qs), ", ")}
	}
	return qs[i : i+1], notes, nil
}

func names(qs []*Question) []string {
	out := make([]string, len(qs))
	for i, q := range qs {
		out[i] = q.Name
	}
	return out
}

func findYAML(file string) (*Question, error) {
	text, err := readSome(file)
	if err != nil {
		return nil, &fault.Error{File: file, Problem: "cannot be read", Err: err, Cure: "check the path"}
	}
	return Parse(file, text)
}

// readSome reads a file, or as much of it as shows that it is too long.
func readSome(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	return io.ReadAll(io.LimitReader(f, maxText+1))
}

func findCase(name string) (*Question, error) {
	cases, err := Cases()
	if err != nil {
		return nil, err
	}
	for _, q := range cases {
		if q.Name == name {
			return q, nil
		}
	}
	unknown := fault.Unknown("case", name, names(cases))
	unknown.Cure += ", or give a .yaml file or METviewer's plot .xml"
	return nil, unknown
}
