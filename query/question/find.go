package question

import (
	"io"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/barograph/barograph/internal/fault"
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

// FindAll returns the case of that name, or one of more, or all of them for NOAA; or the
// questions in a file, if the name ends in .yaml or .yml; or those of a METviewer
// plot_spec, if it ends in .xml. "plot.xml#name" is one of them. The notes say what of a plot is not
// supported, with its line; a plot of which nothing can be asked is an error
// that holds them.
func FindAll(name string, more ...*Question) (qs []*Question, notes []string, err error) {
	file, wanted := name, ""
	if m := oneOf.FindStringSubmatch(name); m != nil {
		file, wanted = m[1], m[2]
	}
	switch path.Ext(file) {
	case ".yaml", ".yml":
		qs, err = findYAML(file)
	case ".xml":
		qs, notes, err = FromPlotFile(file)
	default:
		qs, err = Cases()
		qs, wanted = append(qs, more...), name
	}
	if err != nil || wanted == "" || wanted == NOAA {
		return qs, notes, err
	}
	i := slices.IndexFunc(qs, func(q *Question) bool { return q.Name == wanted })
	if i >= 0 {
		return qs[i : i+1], notes, nil
	}
	if wanted == name {
		unknown := fault.Unknown("case", name, append(names(qs), NOAA))
		if !strings.Contains(unknown.Cure, "did you mean") {
			unknown.Cure += ", or a .yaml file (`barograph cases` writes one) or a METviewer plot .xml"
		}
		return nil, nil, unknown
	}
	return nil, notes, &fault.Error{File: file, Problem: "holds no question " + strconv.Quote(wanted), Cure: "choose one of " + strings.Join(names(qs), ", ")}
}

// oneOf is a question of a file.
var oneOf = regexp.MustCompile(`^(.+\.(?:xml|ya?ml))#(.+)$`)

// NOAA names the cases of the original experiment together.
const NOAA = "noaa"

func names(qs []*Question) []string {
	out := make([]string, len(qs))
	for i, q := range qs {
		out[i] = q.Name
	}
	return out
}

func findYAML(file string) ([]*Question, error) {
	text, err := readSome(file)
	if err != nil {
		return nil, &fault.Error{File: file, Problem: "cannot be read", Err: err, Cure: "check the path"}
	}
	qs, err := Parse(file, text)
	for i, q := range qs {
		if q.Name == "" { // Parse lets one be without
			qs[i].Name = unfit.ReplaceAllString(strings.TrimSuffix(path.Base(file), path.Ext(file)), "_")
		}
	}
	return qs, err
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
