package design

import "testing"

// TestMergedLoading: a commit sets or removes the name of a load only if the catalog names none, or one that it continues.
func TestMergedLoading(t *testing.T) {
	one, same, other := &Loading{PID: 1, Command: "x"}, &Loading{PID: 2, Command: "x"}, &Loading{PID: 3, Command: "y"}
	inputs := &Loading{PID: 1, Command: "x", Inputs: []string{"/d/a", "/e"}}
	for name, c := range map[string]struct{ stored, merged, want *Loading }{
		"the first name":            {nil, one, one},
		"no name":                   {one, nil, one},
		"the same command":          {one, same, same},
		"another command":           {one, other, one},
		"the end of the command":    {one, &Loading{Command: "x"}, nil},
		"the end of another load":   {one, &Loading{Command: "y"}, one},
		"an end without a name":     {nil, &Loading{Command: "x"}, nil},
		"the end of all inputs":     {&Loading{PID: 1, Command: "x", Inputs: []string{"/d/a", "/e"}}, &Loading{Command: "y", Inputs: []string{"/e", "/d"}}, nil},
		"the end of one input":      {inputs, &Loading{Command: "y", Inputs: []string{"/d/a", "/ee"}}, inputs},
		"the end in another folder": {inputs, &Loading{Command: "x", Inputs: []string{"/f/a", "/e"}}, inputs},
		"unknown inputs":            {one, &Loading{Command: "y", Inputs: []string{"/"}}, one},
	} {
		stored, merged := NewCatalog("s"), NewCatalog("s")
		stored.Loading, merged.Loading = c.stored, c.merged
		if stored.Merge(merged); stored.Loading != c.want {
			t.Errorf("%s: %+v, want %+v", name, stored.Loading, c.want)
		}
	}
}

// TestRereadFiles: the refused conflicts of a file that is read again disappear, and no others.
func TestRereadFiles(t *testing.T) {
	stored, commit := NewCatalog("s"), NewCatalog("s")
	for i, c := range []Conflict{{Refused: true}, {}, {Refused: true}} {
		c.Dropped = Line{[]string{"a", "a", "b"}[i], uint32(i + 1)}
		stored.AddConflict(c)
	}
	commit.Reread["a"] = true
	commit.AddConflict(Conflict{Refused: true, Dropped: Line{"a", 9}})
	stored.Merge(commit)
	var lines []uint32
	for _, c := range stored.Conflicts {
		lines = append(lines, c.Dropped.Line)
	}
	if len(lines) != 3 || lines[0] != 2 || lines[1] != 9 || lines[2] != 3 {
		t.Errorf("the conflicts of lines %d", lines)
	}
}
