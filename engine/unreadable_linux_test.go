package engine

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestUnreadableFile: a file that the user may not read is reported as such, not as a file that no engine wrote.
func TestUnreadableFile(t *testing.T) {
	path := writeFile(t, "a.db", "0123456789abcdef")
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	r := filesOf(new([]string))
	failed := make(chan error)
	go func() {
		runtime.LockOSThread() // the thread ends with this goroutine, because nothing unlocks it
		header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var none [2]unix.CapUserData
		if err := unix.Capset(&header, &none[0]); err != nil { // root could read the file
			t.Error(err)
		}
		_, _, err := r.Parse(path)
		failed <- err
	}()
	err := <-failed
	if !errors.Is(err, ErrUnreachable) || !errors.Is(err, os.ErrPermission) || !strings.Contains(err.Error(), path+" cannot be read") {
		t.Errorf("%v", err)
	}
}
