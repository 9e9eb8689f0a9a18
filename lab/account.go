package lab

import (
	"errors"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/barograph/barograph/internal/fault"
)

// account is the unprivileged user that a server runs as; nil = Barograph's own.
type account struct {
	name     string
	uid, gid uint32
	groups   []uint32
}

// findAccount looks up the account; it is nil unless Barograph runs as root.
func findAccount(name string) (*account, error) {
	if name == "" || os.Geteuid() != 0 {
		return nil, nil //nolint:nilnil // nil is an account, see above
	}
	u, err := user.Lookup(name)
	if err != nil {
		return nil, &fault.Error{Setting: "user " + name, Problem: "is not known", Err: err, Cure: "install the server: `barograph lab install`"}
	}
	ids, err := u.GroupIds()
	if err != nil {
		return nil, err
	}
	a := &account{name: name}
	if a.uid, err = id(u.Uid); err != nil {
		return nil, err
	}
	if a.gid, err = id(u.Gid); err != nil {
		return nil, err
	}
	for _, g := range ids {
		n, err := id(g)
		if err != nil {
			return nil, err
		}
		a.groups = append(a.groups, n)
	}
	return a, nil
}

func id(text string) (uint32, error) {
	n, err := strconv.ParseUint(text, 10, 32)
	return uint32(n), err
}

// give makes a folder and all in it the account's.
func (a *account) give(dir string) error {
	if a == nil {
		return nil
	}
	return filepath.WalkDir(dir, func(name string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(name, int(a.uid), int(a.gid))
	})
}

// reach makes the parent folders of dir searchable for the account. It does not change folders
// outside the one for temporary files, because their owner may have closed them on purpose.
func (a *account) reach(dir string) error {
	if a == nil {
		return nil
	}
	for p := filepath.Dir(dir); ; p = filepath.Dir(p) {
		info, err := os.Stat(p)
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o001 == 0 {
			if !below(p, os.TempDir()) {
				return &fault.Error{File: p, Problem: "cannot be searched by " + a.name + ", who runs the server", Cure: "choose another --lab-dir, or chmod o+x it", Err: errors.New(info.Mode().String())}
			}
			if err := os.Chmod(p, info.Mode().Perm()|0o001); err != nil {
				return err
			}
		}
		if p == filepath.Dir(p) {
			return nil
		}
	}
}

func below(p, dir string) bool {
	rel, err := filepath.Rel(dir, p)
	return err == nil && rel != "." && rel != ".." && !strings.HasPrefix(rel, "../")
}
