package plot

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"html"
	"regexp"
)

// fontStack starts with the font whose widths are used. Arial and Helvetica have the same widths,
// and sans-serif is the fallback.
const fontStack = "'Liberation Sans', Arial, Helvetica, sans-serif"

// anchorPattern finds texts that carry an anchor.
var anchorPattern = regexp.MustCompile(`<text ([^>]*)>([\x{E001}\x{E002}])`)

// tooltipPattern finds the texts of tooltips.
var tooltipPattern = regexp.MustCompile(`<text x="([^"]*)" y="-?([^"]*)"[^>]*>\x{E003}([^<]*)</text>`)

// encode finishes the picture. It rewrites gonum's SVG in four places.
//
//   - gonum's header gives the size in points (a third larger in a browser), an
//     XML prologue (invalid inside HTML) and an unused namespace for links.
//     Ours gives px, a title and a description for screen readers, and the font
//     once, with fallbacks.
//   - Texts do not repeat the font.
//   - Texts get their anchors.
//   - Tooltips become the titles of invisible circles.
func (s *sheet) encode() ([]byte, error) {
	if s.Format != SVG {
		return s.bytes()
	}
	var raw bytes.Buffer
	if _, err := s.svg.WriteTo(&raw); err != nil {
		return nil, fmt.Errorf("write SVG: %w", err)
	}
	start := bytes.Index(raw.Bytes(), []byte("<g "))
	if start < 0 {
		return nil, errors.New("write SVG: gonum's output has no group")
	}
	w, h := s.svg.Size()
	var out bytes.Buffer
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" role="img" width="%.5g" height="%.5g" viewBox="0 0 %.5g %.5g" font-family="%s">`+"\n",
		w.Points(), h.Points(), w.Points(), h.Points(), fontStack)
	fmt.Fprintf(&out, "<title>%s</title>\n<desc>%s</desc>\n", html.EscapeString(cmp.Or(s.Title, s.Subtitle, "a picture")), html.EscapeString(s.Subtitle))
	// A quote cannot occur inside a text, because texts are escaped: only attributes match.
	body := raw.Bytes()[start:]
	for weight, style := range map[string]string{"normal": "", "bold": "font-weight:bold;"} {
		body = bytes.ReplaceAll(body, []byte(`style="font-family:Liberation Sans;font-variant:normal;font-weight:`+weight+`;font-style:normal;`), []byte(`style="`+style))
	}
	body = anchorPattern.ReplaceAllFunc(body, func(text []byte) []byte {
		m := anchorPattern.FindSubmatch(text)
		return fmt.Appendf(nil, `<text text-anchor="%s" %s>`, map[string]string{string(rune(atCenter)): "middle", string(rune(atRight)): "end"}[string(m[2])], m[1])
	})
	out.Write(tooltipPattern.ReplaceAll(body, []byte(`<circle cx="$1" cy="$2" r="6" fill-opacity="0"><title>$3</title></circle>`)))
	return out.Bytes(), nil
}
