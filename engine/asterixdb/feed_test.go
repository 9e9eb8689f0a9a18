package asterixdb

import (
	"context"
	"strings"
	"testing"
)

// AsterixDB splits "host:port" at each colon, so an IPv6 address would become another host and another port.
func TestFeedNeedsIPv4(t *testing.T) {
	a := &openArchive{db: &database{clientAddress: "2001:db8::7"}}
	if _, err := a.newFeed(context.Background(), "t"); err == nil || !strings.Contains(err.Error(), "client=2001:db8::7 is an IPv6 address") {
		t.Errorf("error %v", err)
	}
	a.db.clientAddress = "192.0.2.1"
	f, err := a.newFeed(context.Background(), "t")
	if err != nil {
		t.Fatal(err)
	}
	defer f.l.Close()
	if !strings.HasPrefix(f.from, "192.0.2.1:") {
		t.Errorf("the nodes are to connect to %s", f.from)
	}
}
