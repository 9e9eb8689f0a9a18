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

// account is the unprivileged user as which a server runs; nil = Barograph's own user.
type account struct {
	name     string
	uid, gid uint32
	groups   []uint32
}

// findAccount looks up the account of a user. It returns nil unless Barograph runs as root, because only root can start
// processes of other users.
func findAccount(name string) (*account, error) {
	if name == "" || os.Geteuid() != 0 {
		return nil, nil //nolint:nilnil // nil is Barograph's own user
	}
	u, err := user.Lookup(name)
	if err != nil {
		return nil, &fault.Error{
			Setting: "user " + name, Problem: "is not known", Err: err,
			Cure: "install the server: `barograph lab install`",
		}
	}
	ids, err := u.GroupIds()
	if err != nil {
		return nil, err
	}
	a := &account{name: name}
	if a.uid, err = parseID(u.Uid); err != nil {
		return nil, err
	}
	if a.gid, err = parseID(u.Gid); err != nil {
		return nil, err
	}
	for _, g := range ids {
		n, err := parseID(g)
		if err != nil {
			return nil, err
		}
		a.groups = append(a.groups, n)
	}
	return a, nil
}

func parseID(text string) (uint32, error) {
	n, err := strconv.ParseUint(text, 10, 32)
	return uint32(n), err
}

// own makes the account the owner of a folder, or file, and of everything in it.
func (a *account) own(dir string) error {
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

// makeReachable makes the parent folders of dir searchable for the account, if they are temporary. It does not change
// other folders, because their owners may have closed them on purpose: it returns an error for such a folder.
func (a *account) makeReachable(dir string) error {
	if a == nil {
		return nil
	}
	for p := filepath.Dir(dir); ; p = filepath.Dir(p) {
		info, err := os.Stat(p)
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o001 == 0 {
			if !isBelow(p, os.TempDir()) {
				return &fault.Error{
					File: p, Problem: "cannot be searched by " + a.name + ", who runs the server",
					Err:  errors.New(info.Mode().String()),
					Cure: "choose another --lab-dir, or chmod o+x it",
				}
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

// isBelow reports whether a path is inside a folder.
func isBelow(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != "." && rel != ".." && !strings.HasPrefix(rel, "../")
}
