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
	"github.com/barograph/barograph/internal/lists"
)

// Find is FindAll for exactly one question: the case of that name, or the only question of that
// file.
func Find(name string) (*Question, error) {
	qs, _, err := FindAll(name)
	if err != nil {
		return nil, err
	}
	if len(qs) > 1 {
		problem := "contains " + strconv.Itoa(len(qs)) + " questions"
		first := strings.TrimPrefix(name+"#"+qs[0].Name, NOAA+"#") // a case is in no file
		return nil, &fault.Error{File: name, Problem: problem, Cure: "choose one, such as " + first}
	}
	return qs[0], nil
}

// FindAll finds questions by name: a case of the original experiment, one of archiveCases, or all of both for NOAA. A
// name that ends in .yaml or .yml is a file of questions, and one that ends in .xml a METviewer plot_spec;
// "plot.xml#name" selects one question of a file. The notes list what of a plot is not supported, with its line. If a
// plot gives no question, the error contains the notes.
func FindAll(name string, archiveCases ...*Question) (qs []*Question, notes []string, err error) {
	file, wanted := name, ""
	if m := fileAndQuestion.FindStringSubmatch(name); m != nil {
		file, wanted = m[1], m[2]
	}
	switch path.Ext(file) {
	case ".yaml", ".yml":
		qs, err = findYAML(file)
	case ".xml":
		qs, notes, err = FromPlotFile(file)
	default:
		qs, err = Cases()
		qs, wanted = append(qs, archiveCases...), name
	}
	if err != nil || wanted == "" || name == NOAA {
		return qs, notes, err
	}
	i := slices.IndexFunc(qs, func(q *Question) bool { return q.Name == wanted })
	if i >= 0 {
		return qs[i : i+1], notes, nil
	}
	if wanted == name {
		unknown := fault.Unknown("case", name, append(questionNames(qs), NOAA))
		if !strings.Contains(unknown.Cure, "did you mean") {
			unknown.Cure += ", or a .yaml file (`barograph cases` writes one) or a METviewer plot .xml"
		}
		return nil, nil, unknown
	}
	cure := "choose one of " + strings.Join(questionNames(qs), ", ")
	return nil, notes, &fault.Error{File: file, Problem: "contains no question " + strconv.Quote(wanted), Cure: cure}
}

// fileAndQuestion matches the name of one question in a file.
var fileAndQuestion = regexp.MustCompile(`^(.+\.(?:xml|ya?ml))#(.+)$`)

// NOAA is the name that selects all cases.
const NOAA = "noaa"

func questionNames(qs []*Question) []string {
	return lists.Map(qs, func(q *Question) string { return q.Name })
}

func findYAML(file string) ([]*Question, error) {
	text, err := readLimited(file)
	if err != nil {
		return nil, &fault.Error{File: file, Problem: "cannot be read", Err: err, Cure: "check the path"}
	}
	return parse(file, text, invalidInName.ReplaceAllString(strings.TrimSuffix(path.Base(file), path.Ext(file)), "_"))
}

// readLimited reads a file up to the first byte beyond the size limit.
func readLimited(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	return io.ReadAll(io.LimitReader(f, maxText+1))
}
