package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/shirou/gopsutil/v4/process"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/internal/fault"
)

// LoadingFile is the file in which a load of an embedded archive names itself; ""
// for other engines.
func LoadingFile(d *Driver, u *url.URL) string {
	if path := Path(u); d.Place == Embedded && path != "" {
		return strings.TrimRight(path, "/") + ".loading"
	}
	return ""
}

// LoadedBy reads the load that a file of LoadingFile names; nil = none is in flight.
func LoadedBy(file string) *design.Loading {
	var l design.Loading
	text, err := os.ReadFile(file)
	if file == "" || err != nil || json.Unmarshal(text, &l) != nil || !InFlight(&l) {
		return nil
	}
	return &l
}

// InFlight reports whether a load may be in flight. One of another host may; one of
// this host is, if its process existed when it started.
func InFlight(l *design.Loading) bool {
	if host, _ := os.Hostname(); host != l.Host {
		return true
	}
	p, err := process.NewProcess(int32(l.PID)) //nolint:gosec // as it was written
	if err != nil {
		return false
	}
	began, err := p.CreateTime() // ms
	return err != nil || time.UnixMilli(began).Before(l.Since.Add(2*time.Second))
}

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
