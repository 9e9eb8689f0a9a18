package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/barograph/barograph/fault"
)

// URLFile lies in a lab's folder, for its owner alone: the server's URL.
const URLFile = "url"

// EnvLab names the folder of the labs; see LabDir.
const EnvLab = "BAROGRAPH_LAB"

// LabDir is the folder that labs are in where nothing else is said: that of
// EnvLab, or one on a disk that lasts, as /tmp may be in memory.
func LabDir() string {
	if dir := os.Getenv(EnvLab); dir != "" {
		return dir
	}
	parent := os.TempDir()
	if info, err := os.Stat("/var/tmp"); err == nil && info.IsDir() {
		parent = "/var/tmp"
	}
	return filepath.Join(parent, "barograph-lab-"+strconv.Itoa(os.Geteuid()))
}

// ResolveURL returns the URL that @FILE or lab:ENGINE stands for, so that no
// password need stand in a command line; others are returned as they are.
func ResolveURL(raw string) (string, error) {
	name, isFile := strings.CutPrefix(raw, "@")
	cure := "name a file that holds one URL"
	if engine, isLab := strings.CutPrefix(raw, "lab:"); isLab {
		name, isFile = filepath.Join(LabDir(), filepath.Base(engine), URLFile), true
		cure = "start the server: `barograph lab up " + engine + "`; or name the file of a lab elsewhere: @DIR/" + engine + "/" + URLFile
		if err := ownFile(name); err != nil {
			return "", &fault.Error{Setting: raw, Problem: "is no lab of yours", Err: fmt.Errorf("%w: %w", ErrUnreachable, err), Cure: cure}
		}
	}
	if !isFile {
		return raw, nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return "", &fault.Error{Setting: raw, Problem: "cannot be read", Err: err, Cure: cure}
	}
	url := strings.TrimSpace(string(text))
	if url == "" || strings.HasPrefix(url, "@") || strings.Contains(url, "\n") {
		return "", &fault.Error{Setting: raw, File: name, Problem: "holds no URL", Cure: cure}
	}
	return url, nil
}
