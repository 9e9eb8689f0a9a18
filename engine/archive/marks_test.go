package archive

import "testing"

func TestCountReplacedKeepsTheSum(t *testing.T) {
	m := Mark{Path: "a", Read: 10, Stored: 8, Replaced: 1, Quarantined: 1}
	m.CountReplaced(CommitResult{Replaced: map[string]int64{"a": 3, "b": 5}})
	if m.Stored != 5 || m.Replaced != 4 || m.Read != m.Stored+m.Replaced+m.Quarantined {
		t.Errorf("%+v", m)
	}
}
