package engine

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/barograph/barograph/internal/fault"
)

// Holder is another process that has a file open, or one below a folder, and its command
// line, as far as the system tells (Linux does); 0 = none is known.
func Holder(path string) (pid int, command string) {
	path, err := filepath.Abs(path)
	open, failed := filepath.Glob("/proc/[0-9]*/fd/*")
	own := strconv.Itoa(os.Getpid())
	for i := 0; i < len(open) && errors.Join(err, failed) == nil; i++ {
		holder := strings.Split(open[i], "/")[2]
		to, _ := os.Readlink(open[i]) // one that is closed meanwhile is none
		if holder != own && (to == path || strings.HasPrefix(to, path+"/")) {
			pid, _ = strconv.Atoi(holder)                          // digits, of the pattern
			line, _ := os.ReadFile("/proc/" + holder + "/cmdline") // it may end meanwhile
			words := bytes.Split(bytes.TrimRight(line, "\x00"), []byte{0})
			words[0] = []byte(filepath.Base(string(words[0])))
			return pid, fault.Redact(string(bytes.Join(words, []byte(" "))))
		}
	}
	return 0, ""
}

// Locked is the fault of an embedded engine whose files another process has open.
func Locked(path string, err error) error {
	problem := "is open in another process"
	if pid, command := Holder(path); pid != 0 {
		problem = fmt.Sprintf("is open in process %d (%s)", pid, command)
	}
	return &fault.Error{File: path, Problem: problem, Err: fmt.Errorf("%w: %w", ErrLocked, err), Cure: "wait until that process has ended, or end it"}
}
