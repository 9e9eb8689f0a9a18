package ycsb

import (
	"embed"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/barograph/barograph/fault"
)

//go:embed workloads
var shipped embed.FS

// Workloads lists YCSB's own workloads, sorted: workloada … workloadf.
func Workloads() []string { return named(true) }

// Mixes lists the further ones that are shipped, sorted; each says at its head
// what it is for and with which to compare it.
func Mixes() []string { return named(false) }

func named(core bool) []string {
	entries, err := fs.ReadDir(shipped, "workloads")
	if err != nil {
		panic(err) // they are in the program
	}
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "workload") == core {
			names = append(names, e.Name())
		}
	}
	return names
}

// ReadWorkload reads a file of properties, or else the shipped workload of that
// name; YCSB's workloads/workloada is found too, where there is no such file.
func ReadWorkload(name string) (Properties, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		var known error
		if text, known = shipped.ReadFile("workloads/" + path.Base(name)); known != nil {
			return nil, &fault.Error{File: name, Problem: "cannot be read", Err: err, Cure: "name a file of properties, or one of " + strings.Join(append(Workloads(), Mixes()...), ", ")}
		}
	}
	return ParseProperties(name, text)
}
