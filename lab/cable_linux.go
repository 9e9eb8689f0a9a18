package lab

import (
	"errors"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"

	"github.com/barograph/barograph/engine/launch"
)

// cut pulls a node's cable, or plugs it in again.
func cut(iso *launch.Isolation, node int, out bool) error {
	cable, err := netlink.LinkByName(namespace(iso, node))
	switch {
	case err != nil:
		return err
	case out:
		return netlink.LinkSetDown(cable)
	}
	return netlink.LinkSetUp(cable)
}

// before returns the queue that delays packets in front of a link, as a fault requires; nil = none.
func before(link int, f Fault) netlink.Qdisc {
	at := netlink.QdiscAttrs{LinkIndex: link, Parent: netlink.HANDLE_ROOT, Handle: netlink.MakeHandle(1, 0)}
	switch f.Action {
	case Delay:
		return netlink.NewNetem(at, netlink.NetemQdiscAttrs{Latency: uint32(f.By.Microseconds()), Limit: delayed}) //nolint:gosec // not negative
	case Bandwidth:
		rate := f.Rate.bytes()
		return &netlink.Tbf{
			QdiscAttrs: at, Rate: rate,
			Buffer: netlink.Xmittime(rate, uint32(max(rate/100, packet))), //nolint:gosec // of at most mostRate
			Limit:  uint32(max(rate/10, 16*packet)),                       //nolint:gosec // likewise
		}
	}
	return nil
}

const (
	packet  = 1514    // bytes of an Ethernet frame
	delayed = 100_000 // packets that may wait for their delay: none is to be lost
)

// queue delays packets in front of a node's cable, or stops that. A small bandwidth applies at both
// ends. A delay applies to what the node sends, as with Isolate.Latency.
func queue(iso *launch.Isolation, node int, f Fault) error {
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
	err = wait(inside, insideLink, f)
	if f.Action == Bandwidth || f.Action == AllOfIt {
		err = errors.Join(err, wait(&netlink.Handle{}, namespace(iso, node), f))
	}
	return err
}

// wait replaces the queue in front of a link by that of f.
func wait(h *netlink.Handle, name string, f Fault) error {
	link, err := h.LinkByName(name)
	if err != nil {
		return err
	}
	if q := before(link.Attrs().Index, f); q != nil {
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

// tryQueue applies a fault to packets in a network namespace that nobody uses.
func tryQueue(f Fault) error {
	if before(0, f) == nil {
		return nil // it repairs
	}
	return onThread(func() error {
		ns, err := netns.New()
		if err != nil {
			return err
		}
		defer ns.Close() //nolint:errcheck // closing the namespace removes it
		return wait(&netlink.Handle{}, "lo", f)
	})
}
