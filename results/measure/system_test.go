package measure

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestClientLoad(t *testing.T) {
	m, err := StartClient()
	if err != nil {
		t.Fatal(err)
	}
	x := uint64(1)
	for m.clock.Now() < 30*time.Millisecond {
		for range 1000 {
			x = x*6364136223846793005 + 1
		}
	}
	runtime.GC()
	l, err := m.Stop()
	if err != nil {
		t.Fatal(err)
	}
	if l.User+l.System <= 0 || l.Wall <= 0 || l.Cores < 1 || l.PeakRSS == 0 && runtime.GOOS == "linux" || x == 0 {
		t.Errorf("%+v", l)
	}
	if l.GCs < 1 || l.GCPause <= 0 || l.GCPauseMax > l.GCPause {
		t.Errorf("collector: %d times, %v, at most %v", l.GCs, l.GCPause, l.GCPauseMax)
	}
}

func TestClientWarning(t *testing.T) {
	load := func(cpu time.Duration) ClientLoad { return ClientLoad{Wall: time.Second, User: cpu, Cores: 2} }
	for _, c := range []struct {
		l         ClientLoad
		threshold float64
		warns     bool
	}{
		{load(time.Second), 0, false},
		{load(1700 * time.Millisecond), 0, true},
		{load(time.Second), 0.4, true},
		{load(1600 * time.Millisecond), 0.8, false},
		{ClientLoad{}, 0, false},
	} {
		w := c.l.Warning(c.threshold)
		if (w != "") != c.warns {
			t.Errorf("share %.2f, threshold %g: %q", c.l.Share(), c.threshold, w)
		}
	}
	if w := load(1700 * time.Millisecond).Warning(0); !strings.Contains(w, "85 %") || !strings.Contains(w, "2 core") {
		t.Error(w)
	}
}

func TestMetersAreIndependent(t *testing.T) {
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			m, err := StartClient()
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := m.Stop(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestReadMachine(t *testing.T) {
	m := ReadMachine(context.Background(), t.TempDir())
	if m.Threads < 1 || m.Memory == 0 || m.OS == "" || m.Go != runtime.Version() || m.Disk.Total == 0 {
		t.Errorf("%+v", m)
	}
	if host, err := os.Hostname(); err == nil && len(host) > 3 && strings.Contains(m.Kernel+m.OS, host) {
		t.Error("the machine's name is among the facts")
	}
	if later := ReadMachine(context.Background(), filepath.Join(t.TempDir(), "to", "be", "made")); later.Disk.Type != m.Disk.Type || later.Disk.Total != m.Disk.Total {
		t.Errorf("the disk of a path that does not exist yet is %+v", later.Disk)
	}
}

func TestMachineWarnings(t *testing.T) {
	quiet := Machine{UsableCPUs: 4, Load: [3]float64{0.3, 1, 1}, Disk: Disk{Type: "ext4"}}
	if w := quiet.Warnings(); w != nil {
		t.Error(w)
	}
	busy := Machine{UsableCPUs: 2, Load: [3]float64{1.7, 0, 0}, Disk: Disk{Type: "tmpfs", Mount: "/dev/shm"}}
	if w := busy.Warnings(); len(w) != 2 || !strings.Contains(w[0], "load average 1.70, usable cores: 2; other work") || !strings.Contains(w[1], "/dev/shm") {
		t.Error(w)
	}
}

// TestUnknownMount: the facts of a machine contain no path of the user, even if the system reports no mount point of it.
func TestUnknownMount(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mountinfo")
	for _, write := range []bool{false, true} { // without a mount table, and with one that lacks the path
		if write {
			if err := os.WriteFile(file, []byte("27 1 254:0 / /elsewhere rw - ext4 /dev/vda rw\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		t.Setenv("HOST_PROC_MOUNTINFO", file)
		d := ReadDisk(t.Context(), t.TempDir())
		if runtime.GOOS == "linux" && d.Mount != "" || d.Total == 0 {
			t.Errorf("%+v", d)
		}
		d.Type = "tmpfs"
		if w := (Machine{Disk: d}).Warnings(); runtime.GOOS == "linux" && !strings.Contains(w[0], "in memory (tmpfs): ") {
			t.Error(w)
		}
	}
}

func TestBelow(t *testing.T) {
	for _, c := range []struct {
		path, mount string
		want        bool
	}{{"/data/a", "/", true}, {"/data/a", "/data", true}, {"/database", "/data", false}, {"/data", "/data", true}, {"/", "/data", false}} {
		if got := isBelow(filepath.FromSlash(c.path), filepath.FromSlash(c.mount)); got != c.want {
			t.Errorf("%s below %s: %v", c.path, c.mount, got)
		}
	}
}

func TestDropCaches(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "sub/b", "sub/deep/c"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, make([]byte, 1<<16), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// A temporary file replaces the kernel's: a test must not empty the page cache of the machine.
	global := filepath.Join(t.TempDir(), "drop_caches")
	if err := os.WriteFile(global, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	how, err := dropCaches([]string{dir, filepath.Join(dir, "a")}, global)
	if runtime.GOOS != "linux" {
		if !errors.Is(err, ErrCannotDrop) {
			t.Errorf("%q, %v", how, err)
		}
		return
	}
	if err != nil || !strings.Contains(how, "4 file(s)") {
		t.Errorf("%q, %v", how, err)
	}
	wrote, err := os.ReadFile(global)
	if err != nil {
		t.Fatal(err)
	}
	if root := os.Geteuid() == 0; root != (string(wrote) == "3\n") || root != strings.Contains(how, "sync and 3 to") {
		t.Errorf("root %v: wrote %q, how is %q", root, wrote, how)
	}
	if _, err := dropCaches([]string{filepath.Join(dir, "gone")}, global); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	if how, err := dropCaches([]string{dir}, filepath.Join(dir, "no", "such")); err != nil || os.Geteuid() == 0 && !strings.Contains(how, "could not be written") {
		t.Errorf("%q, %v", how, err)
	}
}

// TestDropCachesOfALink: the path of an archive may be a symbolic link to another disk.
func TestDropCachesOfALink(t *testing.T) {
	dir, global := t.TempDir(), filepath.Join(t.TempDir(), "drop_caches")
	file, link, linkedFile := filepath.Join(dir, "a"), filepath.Join(t.TempDir(), "link"), filepath.Join(t.TempDir(), "a")
	err := errors.Join(os.WriteFile(file, []byte("x"), 0o600), os.Symlink(dir, link), os.Symlink(file, linkedFile))
	if err != nil {
		t.Skipf("NOT TESTED: %v", err)
	}
	how, err := dropCaches([]string{link, linkedFile}, global)
	if !errors.Is(err, ErrCannotDrop) && (err != nil || !strings.Contains(how, "2 file(s)")) {
		t.Errorf("%q, %v", how, err)
	}
}

// TestDropCachesOfRemovedFiles: an engine may remove files at any time, as ClickHouse does after a merge. This is not
// an error.
func TestDropCachesOfRemovedFiles(t *testing.T) {
	dir, global := t.TempDir(), filepath.Join(t.TempDir(), "drop_caches")
	write := func() {
		for i := range 200 {
			_ = os.Mkdir(filepath.Join(dir, strconv.Itoa(i)), 0o700)
			if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(i), "part"), []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 5 {
		write()
		var removed sync.WaitGroup
		removed.Go(func() {
			for i := range 200 {
				_ = os.RemoveAll(filepath.Join(dir, strconv.Itoa(199-i)))
			}
		})
		if _, err := dropCaches([]string{dir}, global); err != nil && !errors.Is(err, ErrCannotDrop) {
			t.Error(err)
		}
		removed.Wait()
	}
}
