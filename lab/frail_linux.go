package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/barograph/barograph/internal/fault"
)

// A frail disk is Barograph's own file system (FUSE) over a folder. It remembers the content of a
// file at its last flush until the next one, and restores it when the power fails. Names are never
// lost, as if the file system's journal kept each at once. When it is full, no file can be created
// or grow.
type frail struct {
	fs.LoopbackNode

	disk *frailDisk
}

type frailDisk struct {
	mu    sync.Mutex
	full  bool
	dirty map[uint64]*unflushed // by inode
}

// unflushed is what a file was when it was flushed last.
type unflushed struct {
	file  *os.File
	size  int64
	pages map[int64][]byte // that were written over since
}

const (
	pageBytes = 4096
	diskState = "user.barograph.disk" // the attribute through which a disk receives its faults
	diskFull  = "full"
	diskFree  = "free"
	diskLost  = "lost"
	diskKept  = "kept"
)

// The file system's calls that are not the folder's own.
var (
	_ fs.NodeWrapChilder = (*frail)(nil)
	_ fs.NodeOpener      = (*frail)(nil)
	_ fs.NodeCreater     = (*frail)(nil)
	_ fs.NodeSetattrer   = (*frail)(nil)
	_ fs.NodeSetxattrer  = (*frail)(nil)
	_ fs.NodeUnlinker    = (*frail)(nil)
	_ fs.NodeMkdirer     = (*frail)(nil)
	_ fs.NodeFsyncer     = (*frail)(nil)
	_ fs.FileWriter      = (*frailFile)(nil)
	_ fs.FileFsyncer     = (*frailFile)(nil)
	_ fs.FileAllocater   = (*frailFile)(nil)
)

// WrapChild makes a file or folder that is found in the disk belong to it.
func (n *frail) WrapChild(context.Context, fs.InodeEmbedder) fs.InodeEmbedder {
	return &frail{LoopbackNode: fs.LoopbackNode{RootData: n.RootData}, disk: n.disk}
}

func (n *frail) path() string { return filepath.Join(n.RootData.Path, n.Path(n.Root())) }

func (n *frail) ino() uint64 { return n.StableAttr().Ino }

func (d *frailDisk) isFull() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.full
}

// plain removes the flags for which the folder below need not act: the kernel flushes by itself
// what must be flushed at once.
func plain(flags uint32) uint32 {
	return flags &^ (unix.O_DIRECT | unix.O_SYNC | unix.O_DSYNC)
}

// Open opens a file; one that is cut off by that is remembered.
func (n *frail) Open(ctx context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	if flags&unix.O_TRUNC != 0 {
		if err := n.disk.resize(n.ino(), n.path(), 0); err != 0 {
			return nil, 0, err
		}
	}
	if flags&unix.O_ACCMODE == unix.O_WRONLY { // what it writes over is read first
		flags = flags&^unix.O_ACCMODE | unix.O_RDWR
	}
	h, more, err := n.LoopbackNode.Open(ctx, plain(flags))
	return n.handle(h), more, err
}

// Create makes a file, if it fits.
func (n *frail) Create(ctx context.Context, name string, flags, mode uint32, out *fuse.EntryOut) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	if n.disk.isFull() {
		return nil, nil, 0, syscall.ENOSPC
	}
	if flags&unix.O_ACCMODE == unix.O_WRONLY {
		flags = flags&^unix.O_ACCMODE | unix.O_RDWR
	}
	made, h, more, err := n.LoopbackNode.Create(ctx, name, plain(flags), mode, out)
	if err != 0 {
		return nil, nil, 0, err
	}
	return made, made.Operations().(*frail).handle(h), more, 0 //nolint:forcetypeassert // WrapChild makes no others
}

func (n *frail) handle(h fs.FileHandle) fs.FileHandle {
	if f, ok := h.(*fs.LoopbackFile); ok {
		return &frailFile{LoopbackFile: f, node: n}
	}
	return h
}

// Setattr changes what a file is, its size too.
func (n *frail) Setattr(ctx context.Context, h fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	if size, ok := in.GetSize(); ok {
		if err := n.disk.resize(n.ino(), n.path(), int64(size)); err != 0 { //nolint:gosec // of a file
			return err
		}
	}
	if f, ok := h.(*frailFile); ok {
		h = f.LoopbackFile
	}
	return n.LoopbackNode.Setattr(ctx, h, in, out)
}

// Setxattr controls the disk, by an attribute of its root.
func (n *frail) Setxattr(ctx context.Context, name string, value []byte, flags uint32) syscall.Errno {
	if name != diskState || !n.IsRoot() {
		return n.LoopbackNode.Setxattr(ctx, name, value, flags)
	}
	if caller, ok := fuse.FromContext(ctx); ok && caller.Uid != 0 {
		return syscall.EPERM
	}
	return n.disk.suffer(string(value))
}

// Unlink removes a name.
func (n *frail) Unlink(ctx context.Context, name string) syscall.Errno {
	var st unix.Stat_t
	last := unix.Lstat(filepath.Join(n.path(), name), &st) == nil && st.Nlink == 1
	child := n.GetChild(name)
	err := n.LoopbackNode.Unlink(ctx, name)
	if err == 0 && last && child != nil {
		n.disk.flushed(child.StableAttr().Ino) // nothing must be restored
	}
	return err
}

// Mkdir makes a folder, if it fits.
func (n *frail) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	if n.disk.isFull() {
		return nil, syscall.ENOSPC
	}
	return n.LoopbackNode.Mkdir(ctx, name, mode, out)
}

// Fsync flushes a folder, whose names are not lost anyway, or a file.
func (n *frail) Fsync(_ context.Context, _ fs.FileHandle, _ uint32) syscall.Errno {
	n.disk.flushed(n.ino())
	return 0
}

// frailFile is an open one.
type frailFile struct {
	*fs.LoopbackFile

	node *frail
}

// PassthroughFd keeps the kernel from writing to the folder below by itself.
func (f *frailFile) PassthroughFd() (int, bool) { return 0, false }

// Write writes what fits, and remembers what it writes over.
func (f *frailFile) Write(ctx context.Context, data []byte, off int64) (uint32, syscall.Errno) {
	if err := f.node.disk.change(f.node.ino(), f.node.path(), off, off+int64(len(data)), false); err != 0 {
		return 0, err
	}
	return f.LoopbackFile.Write(ctx, data, off)
}

// Fsync flushes the file.
func (f *frailFile) Fsync(ctx context.Context, flags uint32) syscall.Errno {
	return f.node.Fsync(ctx, f, flags)
}

// Allocate makes room, or the opposite.
func (f *frailFile) Allocate(ctx context.Context, off, size uint64, mode uint32) syscall.Errno {
	if err := f.node.disk.change(f.node.ino(), f.node.path(), int64(off), int64(off+size), mode&unix.FALLOC_FL_KEEP_SIZE != 0); err != 0 { //nolint:gosec // of a file
		return err
	}
	return f.LoopbackFile.Allocate(ctx, off, size, mode)
}

// change is called before bytes of a file are written over.
func (d *frailDisk) change(ino uint64, path string, from, to int64, inside bool) syscall.Errno {
	d.mu.Lock()
	defer d.mu.Unlock()
	u, err := d.remember(ino, path)
	if err != nil {
		return fs.ToErrno(err)
	}
	if d.full && !inside {
		if now, err := u.file.Stat(); err != nil || to > now.Size() {
			return syscall.ENOSPC
		}
	}
	return fs.ToErrno(u.keep(from, to))
}

// resize is called before a file gets another size.
func (d *frailDisk) resize(ino uint64, path string, size int64) syscall.Errno {
	d.mu.Lock()
	defer d.mu.Unlock()
	u, err := d.remember(ino, path)
	if err != nil {
		return fs.ToErrno(err)
	}
	if now, err := u.file.Stat(); d.full && (err != nil || size > now.Size()) {
		return syscall.ENOSPC
	}
	return fs.ToErrno(u.keep(size, u.size))
}

// remember is what a file was when it was flushed last, which is now for one that
// is not known. It is found by the name that the kernel knows; one that has none
// any more cannot come back.
func (d *frailDisk) remember(ino uint64, path string) (*unflushed, error) {
	if u := d.dirty[ino]; u != nil {
		return u, nil
	}
	file, err := os.OpenFile(path, os.O_RDWR|unix.O_NOFOLLOW, 0)
	if errors.Is(err, os.ErrNotExist) {
		return &unflushed{}, nil
	}
	if err != nil {
		return nil, err
	}
	now, err := file.Stat()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	u := &unflushed{file: file, size: now.Size(), pages: map[int64][]byte{}}
	d.dirty[ino] = u
	return u, nil
}

// keep keeps the earlier pages that contain these bytes.
func (u *unflushed) keep(from, to int64) error {
	for page := from / pageBytes; page*pageBytes < min(to, u.size); page++ {
		if u.pages[page] != nil {
			continue
		}
		text := make([]byte, min(pageBytes, u.size-page*pageBytes))
		if _, err := u.file.ReadAt(text, page*pageBytes); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		u.pages[page] = text
	}
	return nil
}

func (d *frailDisk) flushed(ino uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.forget(ino)
}

func (d *frailDisk) forget(ino uint64) {
	if u := d.dirty[ino]; u != nil {
		delete(d.dirty, ino)
		_ = u.file.Close() // nothing was written by it
	}
}

// suffer is what happens to the disk.
func (d *frailDisk) suffer(what string) syscall.Errno {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch what {
	case diskFull, diskFree:
		d.full = what == diskFull
		return 0
	case diskKept:
		for ino := range d.dirty {
			d.forget(ino)
		}
		return 0
	case diskLost:
		var all error
		for _, u := range d.dirty {
			all = errors.Join(all, u.restore())
		}
		clear(d.dirty)
		return fs.ToErrno(all)
	}
	return syscall.EINVAL
}

func (u *unflushed) restore() error {
	err := u.file.Truncate(u.size)
	for page, text := range u.pages {
		_, failed := u.file.WriteAt(text, page*pageBytes)
		err = errors.Join(err, failed)
	}
	return errors.Join(err, u.file.Close())
}

// DiskCommand is this program's command that serves a frail disk until it is unmounted. Its
// arguments are the folder below and the mount point.
const DiskCommand = "frail-disk"

// ServeDisk is the body of that command.
func ServeDisk(below, at string) error {
	server, err := mountFrail(below, at)
	if err == nil {
		server.Wait()
	}
	return err
}

func mountFrail(below, at string) (*fuse.Server, error) {
	root, err := fs.NewLoopbackRoot(below)
	if err != nil {
		return nil, err
	}
	n := &frail{disk: &frailDisk{dirty: map[uint64]*unflushed{}}}
	n.RootData = root.(*fs.LoopbackNode).RootData //nolint:forcetypeassert // NewLoopbackRoot returns this type
	n.RootData.RootNode = n
	var now time.Duration // nothing is cached: what comes back is seen
	return fs.Mount(at, n, &fs.Options{
		AttrTimeout: &now, EntryTimeout: &now,
		MountOptions: fuse.MountOptions{AllowOther: true, FsName: "barograph", Name: "barograph", DirectMountStrict: true, Options: []string{"default_permissions"}},
	})
}

const (
	underDisk = ".disk" // suffix of the folder below a node's frail disk
	mountsFor = 30 * time.Second
)

// mounted reports whether a file system begins at a folder.
func mounted(dir string) bool {
	var in, above unix.Stat_t
	err := unix.Lstat(dir, &in)
	if errors.Is(err, unix.ENOTCONN) {
		return true // its process is gone
	}
	return err == nil && unix.Lstat(filepath.Dir(dir), &above) == nil && in.Dev != above.Dev
}

// mount gives a node its frail disk, unless it has it: after a reboot it has not.
func (l *Lab) mount(i int) error {
	n := &l.state.Cluster.Nodes[i]
	if !l.state.Frail || mounted(n.Dir) {
		return nil
	}
	if err := errors.Join(os.MkdirAll(n.Dir+underDisk, 0o700), os.MkdirAll(n.Dir, 0o700)); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(l.logFile(i), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()                                              //nolint:errcheck // the child has its own
	cmd := exec.Command(self, DiskCommand, n.Dir+underDisk, n.Dir) //nolint:noctx // it outlives every context
	cmd.Dir, cmd.Stdout, cmd.Stderr = "/", out, out
	detach(cmd, nil)
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for until := time.Now().Add(mountsFor); !mounted(n.Dir); time.Sleep(poll) {
		select {
		case err := <-ended:
			return noDisk(fmt.Errorf("%w: %s", err, end(os.ReadFile(l.logFile(i)))))
		default:
		}
		if time.Now().After(until) {
			return noDisk(errors.Join(context.DeadlineExceeded, cmd.Process.Kill()))
		}
	}
	return nil
}

// TryFrailDisk mounts one, and takes it away again.
func TryFrailDisk() (err error) {
	if os.Geteuid() != 0 {
		return noDisk(os.ErrPermission)
	}
	dir, err := os.MkdirTemp("", "barograph-disk-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(dir+"/at"), os.Remove(dir+"/"+underDisk), os.Remove(dir)) }()
	below, at := filepath.Join(dir, underDisk), filepath.Join(dir, "at")
	if err := errors.Join(os.Mkdir(below, 0o700), os.Mkdir(at, 0o700)); err != nil {
		return err
	}
	server, err := mountFrail(below, at)
	if err != nil {
		return noDisk(err)
	}
	return server.Unmount()
}

func noDisk(err error) error {
	return &fault.Error{Setting: "--frail-disks", Problem: "cannot be mounted", Err: err, Cure: "the kernel must have FUSE (/dev/fuse), and allow root to mount; else run without"}
}

// unmount takes the frail disks of a lab away, if it has any; their processes end
// with that.
func (s *State) unmount() (err error) {
	for i := range s.Cluster.Nodes {
		if dir := s.Cluster.Nodes[i].Dir; s.Frail && mounted(dir) {
			err = errors.Join(err, unix.Unmount(dir, unix.MNT_DETACH))
		}
	}
	return err
}

// disk controls a node's disk.
func (l *Lab) disk(i int, what string) error {
	return unix.Setxattr(l.state.Cluster.Nodes[i].Dir, diskState, []byte(what), 0)
}
