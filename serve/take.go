package serve

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// taken returns the question for use without the page: as YAML, as METviewer's plot XML, or as a
// shell command. Each draws the same picture.
func (s *Server) taken(w http.ResponseWriter, r *http.Request) error {
	a, err := s.asking(r)
	if err != nil {
		return err
	}
	kind := r.URL.Path[strings.LastIndexByte(r.URL.Path, '.')+1:]
	text, err := question.YAML(a.patterned(a.q))
	switch {
	case err != nil:
		return err
	case kind == "xml":
		text, err = s.plotXML(r, a)
	case kind == "sh":
		text = a.command(text)
	}
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", map[string]string{"xml": "application/xml", "yaml": "application/yaml", "sh": "text/x-shellscript"}[kind]+"; charset=utf-8")
	w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", a.q.Name+"."+kind))
	_, err = w.Write(text)
	return err
}

// plotXML writes the question with the values of its result that METviewer requires.
func (s *Server) plotXML(r *http.Request, a *asking) ([]byte, error) {
	d, _, err := s.drawn(r, a, false, &Cost{})
	if err != nil {
		return nil, err
	}
	return question.PlotXML(a.patterned(d.Question()), a.seed)
}

// patterned is a question with the patterns of variables that the URL has.
func (a *asking) patterned(q *question.Question) *question.Question {
	out := *q
	if a.pattern != nil {
		out.Header[record.FcstVar] = a.pattern
	}
	return &out
}

// command returns the question as a command line.
func (a *asking) command(yaml []byte) []byte {
	quote := func(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
	named := ""
	if len(a.flavours) == 1 {
		named = " --flavour " + string(a.flavours[0])
	}
	return fmt.Appendf(nil, "cat > %[1]s.yaml <<'END'\n%[2]sEND\nbarograph ask %[1]s.yaml --engine %[3]s --design %[4]s%[5]s --subset %[6]s --seed %[7]d --plot %[1]s.svg\n",
		a.q.Name, yaml, quote(fault.Redact(a.archive.url)), a.design, named, quote(a.subset), a.seed)
}

// nameOf names a question that has no name, and the files that it is taken away in.
func nameOf(q *question.Question) string {
	parts := []string{q.Type.Name}
	for _, values := range q.Header {
		if len(values) == 1 {
			parts = append(parts, values[0])
		}
	}
	return cmp.Or(q.Name, question.JoinName(parts...))
}
