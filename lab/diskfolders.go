package lab

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/barograph/barograph/fault"
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

// dealt gives a disk's folder as often as it holds partitions, of which part i
// lies on disk i modulo their number.
func dealt(folders []string, partitions int) ([]string, error) {
	if partitions == 0 {
		return folders, nil
	}
	if len(folders) == 0 || partitions < len(folders) {
		return nil, &fault.Error{
			Setting: fmt.Sprintf("%d partitions over %d disks", partitions, len(folders)), Problem: "cannot be dealt",
			Cure: "name disks, and a partition for each at least",
		}
	}
	out := make([]string, partitions)
	for i := range out {
		out[i] = folders[i%len(folders)]
	}
	return out, nil
}

// distinct names each folder once.
func distinct(folders []string) []string {
	out := slices.Clone(folders)
	slices.Sort(out)
	return slices.Compact(out)
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
