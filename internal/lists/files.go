package lists

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
)

// Files returns the paths below dir that match a valid pattern with slashes, sorted. filepath.Glob would take *, ? and [ in
// dir, which a user names, as a pattern, too.
func Files(dir, pattern string) []string {
	names, _ := fs.Glob(os.DirFS(cmp.Or(dir, ".")), pattern) // the pattern is valid
	return Map(names, func(name string) string { return filepath.Join(dir, name) })
}
