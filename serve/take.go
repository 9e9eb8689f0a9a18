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

// exportQuestion sends the question for use without the page: as YAML, as METviewer's plot XML, or as a
// shell command. Each draws the same picture.
func (s *Server) exportQuestion(w http.ResponseWriter, r *http.Request) error {
	a, err := s.parseQuestion(r)
	if err != nil {
		return err
	}
	kind := r.URL.Path[strings.LastIndexByte(r.URL.Path, '.')+1:]
	text, err := question.YAML(a.withSeed(a.withPatterns(a.q)))
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
	types := map[string]string{"xml": "application/xml", "yaml": "application/yaml", "sh": "text/x-shellscript"}
	w.Header().Set("Content-Type", types[kind]+"; charset=utf-8")
	w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", a.q.Name+"."+kind))
	_, err = w.Write(text)
	return err
}

// plotXML writes the question with the values of its result that METviewer requires.
func (s *Server) plotXML(r *http.Request, a *pageQuestion) ([]byte, error) {
	d, _, err := s.curves(r, a, false, &Cost{})
	if err != nil {
		return nil, err
	}
	return question.PlotXML(a.withPatterns(d.Question()), a.seed)
}

// withPatterns returns a question with the patterns of variables of the URL, instead of the variables that
// match them.
func (a *pageQuestion) withPatterns(q *question.Question) *question.Question {
	out := *q
	if a.patterns != nil {
		out.Header[record.FcstVar] = a.patterns
	}
	return &out
}

// withSeed returns a question with the seed of the URL, unless the question has one or the seed is the default,
// which barograph ask has, too.
func (a *pageQuestion) withSeed(q *question.Question) *question.Question {
	drawing := *cmp.Or(q.Drawing, question.NewDrawing(q.Type, question.DefaultStat(q.Type), ""))
	if a.seed == defaultSeed || drawing.Seed != nil {
		return q
	}
	out := *q
	drawing.Seed, out.Drawing = &a.seed, &drawing
	return &out
}

// command returns a shell command that writes the question into a file and asks it.
func (a *pageQuestion) command(yaml []byte) []byte {
	quote := func(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
	flavour := ""
	if len(a.flavours) == 1 {
		flavour = " --flavour " + string(a.flavours[0])
	}
	return fmt.Appendf(nil, "cat > %[1]s.yaml <<'END'\n%[2]sEND\nbarograph ask %[1]s.yaml --engine %[3]s --design %[4]s%[5]s"+
		" --subset %[6]s --seed %[7]d --plot %[1]s.svg\n",
		a.q.Name, yaml, quote(fault.Redact(a.archive.url)), a.design, flavour, quote(a.subset), a.seed)
}

// nameOf returns the name of a question and of the files that contain it. The URL may contain a name. As a
// stranger may have written the URL, nameOf replaces every character that has a meaning in a shell or in a
// path, and a hyphen at the beginning, which would be a flag.
func nameOf(q *question.Question) string {
	parts := []string{q.Type.Name}
	for _, values := range q.Header {
		if len(values) == 1 {
			parts = append(parts, values[0])
		}
	}
	return cmp.Or(strings.TrimLeft(question.JoinName(q.Name), "-."), question.JoinName(parts...))
}
