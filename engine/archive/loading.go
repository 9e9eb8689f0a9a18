package archive

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/shirou/gopsutil/v4/process"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
)

// LoadingFile returns the path of the file in which a load records its process; "" for an
// engine that is not embedded.
func LoadingFile(d *engine.Driver, u *url.URL) string {
	if path := engine.Path(u); d.Place == engine.Embedded && path != "" {
		return LoadingFileOf(path)
	}
	return ""
}

// LoadingFileOf is LoadingFile for the path of an archive. The file is beside the archive itself, even if the path is a
// symbolic link.
func LoadingFileOf(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil { // an error: the archive does not exist yet
		path = target
	}
	return strings.TrimRight(path, "/") + ".loading"
}

// ReadLoading returns the load that a LoadingFile names; nil = no load is in flight.
func ReadLoading(file string) *design.Loading {
	var l design.Loading
	if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() { // reading a pipe would wait forever
		return nil
	}
	text, err := os.ReadFile(file)
	if err != nil || json.Unmarshal(text, &l) != nil || !InFlight(&l) {
		return nil
	}
	return &l
}

// InFlight reports whether a load may still be in flight: always for a load of another host,
// and for a load of this host if its process still exists. A process that started after the
// load is another one to which the system gave the same process id. It counts as the load's up to 2 s
// after the load's start, because the system reports the start of a process only to about a second.
func InFlight(l *design.Loading) bool {
	if host, _ := os.Hostname(); host != l.Host {
		return true
	}
	p, err := process.NewProcess(int32(l.PID)) //nolint:gosec // the file contains a pid
	if err != nil {
		return false
	}
	began, err := p.CreateTime() // ms
	return err != nil || time.UnixMilli(began).Before(l.Since.Add(2*time.Second))
}
