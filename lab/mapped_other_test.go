//go:build !linux

package lab_test

import "errors"

const envMaps = "LAB_TEST_MAPS" // see mapped_linux_test.go

func mapFiles() error { return errors.New("mapped files are tested on Linux") }
func endFirstThread() {}
