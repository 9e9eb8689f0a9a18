package tpcds

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
)

// ManifestName is the file that describes a folder of tables. It is written last: a folder without
// it is incomplete.
const ManifestName = "tpcds.json"

// Manifest describes a folder of generated tables.
type Manifest struct {
	Scale     float64           `json:"scale"`     // TPC-DS's scale factor, about the GB of text of all 24 tables
	Generator string            `json:"generator"` // with its version
	Rows      map[string]int64  `json:"rows"`      // by table
	Parquet   map[string][]File `json:"parquet"`   // by table
	Documents []File            `json:"documents"` // JSON lines; empty if they were not requested
}

// File is a file of the folder.
type File struct {
	Name  string `json:"name"` // in the folder, with slashes
	Bytes int64  `json:"bytes"`
}

// Save writes the manifest into its folder.
func (m *Manifest) Save(dir string) error {
	text, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return err
	}
	path := filepath.Join(dir, ManifestName)
	if err := os.WriteFile(path+".new", append(text, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// Open reads the manifest of a folder and checks that its files exist.
func Open(dir string) (*Manifest, error) {
	path := filepath.Join(dir, ManifestName)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &fault.Error{File: dir, Problem: "contains no tables of TPC-DS", Cure: "make them: barograph synth tpcds --sf 1 --out " + dir}
	}
	if err != nil {
		return nil, err
	}
	m := &Manifest{}
	if err := json.Unmarshal(text, m); err != nil {
		return nil, &fault.Error{File: path, Err: err}
	}
	files := append([]File(nil), m.Documents...)
	for _, of := range m.Parquet {
		files = append(files, of...)
	}
	for _, f := range files {
		info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(f.Name)))
		if err != nil {
			return nil, &fault.Error{File: dir, Problem: "is incomplete", Err: err, Cure: "generate the tables again"}
		}
		if info.Size() != f.Bytes {
			return nil, &fault.Error{File: filepath.Join(dir, f.Name), Problem: "was changed after it was written", Cure: "generate the tables again"}
		}
	}
	return m, nil
}

// Paths are absolute paths of files of the folder.
func Paths(dir string, files []File) ([]string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	return lists.Map(files, func(f File) string { return filepath.Join(abs, filepath.FromSlash(f.Name)) }), nil
}
