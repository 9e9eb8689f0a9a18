package formats

import (
	"fmt"
	"slices"
	"strings"

	"github.com/barograph/barograph/formats/metviewer"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
)

// SpecFiles finds the files of a load_spec. METdbLoad silently skips folders that do not exist;
// SpecFiles reports them. Like METdbLoad it takes the files directly in a folder, not those in
// subfolders.
func SpecFiles(s *metviewer.LoadSpec, report func(text string)) ([]string, error) {
	files, err := specFiles(s, report)
	if err != nil {
		return nil, err
	}
	found := len(files)
	files = slices.DeleteFunc(files, func(f string) bool { return !s.IncludesFile(f) })
	switch {
	case len(files) == 0:
		return nil, &fault.Error{
			File: s.File, Setting: "load_stat, load_mode, load_mtd", Problem: fmt.Sprintf("exclude all of the %d files", found),
			Cure: "write true for the files to be loaded",
		}
	case len(files) < found:
		report(fmt.Sprintf("%s: load_stat, load_mode and load_mtd exclude %d of %d files", fault.Name(s.File), found-len(files), found))
	}
	return files, nil
}

func specFiles(s *metviewer.LoadSpec, report func(text string)) ([]string, error) {
	if len(s.Files) > 0 {
		return Expand(s.Files)
	}
	var files, missing []string
	folders := s.Folders()
	for _, f := range folders {
		found := FilesIn(f)
		if files = append(files, found...); len(found) == 0 {
			missing = append(missing, f)
		}
	}
	if len(files) == 0 {
		problem := fmt.Sprintf("none of its %d folders contains a VSDB or MET file (the first is %s)", len(folders), fault.Name(folders[0]))
		return nil, &fault.Error{File: s.File, Setting: "folder_tmpl", Problem: problem, Cure: "check the paths"}
	}
	if len(missing) > 0 {
		report(fmt.Sprintf("%s: %d of %d folders contain no VSDB or MET file: %s", fault.Name(s.File), len(missing), len(folders), firstNames(missing)))
	}
	return Expand(files)
}

// firstNames lists the first few names.
func firstNames(names []string) string {
	names = lists.Map(names, fault.Name)
	const shown = 5
	if len(names) <= shown {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:shown], ", ") + ", …"
}
