package lab

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"barograph/fault"
)

// folderPrefix begins the names of the folders that engines get on disks.
const folderPrefix = "barograph-"

// diskFolders are an engine's folders on disks.
func diskFolders(disks []string, scheme string) ([]string, error) {
	var out []string
	seen := map[string]bool{}
	for _, d := range disks {
		abs, err := filepath.Abs(d)
		if err != nil {
			return nil, err
		}
		if info, err := os.Stat(abs); err != nil || !info.IsDir() {
			return nil, &fault.Error{File: d, Problem: "is no folder of a disk", Err: err, Cure: "name one that is there"}
		}
		if seen[abs] {
			return nil, &fault.Error{File: d, Problem: "is named twice", Cure: "name each disk once"}
		}
		seen[abs] = true
		out = append(out, filepath.Join(abs, folderPrefix+scheme))
	}
	return out, nil
}

// freeFolders makes sure that none of the folders is there: Down will remove them.
func freeFolders(folders []string) error {
	for _, f := range folders {
		if _, err := os.Lstat(f); !errors.Is(err, fs.ErrNotExist) {
			return &fault.Error{File: f, Problem: "is there already", Err: err, Cure: "end the lab that has it (`barograph lab down`), or remove it"}
		}
	}
	return nil
}

// makeFolders makes the folders the account's.
func (a *account) makeFolders(folders []string) error {
	for _, f := range folders {
		if err := os.Mkdir(f, 0o700); err != nil {
			return err
		}
		if err := a.reach(f); err != nil {
			return err
		}
		if err := a.give(f); err != nil {
			return err
		}
	}
	return nil
}
