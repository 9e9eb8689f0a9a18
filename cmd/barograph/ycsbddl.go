package main

import (
	"os"
	"slices"
	"strings"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/study/ycsb"
)

// maxDDLBytes is the largest size of a script in bytes.
const maxDDLBytes = 256 << 10

// engineScript is one --ddl: a script with its engine and layout.
type engineScript struct {
	scheme string
	layout kv.Layout // "" = the engine's first
	*kv.DDL
}

// scripts reads the flags --ddl for the engines of some URLs.
func (e *env) scripts(flags, urls []string) (all []engineScript, err error) {
	var schemes []string
	for _, u := range urls {
		d, _, err := e.engines.Parse(u)
		if err != nil {
			return nil, usage(err)
		}
		if d.Place != engine.Memory && !slices.Contains(schemes, d.Scheme) {
			schemes = append(schemes, d.Scheme)
		}
	}
	for _, flag := range flags {
		x, file := engineScript{}, flag
		if before, after, ok := strings.Cut(flag, "="); ok {
			scheme, layout, _ := strings.Cut(before, "/")
			if _, known := e.engines.Find(scheme); known {
				x.scheme, x.layout, file = scheme, kv.Layout(layout), after
			}
		}
		switch {
		case x.scheme == "" && len(schemes) == 1:
			x.scheme = schemes[0]
		case x.scheme == "":
			return nil, fault.Misuse("--ddl "+flag, "does not name its engine, and there are several",
				"write --ddl ENGINE=FILE, for example --ddl postgres="+flag)
		case !slices.Contains(schemes, x.scheme):
			return nil, fault.Misuse("--ddl "+flag, "belongs to "+x.scheme+", which no --engine names", "omit it, or add --engine "+x.scheme+":…")
		}
		if x.DDL, err = readDDL(file); err != nil {
			return nil, usage(err)
		}
		if slices.ContainsFunc(all, func(o engineScript) bool { return o.scheme == x.scheme && o.Name() == x.Name() }) {
			return nil, fault.Misuse("--ddl "+flag, "occurs twice: another file with this name has the same text", "name each script once")
		}
		all = append(all, x)
	}
	return all, nil
}

func readDDL(file string) (*kv.DDL, error) {
	const cure = "name a file of SQL statements that create the table"
	info, err := os.Stat(file)
	if err != nil {
		return nil, &fault.Error{File: file, Problem: "cannot be read", Err: err, Cure: cure}
	}
	if !info.Mode().IsRegular() || info.Size() > maxDDLBytes {
		return nil, &fault.Error{File: file, Problem: "is not a script: it must be a file of at most 256 KiB", Cure: cure}
	}
	text, err := os.ReadFile(file)
	return &kv.DDL{File: file, Text: string(text)}, err
}

// form returns how load and run create their table: in a layout, or by a script.
func (f *ycsbFlags) form(e *env) (ycsb.Form, error) {
	form := ycsb.Form{Layout: kv.Layout(f.layout)}
	all, err := e.scripts(f.scripts, []string{f.url})
	if err != nil || len(all) == 0 {
		return form, err
	}
	if len(all) > 1 {
		return form, fault.Misuse("--ddl", "occurs several times, but load and run have one table",
			"name one script, or compare them with `barograph ycsb sweep`")
	}
	x := all[0]
	if x.layout != "" && form.Layout != "" && x.layout != form.Layout {
		return form, fault.Misuse("--ddl", "names the layout "+string(x.layout)+", and --layout is "+f.layout, "omit one of them")
	}
	if form.DDL = x.DDL; x.layout != "" {
		form.Layout = x.layout
	}
	return form, nil
}

// forms lists the tables of one engine of a sweep: one for each layout of --layout, and one for each script. If there
// are several, each layout has its own table name. Each script has its own schema, because scripts also name indexes
// and partitions.
func (s *sweep) forms(d *engine.Driver, table string) (all []ycsb.Form) {
	if d.Place == engine.Memory {
		return []ycsb.Form{{}}
	}
	for _, l := range s.layouts {
		all = append(all, ycsb.Form{Layout: l, Table: table + "_" + string(l)})
	}
	for _, x := range s.scripts {
		if x.scheme == d.Scheme {
			all = append(all, ycsb.Form{Layout: x.layout, DDL: x.DDL, Space: kv.SpaceOf(x.Name())})
		}
	}
	switch len(all) {
	case 0:
		all = []ycsb.Form{{}}
	case 1:
		all[0].Table, all[0].Space = "", ""
	}
	return all
}

// layoutsOf reads --layout of a sweep.
func layoutsOf(flag string) (all []kv.Layout, err error) {
	if flag == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(flag, ",") {
		l := kv.Layout(strings.TrimSpace(part))
		if l == "" || slices.Contains(all, l) {
			return nil, fault.Misuse("--layout "+flag, "is not a list of different layouts", "write for example --layout columns,hash")
		}
		all = append(all, l)
	}
	return all, nil
}
