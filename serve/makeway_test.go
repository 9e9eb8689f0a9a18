package serve_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
)

// TestPageMakesWayForALoad: the page releases an archive to a waiting load, and gives the reason
// when it cannot answer during the load.
func TestPageMakesWayForALoad(t *testing.T) {
	file := loadArchive(t, t.TempDir())
	p := newPage(t, file)
	const asks = "/api/v1/scorecard?archive=two.pebble&line_type=SAL1L2&candidate=ECM&baseline=GFS&fcst_var=HGT&fcst_lev=P500"
	if status, text := p.get(asks, nil); status != http.StatusOK {
		t.Fatalf("%d: %s", status, text)
	}
	if _, err := registry.Open(t.Context(), "pebble:"+file, engine.Options{}); !errors.Is(err, engine.ErrLocked) {
		t.Fatalf("while the page has it open: %v", err)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(design.Loading{PID: os.Getpid(), Host: host, Since: time.Now(), Command: "barograph load x", Waiting: true})
	if err == nil {
		err = os.WriteFile(file+".loading", text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	var db *engine.Engine
	for try := 0; db == nil && try < 100; try++ {
		time.Sleep(100 * time.Millisecond)
		if db, err = registry.Open(t.Context(), "pebble:"+file, engine.Options{}); err != nil && !errors.Is(err, engine.ErrLocked) {
			t.Fatal(err)
		}
	}
	if db == nil {
		t.Fatal("the page did not close the archive")
	}
	if status, text := p.get(asks, nil); status == http.StatusOK || !strings.Contains(text, fmt.Sprint("is being loaded by process ", os.Getpid())) {
		t.Errorf("while it is loaded: %d: %s", status, text)
	}
	if err := errors.Join(db.Close(), os.Remove(file+".loading")); err != nil {
		t.Fatal(err)
	}
	if status, text := p.get(asks, nil); status != http.StatusOK {
		t.Errorf("after the load: %d: %s", status, text)
	}
}
