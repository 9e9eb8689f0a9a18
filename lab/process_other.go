//go:build !linux

package lab

import (
	"errors"
	"os/exec"
	"syscall"
)

// Supported reports whether labs can be started on this system. They need Debian's or Ubuntu's packages, and /proc.
const Supported = false

var errSystem = errors.New("labs and throttled disks need Linux") //nolint:gochecknoglobals // an error value

func identify(int) (Process, bool)               { return Process{}, false }
func (Process) alive() bool                      { return false }
func (Process) stop(syscall.Signal) error        { return errSystem }
func (Process) signal(syscall.Signal) error      { return errSystem }
func (Process) family() []Process                { return nil }
func killAll([]Process) error                    { return errSystem }
func isOwned(string) bool                        { return false }
func reserve(int) bool                           { return true }
func detach(*exec.Cmd, *account)                 {}
func lockDir(string) (release func(), err error) { return nil, errSystem }
