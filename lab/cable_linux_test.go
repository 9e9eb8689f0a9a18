package lab

import (
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/barograph/barograph/engine/launch"
)

// TestQueueFor checks the queues that the kernel receives. A token bucket contains 10 ms of the rate, or one packet. At
// most 100 ms of the rate, or 16 packets, may wait.
func TestQueueFor(t *testing.T) {
	for rate, want := range map[string]netlink.Tbf{
		"8kbit":   {Rate: 1_000, Buffer: netlink.Xmittime(1_000, packet), Limit: 16 * packet},
		"10mbit":  {Rate: 1_250_000, Buffer: netlink.Xmittime(1_250_000, 12_500), Limit: 125_000},
		"100gbit": {Rate: 12_500_000_000, Buffer: netlink.Xmittime(12_500_000_000, 125_000_000), Limit: 1_250_000_000},
	} {
		r, err := parseRate(rate)
		if err != nil {
			t.Fatal(err)
		}
		q, ok := queueFor(7, Fault{Action: Bandwidth, Rate: r}).(*netlink.Tbf)
		if !ok || q.LinkIndex != 7 || q.Parent != netlink.HANDLE_ROOT {
			t.Fatalf("%s: %+v", rate, q)
		}
		if q.Rate != want.Rate || q.Buffer != want.Buffer || q.Limit != want.Limit {
			t.Errorf("%s: %+v, want %+v", rate, q, want)
		}
		if q.Buffer == 0 {
			t.Errorf("%s: nothing may pass", rate)
		}
	}
	q, ok := queueFor(7, Fault{Action: Delay, By: 5 * time.Millisecond}).(*netlink.Netem)
	if !ok {
		t.Fatal("a delay has no queue of netem")
	}
	want := netlink.NewNetem(q.QdiscAttrs, netlink.NetemQdiscAttrs{Latency: 5000})
	if q.Latency != want.Latency || q.Latency == 0 || q.Loss != 0 || q.Limit != maxDelayed {
		t.Errorf("%+v", q)
	}
	var before uint32
	for by := time.Second; by <= maxDelay; by += time.Second { // a number of units that is too large would start again at 0
		q, ok := queueFor(7, Fault{Action: Delay, By: by}).(*netlink.Netem)
		if !ok || q.Latency <= before {
			t.Fatalf("%s: %+v", by, q)
		}
		before = q.Latency
	}
	if err := isolate(&launch.Cluster{}, &Isolate{Latency: maxDelay + 1}); err == nil || !strings.Contains(err.Error(), "--latency") {
		t.Errorf("a latency of more than %s: %v", maxDelay, err)
	}
	for _, a := range []Action{NoDelay, FullBandwidth, Kill} {
		if q := queueFor(7, Fault{Action: a}); q != nil {
			t.Errorf("%s: %+v", a, q)
		}
	}
}
