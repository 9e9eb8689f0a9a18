package engine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/barograph/barograph/internal/fault"
)

// Holder returns the process id and the command line of another process that has a file
// open, or a file below a folder. It reads /proc and finds nothing on systems other than
// Linux; pid 0 = no process was found.
func Holder(path string) (pid int, command string) {
	path, err := filepath.Abs(path)
	if target, failed := filepath.EvalSymlinks(path); failed == nil { // /proc names files without symbolic links
		path = target
	}
	open, failed := filepath.Glob("/proc/[0-9]*/fd/*")
	ownPID := strconv.Itoa(os.Getpid())
	for i := 0; i < len(open) && errors.Join(err, failed) == nil; i++ {
		holder := strings.Split(open[i], "/")[2]
		to, _ := os.Readlink(open[i]) // an error: the file was closed meanwhile
		if holder != ownPID && (to == path || strings.HasPrefix(to, path+"/")) {
			pid, _ = strconv.Atoi(holder)                          // the pattern matches only digits
			line, _ := os.ReadFile("/proc/" + holder + "/cmdline") // the process may exit meanwhile
			words := strings.Split(strings.TrimRight(string(line), "\x00"), "\x00")
			words[0] = filepath.Base(words[0])
			return pid, strings.Join(fault.RedactArgs(words), " ")
		}
	}
	return 0, ""
}

// LockedError is the fault of an embedded engine whose files another process has open.
func LockedError(path string, err error) error {
	problem := "is open in another process"
	if pid, command := Holder(path); pid != 0 {
		problem = fmt.Sprintf("is open in process %d (%s)", pid, command)
	}
	return &fault.Error{File: path, Problem: problem, Err: classified{err, ErrLocked}, Cure: "wait until that process has ended, or end it"}
}
