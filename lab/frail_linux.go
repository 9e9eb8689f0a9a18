package lab

import (
	"cmp"
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

// frailNode is a file or folder on a frail disk: Barograph's own file system (FUSE) over a folder. The disk keeps the
// content that each file had at its last flush, and restores it when the power fails. It never loses names, as if a
// journal of the file system flushed each name at once. When the disk is full, no file can be created or grow.
type frailNode struct {
	fs.LoopbackNode

	disk *frailDisk
}

type frailDisk struct {
	mu    sync.Mutex
	full  bool
	dirty map[uint64]*snapshot // by inode; files that have changed since their last flush
}

// snapshot is the content of a file at its last flush.
type snapshot struct {
	file  *os.File // the changed file
	size  int64
	pages map[int64][]byte // the pages that were overwritten since
}

const (
	pageBytes = 4096

	// diskState is the attribute through which a disk receives one of the values below.
	diskState = "user.barograph.disk"
	diskFull  = "full"
	diskFree  = "free"
	diskLose  = "lost" // the power fails: the disk loses the data that were not flushed
	diskFlush = "kept" // the disk flushes all data, so a later power failure keeps them
)

// These calls of the file system differ from those of the folder below.
var (
	_ fs.NodeWrapChilder = (*frailNode)(nil)
	_ fs.NodeOpener      = (*frailNode)(nil)
	_ fs.NodeCreater     = (*frailNode)(nil)
	_ fs.NodeSetattrer   = (*frailNode)(nil)
	_ fs.NodeSetxattrer  = (*frailNode)(nil)
	_ fs.NodeUnlinker    = (*frailNode)(nil)
	_ fs.NodeMkdirer     = (*frailNode)(nil)
	_ fs.NodeMknoder     = (*frailNode)(nil)
	_ fs.NodeSymlinker   = (*frailNode)(nil)
	_ fs.NodeTmpfiler    = (*frailNode)(nil)
	_ fs.NodeFsyncer     = (*frailNode)(nil)
	_ fs.FileWriter      = (*frailFile)(nil)
	_ fs.FileFsyncer     = (*frailFile)(nil)
	_ fs.FileAllocater   = (*frailFile)(nil)
)

// WrapChild returns the node for a file or folder that the kernel looks up.
func (n *frailNode) WrapChild(context.Context, fs.InodeEmbedder) fs.InodeEmbedder {
	return &frailNode{LoopbackNode: fs.LoopbackNode{RootData: n.RootData}, disk: n.disk}
}

func (n *frailNode) path() string { return filepath.Join(n.RootData.Path, n.Path(n.Root())) }

func (n *frailNode) ino() uint64 { return n.StableAttr().Ino }

func (d *frailDisk) isFull() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.full
}

// withoutSync removes the flags that do not concern the folder below: the kernel itself calls Fsync for data that must
// be flushed at once.
func withoutSync(flags uint32) uint32 {
	return flags &^ (unix.O_DIRECT | unix.O_SYNC | unix.O_DSYNC)
}

// Open opens a file. If that truncates the file, the disk keeps the earlier content.
func (n *frailNode) Open(ctx context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	if flags&unix.O_TRUNC != 0 {
		if err := n.disk.beforeResize(n.ino(), n.path(), 0); err != 0 {
			return nil, 0, err
		}
	}
	if flags&unix.O_ACCMODE == unix.O_WRONLY { // the disk reads pages before the file overwrites them
		flags = flags&^unix.O_ACCMODE | unix.O_RDWR
	}
	h, more, err := n.LoopbackNode.Open(ctx, withoutSync(flags))
	return n.handle(h), more, err
}

// Create creates a file, unless the disk is full.
func (n *frailNode) Create(
	ctx context.Context, name string, flags, mode uint32, out *fuse.EntryOut,
) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	if n.disk.isFull() {
		return nil, nil, 0, syscall.ENOSPC
	}
	if flags&unix.O_ACCMODE == unix.O_WRONLY {
		flags = flags&^unix.O_ACCMODE | unix.O_RDWR
	}
	inode, h, more, err := n.LoopbackNode.Create(ctx, name, withoutSync(flags), mode, out)
	if err != 0 {
		return nil, nil, 0, err
	}
	node := inode.Operations().(*frailNode) //nolint:forcetypeassert // WrapChild returns no others
	return inode, node.handle(h), more, 0
}

func (n *frailNode) handle(h fs.FileHandle) fs.FileHandle {
	if f, ok := h.(*fs.LoopbackFile); ok {
		return &frailFile{LoopbackFile: f, node: n}
	}
	return h
}

// Setattr changes attributes of a file, such as its size.
func (n *frailNode) Setattr(ctx context.Context, h fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	if size, ok := in.GetSize(); ok {
		if err := n.disk.beforeResize(n.ino(), n.path(), int64(size)); err != 0 { //nolint:gosec // of a file
			return err
		}
	}
	if f, ok := h.(*frailFile); ok {
		h = f.LoopbackFile
	}
	return n.LoopbackNode.Setattr(ctx, h, in, out)
}

// Setxattr controls the disk by the attribute diskState of its root.
func (n *frailNode) Setxattr(ctx context.Context, name string, value []byte, flags uint32) syscall.Errno {
	if name != diskState || !n.IsRoot() {
		return n.LoopbackNode.Setxattr(ctx, name, value, flags)
	}
	if caller, ok := fuse.FromContext(ctx); ok && caller.Uid != 0 {
		return syscall.EPERM
	}
	return n.disk.control(string(value))
}

// Unlink removes a name. The disk does not restore a file without names.
func (n *frailNode) Unlink(ctx context.Context, name string) syscall.Errno {
	var st unix.Stat_t
	last := unix.Lstat(filepath.Join(n.path(), name), &st) == nil && st.Nlink == 1
	child := n.GetChild(name)
	err := n.LoopbackNode.Unlink(ctx, name)
	if err == 0 && last && child != nil {
		n.disk.flush(child.StableAttr().Ino)
	}
	return err
}

// Mkdir makes a folder, unless the disk is full.
func (n *frailNode) Mkdir(
	ctx context.Context, name string, mode uint32, out *fuse.EntryOut,
) (*fs.Inode, syscall.Errno) {
	if n.disk.isFull() {
		return nil, syscall.ENOSPC
	}
	return n.LoopbackNode.Mkdir(ctx, name, mode, out)
}

// Mknod makes a file without opening it, unless the disk is full.
func (n *frailNode) Mknod(
	ctx context.Context, name string, mode, device uint32, out *fuse.EntryOut,
) (*fs.Inode, syscall.Errno) {
	if n.disk.isFull() {
		return nil, syscall.ENOSPC
	}
	return n.LoopbackNode.Mknod(ctx, name, mode, device, out)
}

// Symlink makes a symbolic link, unless the disk is full.
func (n *frailNode) Symlink(ctx context.Context, target, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	if n.disk.isFull() {
		return nil, syscall.ENOSPC
	}
	return n.LoopbackNode.Symlink(ctx, target, name, out)
}

// Tmpfile refuses files without a name (O_TMPFILE), because the disk restores a file by its name. Programs then make a
// file with a name and remove it.
func (n *frailNode) Tmpfile(
	context.Context, uint32, uint32, *fuse.EntryOut,
) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	return nil, nil, 0, syscall.EOPNOTSUPP
}

// Fsync flushes a file. It does nothing for a folder, because the disk never loses names.
func (n *frailNode) Fsync(_ context.Context, _ fs.FileHandle, _ uint32) syscall.Errno {
	n.disk.flush(n.ino())
	return 0
}

// frailFile is an open file of a frail disk.
type frailFile struct {
	*fs.LoopbackFile

	node *frailNode
}

// PassthroughFd keeps the kernel from writing to the folder below without this file system.
func (f *frailFile) PassthroughFd() (int, bool) { return 0, false }

// Write writes data, unless the file would grow on a full disk. Before that, the disk keeps the pages that Write
// overwrites.
func (f *frailFile) Write(ctx context.Context, data []byte, off int64) (uint32, syscall.Errno) {
	if err := f.node.disk.beforeWrite(f.node.ino(), f.node.path(), off, off+int64(len(data)), false); err != 0 {
		return 0, err
	}
	return f.LoopbackFile.Write(ctx, data, off)
}

// Fsync flushes the file.
func (f *frailFile) Fsync(ctx context.Context, flags uint32) syscall.Errno {
	return f.node.Fsync(ctx, f, flags)
}

// Allocate reserves space for a part of a file, or frees it.
func (f *frailFile) Allocate(ctx context.Context, off, size uint64, mode uint32) syscall.Errno {
	from, to := int64(off), int64(off+size) //nolint:gosec // of a file
	keepSize := mode&unix.FALLOC_FL_KEEP_SIZE != 0
	if err := f.node.disk.beforeWrite(f.node.ino(), f.node.path(), from, to, keepSize); err != 0 {
		return err
	}
	return f.LoopbackFile.Allocate(ctx, off, size, mode)
}

// beforeWrite must be called before the bytes of a file from an offset to another are overwritten. It refuses to let
// the file grow on a full disk, unless the call keeps the size of the file.
func (d *frailDisk) beforeWrite(ino uint64, path string, from, to int64, keepSize bool) syscall.Errno {
	d.mu.Lock()
	defer d.mu.Unlock()
	s, err := d.snapshot(ino, path)
	if err != nil {
		return fs.ToErrno(err)
	}
	if d.full && !keepSize {
		if now, err := s.file.Stat(); err != nil || to > now.Size() {
			return syscall.ENOSPC
		}
	}
	return fs.ToErrno(s.keep(from, to))
}

// beforeResize must be called before the size of a file changes.
func (d *frailDisk) beforeResize(ino uint64, path string, size int64) syscall.Errno {
	d.mu.Lock()
	defer d.mu.Unlock()
	s, err := d.snapshot(ino, path)
	if err != nil {
		return fs.ToErrno(err)
	}
	if now, err := s.file.Stat(); d.full && (err != nil || size > now.Size()) {
		return syscall.ENOSPC
	}
	return fs.ToErrno(s.keep(size, s.size))
}

// snapshot returns the snapshot of a file. A file without a snapshot was not changed since its last flush, and gets a
// snapshot of its present content. A file that has no name any more gets an empty snapshot, because no process can open
// it after a power failure.
func (d *frailDisk) snapshot(ino uint64, path string) (*snapshot, error) {
	if s := d.dirty[ino]; s != nil {
		return s, nil
	}
	file, err := os.OpenFile(path, os.O_RDWR|unix.O_NOFOLLOW, 0)
	if errors.Is(err, os.ErrNotExist) {
		return &snapshot{}, nil
	}
	if err != nil {
		return nil, err
	}
	now, err := file.Stat()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	s := &snapshot{file: file, size: now.Size(), pages: map[int64][]byte{}}
	d.dirty[ino] = s
	return s, nil
}

// keep reads the pages that contain the bytes from an offset to another, unless the snapshot has them.
func (s *snapshot) keep(from, to int64) error {
	for page := from / pageBytes; page*pageBytes < min(to, s.size); page++ {
		if s.pages[page] != nil {
			continue
		}
		content := make([]byte, min(pageBytes, s.size-page*pageBytes))
		if _, err := s.file.ReadAt(content, page*pageBytes); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		s.pages[page] = content
	}
	return nil
}

// flush makes the present content of a file the one that a power failure restores.
func (d *frailDisk) flush(ino uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dropSnapshot(ino)
}

func (d *frailDisk) dropSnapshot(ino uint64) {
	if s := d.dirty[ino]; s != nil {
		delete(d.dirty, ino)
		_ = s.file.Close() // nothing was written by it
	}
}

// control applies a value of diskState.
func (d *frailDisk) control(state string) syscall.Errno {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch state {
	case diskFull, diskFree:
		d.full = state == diskFull
		return 0
	case diskFlush:
		for ino := range d.dirty {
			d.dropSnapshot(ino)
		}
		return 0
	case diskLose:
		var all error
		for _, s := range d.dirty {
			all = errors.Join(all, s.restore())
		}
		clear(d.dirty)
		return fs.ToErrno(all)
	}
	return syscall.EINVAL
}

// restore gives the file its content at the last flush.
func (s *snapshot) restore() error {
	err := s.file.Truncate(s.size)
	for page, content := range s.pages {
		_, writeErr := s.file.WriteAt(content, page*pageBytes)
		err = errors.Join(err, writeErr)
	}
	return errors.Join(err, s.file.Close())
}

// DiskCommand is this program's command that serves a frail disk until it is unmounted. Its
// arguments are the folder below and the mount point.
const DiskCommand = "frail-disk"

// ServeDisk is the body of DiskCommand.
func ServeDisk(below, mountPoint string) error {
	server, err := mountFrail(below, mountPoint)
	if err == nil {
		server.Wait()
	}
	return err
}

// mountFrail mounts a frail disk over the folder below.
func mountFrail(below, mountPoint string) (*fuse.Server, error) {
	root, err := fs.NewLoopbackRoot(below)
	if err != nil {
		return nil, err
	}
	n := &frailNode{disk: &frailDisk{dirty: map[uint64]*snapshot{}}}
	n.RootData = root.(*fs.LoopbackNode).RootData //nolint:forcetypeassert // NewLoopbackRoot returns this type
	n.RootData.RootNode = n
	var noCache time.Duration // the kernel caches no attributes, because a power failure changes them
	return fs.Mount(mountPoint, n, &fs.Options{
		AttrTimeout: &noCache, EntryTimeout: &noCache,
		MountOptions: fuse.MountOptions{
			AllowOther: true, FsName: "barograph", Name: "barograph", DirectMountStrict: true,
			Options: []string{"default_permissions"},
		},
	})
}

const (
	belowSuffix   = ".disk" // of the folder below a node's frail disk
	mountPatience = 30 * time.Second
)

// isMountPoint reports whether a folder is the root of a file system. hasEnded reports whether the process of this file
// system has ended.
func isMountPoint(dir string) (is, hasEnded bool) {
	var own, parent unix.Stat_t
	err := unix.Lstat(dir, &own)
	if errors.Is(err, unix.ENOTCONN) {
		return true, true
	}
	return err == nil && unix.Lstat(filepath.Dir(dir), &parent) == nil && own.Dev != parent.Dev, false
}

// mount mounts the frail disk of a node, unless it is mounted. A reboot unmounts it, and its process may be killed.
func (l *Lab) mount(i int) error {
	n := &l.state.Cluster.Nodes[i]
	if !l.state.Frail {
		return nil
	}
	switch isMounted, hasEnded := isMountPoint(n.Dir); {
	case hasEnded:
		if err := unix.Unmount(n.Dir, unix.MNT_DETACH); err != nil {
			return mountError(err)
		}
	case isMounted:
		return nil
	}
	if err := errors.Join(os.MkdirAll(n.Dir+belowSuffix, 0o700), os.MkdirAll(n.Dir, 0o700)); err != nil {
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
	defer out.Close()                                                //nolint:errcheck // the child has its own
	cmd := exec.Command(self, DiskCommand, n.Dir+belowSuffix, n.Dir) //nolint:noctx // it outlives every context
	cmd.Dir, cmd.Stdout, cmd.Stderr = "/", out, out
	detach(cmd, nil)
	if err := cmd.Start(); err != nil {
		return err
	}
	exit := make(chan error, 1)
	go func() { exit <- cmd.Wait() }()
	for until := time.Now().Add(mountPatience); ; time.Sleep(poll) {
		if isMounted, _ := isMountPoint(n.Dir); isMounted {
			return nil
		}
		select {
		case err := <-exit:
			err = cmp.Or(err, errors.New("its process ended with status 0"))
			return mountError(fmt.Errorf("%w: %s", err, tail(os.ReadFile(l.logFile(i)))))
		default:
		}
		if time.Now().After(until) {
			return mountError(errors.Join(context.DeadlineExceeded, cmd.Process.Kill()))
		}
	}
}

// TryFrailDisk mounts a frail disk and unmounts it. It returns the reason why frail disks are not possible.
func TryFrailDisk() (err error) {
	if os.Geteuid() != 0 {
		return mountError(os.ErrPermission)
	}
	dir, err := os.MkdirTemp("", "barograph-disk-")
	if err != nil {
		return err
	}
	below, mountPoint := filepath.Join(dir, belowSuffix), filepath.Join(dir, "mount")
	defer func() { err = errors.Join(err, os.Remove(mountPoint), os.Remove(below), os.Remove(dir)) }()
	if err := errors.Join(os.Mkdir(below, 0o700), os.Mkdir(mountPoint, 0o700)); err != nil {
		return err
	}
	server, err := mountFrail(below, mountPoint)
	if err != nil {
		return mountError(err)
	}
	return server.Unmount()
}

func mountError(err error) error {
	return &fault.Error{
		Setting: "--frail-disks", Problem: "cannot be mounted", Err: err,
		Cure: "use a kernel that has FUSE (/dev/fuse) and allows root to mount, or omit --frail-disks",
	}
}

// unmount unmounts the frail disks of a lab, if it has any. This ends their processes.
func (s *State) unmount() (err error) {
	for i := range s.Cluster.Nodes {
		dir := s.Cluster.Nodes[i].Dir
		if isMounted, _ := isMountPoint(dir); s.Frail && isMounted {
			err = errors.Join(err, unix.Unmount(dir, unix.MNT_DETACH))
		}
	}
	return err
}

// controlDisk sends a value of diskState to a node's disk.
func (l *Lab) controlDisk(i int, state string) error {
	return unix.Setxattr(l.state.Cluster.Nodes[i].Dir, diskState, []byte(state), 0)
}
