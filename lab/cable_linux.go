package lab

import (
	"errors"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"

	"github.com/barograph/barograph/engine/launch"
)

// setConnected connects a node's cable, or disconnects it.
func setConnected(iso *launch.Isolation, node int, connected bool) error {
	cable, err := netlink.LinkByName(namespace(iso, node))
	switch {
	case err != nil:
		return err
	case connected:
		return netlink.LinkSetUp(cable)
	}
	return netlink.LinkSetDown(cable)
}

// queueFor returns the queue of a link that delays packets as a fault requires; nil = none.
func queueFor(link int, f Fault) netlink.Qdisc {
	attrs := netlink.QdiscAttrs{LinkIndex: link, Parent: netlink.HANDLE_ROOT, Handle: netlink.MakeHandle(1, 0)}
	switch f.Action {
	case Delay:
		latency := uint32(f.By.Microseconds()) //nolint:gosec // at most maxDelay
		return netlink.NewNetem(attrs, netlink.NetemQdiscAttrs{Latency: latency, Limit: maxDelayed})
	case Bandwidth:
		rate := f.Rate.bytes()
		return &netlink.Tbf{
			QdiscAttrs: attrs, Rate: rate,
			Buffer: netlink.Xmittime(rate, uint32(max(rate/100, packet))), //nolint:gosec // at most maxRate
			Limit:  uint32(max(rate/10, 16*packet)),                       //nolint:gosec // likewise
		}
	}
	return nil
}

const (
	packet     = 1514    // bytes of an Ethernet frame
	maxDelayed = 100_000 // packets that may wait for their delay, so many that the queue loses none
)

// setQueue applies a fault to the packets of a node's cable, or removes its effect. A bandwidth applies at both
// ends of the cable. A delay applies only to the packets that the node sends, as with Isolate.Latency.
func setQueue(iso *launch.Isolation, node int, f Fault) error {
	ns, err := netns.GetFromName(namespace(iso, node))
	if err != nil {
		return err
	}
	defer ns.Close() //nolint:errcheck // only a handle
	inside, err := netlink.NewHandleAt(ns)
	if err != nil {
		return err
	}
	defer inside.Close()
	err = replaceQueue(inside, insideLink, f)
	if f.Action == Bandwidth || f.Action == FullBandwidth {
		err = errors.Join(err, replaceQueue(&netlink.Handle{}, namespace(iso, node), f))
	}
	return err
}

// replaceQueue replaces the queue of a link by the one for f, or removes it if f needs none.
func replaceQueue(h *netlink.Handle, name string, f Fault) error {
	link, err := h.LinkByName(name)
	if err != nil {
		return err
	}
	if q := queueFor(link.Attrs().Index, f); q != nil {
		return h.QdiscReplace(q)
	}
	all, err := h.QdiscList(link)
	if err != nil {
		return err
	}
	for _, q := range all {
		if a := q.Attrs(); a.Parent == netlink.HANDLE_ROOT && a.Handle != 0 { // else it is the kernel's own
			err = errors.Join(err, h.QdiscDel(q))
		}
	}
	return err
}

// tryQueue applies a fault to packets in a temporary network namespace.
func tryQueue(f Fault) error {
	if queueFor(0, f) == nil {
		return nil // it removes a queue
	}
	return onThread(func() error {
		ns, err := netns.New()
		if err != nil {
			return err
		}
		defer ns.Close() //nolint:errcheck // closing the namespace removes it
		return replaceQueue(&netlink.Handle{}, "lo", f)
	})
}
