package report

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
)

// GrowthText prints what studies of several sizes came to, for a terminal.
func GrowthText(w io.Writer, dir string) error {
	g, err := openGrowth(dir)
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n\n", printable(filepath.Base(dir)), wrap(printable(g.sentence()), 110))
	if g.sum.Wrong > 0 {
		fmt.Fprintf(&b, "%s without a right answer; the reports of the sizes tell which\n\n", several(g.sum.Wrong, "cell"))
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	t := g.laws()
	return t.write(w)
}
