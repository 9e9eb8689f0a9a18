package river_test

import (
	"testing"
	"time"

	"github.com/barograph/barograph/river"
)

// TestRiverStatus: riverstatus contains the highest forecast of each location, element and type-source. The poster
// joins forecasts as AWIPS does.
func TestRiverStatus(t *testing.T) {
	url, db := ihfs(t, "crests")
	exec := func(sql string) {
		t.Helper()
		if _, err := db.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	exec(stations)
	exec("INSERT INTO ingestfilter VALUES ('AAA','HG',0,'FF','Z',1,'T','F','F'), " +
		"('AAA','QR',0,'FZ','Z',1,'T','F','F'), ('BBB','HG',0,'FZ','Z',1,'T','F','F')")
	exec("INSERT INTO riverstat VALUES ('AAA', 'F'), ('BBB', 'T')")
	exec("INSERT INTO riverstatus (lid, pe, ts, value) VALUES ('AAA','HG','RZ',1), ('AAA','HG','FX',99), ('OFF','HG','FZ',7)")
	tokens := river.DefaultTokens()
	tokens.MaxForecast = true
	p, err := river.OpenIHFS(t.Context(), url, tokens)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	line := func(kind, station string, basis, valid time.Duration, what string) string {
		return kind + " " + station + " " + at(valid) + "/DC" + time.Now().UTC().Add(-basis).Format("200601021504") + "/" + what
	}
	// The messages have minutes, and all that follows must happen in one minute.
	if left := time.Until(time.Now().Truncate(time.Minute).Add(time.Minute)); left < 20*time.Second {
		time.Sleep(left)
	}
	const h = time.Hour
	old, fresh := 24*h, h
	texts := []string{product(-h,
		line(".A", "AAA", old, 3*h, "HGIFZ 20"), line(".A", "AAA", old, 9*h, "HGIFZ 30"), line(".A", "AAA", old, 48*h, "HGIFZ 40"),
		line(".A", "AAA", fresh, 6*h, "HGIFZ 10"), line(".A", "AAA", fresh, 12*h, "HGIFZ 12"), line(".A", "AAA", fresh, 7*h, "HGIFZ M"),
		line(".A", "AAA", fresh, -2*h, "HGIFZ 35"), line(".A", "AAA", 80*h, 2*h, "HGIFZ 36"), line(".A", "AAA", fresh, 8*h, "HGIFZZ5 37"),
		line(".A", "AAA", fresh, 6*h, "HGIFF 5"), line(".A", "AAA", fresh, 9*h, "HGIFF 5"), line(".A", "AAA", fresh, 6*h, "QRIFZ 1.5"),
		line(".A", "BBB", old, 3*h, "HGIFZ 9"), line(".A", "BBB", fresh, 6*h, "HGIFZ 2"), line(".A", "BBB", fresh, 9*h, "HGIFZ 3"))}
	post(t, p, texts...)
	hour := func(d time.Duration) string { return time.Now().UTC().Add(d).Format("0102T15:04") }
	const query = "SELECT lid, pe, ts, value, validtime FROM riverstatus WHERE lid <> 'OFF' AND ts <> 'RZ'"
	want := "AAA HG FF 5 " + hour(6*h) + "\nAAA HG FZ 20 " + hour(3*h) + "\nAAA QR FZ 1500 " + hour(6*h) + "\nBBB HG FZ 3 " + hour(9*h)
	if got := rows(t, db, query); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got := rows(t, db, "SELECT lid, value FROM riverstatus WHERE ts = 'RZ' OR lid = 'OFF'"); got != "AAA 1\nOFF 7" {
		t.Errorf("what no forecast of these products is of: %s", got)
	}
	before := everything(t, db)
	post(t, p, texts...)
	if after := everything(t, db); after != before {
		t.Errorf("posting again changes\n%s\nto\n%s", before, after)
	}
	post(t, p, product(-50*time.Minute,
		line(".AR", "BBB", fresh, 6*h, "HGIFZ M"),
		line(".AR", "BBB", fresh, 9*h, "HGIFZ M"),
		line(".AR", "BBB", old, 3*h, "HGIFZ M")))
	if got := rows(t, db, "SELECT value FROM riverstatus WHERE lid = 'BBB'"); got != "" {
		t.Errorf("no forecast is left, and riverstatus has %s", got)
	}
}
