package lab

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/containerd/cgroups/v3"
	"github.com/containerd/cgroups/v3/cgroup1"
	"github.com/containerd/cgroups/v3/cgroup2"
	specs "github.com/opencontainers/runtime-spec/specs-go"
	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"

	"github.com/barograph/barograph/engine/launch"
	"github.com/barograph/barograph/internal/fault"
)

// insideLink is a node's end of its cable.
const insideLink = "eth0"

// bridgeHost is the last byte of this machine's address in an isolated lab.
const bridgeHost = 254

// isolate plans the isolation of a cluster: a name and a subnet that nobody
// uses here, and from it the addresses of the nodes.
func isolate(c *launch.Cluster, o *Isolate) error {
	if os.Geteuid() != 0 {
		return &fault.Error{Setting: "--isolate", Problem: "needs root: it makes network namespaces and control groups", Cure: "run as root, or without it: the nodes then share this machine's network"}
	}
	name := fmt.Sprintf("bg%08x", rand.Uint32())
	subnet, err := freeSubnet()
	if err != nil {
		return err
	}
	c.Isolation = &launch.Isolation{Name: name, Subnet: subnet.String(), CPUs: o.CPUs, Memory: o.Memory, Latency: o.Latency}
	for i := range c.Nodes {
		c.Nodes[i].Host = hostIn(subnet, i+1).String()
	}
	return nil
}

// freeSubnet returns one of 10.213.0.0/24 … 10.213.255.0/24 in which this machine has no address.
// That range is private and seldom used.
func freeSubnet() (*net.IPNet, error) {
	used, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	for _, third := range rand.Perm(256) {
		s := &net.IPNet{IP: net.IPv4(10, 213, byte(third), 0).To4(), Mask: net.CIDRMask(24, 32)}
		free := true
		for _, a := range used {
			if n, ok := a.(*net.IPNet); ok && (s.Contains(n.IP) || n.Contains(s.IP)) {
				free = false
			}
		}
		if free {
			return s, nil
		}
	}
	return nil, &fault.Error{Setting: "--isolate", Problem: "no subnet of 10.213.0.0/16 is free", Cure: "end other labs, or run without --isolate"}
}

func hostIn(s *net.IPNet, last int) net.IP {
	ip := s.IP.To4()
	return net.IPv4(ip[0], ip[1], ip[2], byte(last)).To4()
}

func namespace(iso *launch.Isolation, node int) string { return iso.Name + "n" + strconv.Itoa(node+1) }

// connect creates the missing bridge and namespaces: after a reboot all of them.
func connect(c *launch.Cluster) error {
	iso := c.Isolation
	if iso == nil {
		return nil
	}
	_, subnet, err := net.ParseCIDR(iso.Subnet)
	if err != nil {
		return err
	}
	if _, err := netlink.LinkByName(iso.Name); err == nil {
		return nil
	}
	bridge := &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: iso.Name}}
	if err := netlink.LinkAdd(bridge); err != nil {
		return networkError("bridge "+iso.Name, err)
	}
	if err := address(bridge, subnet, bridgeHost); err != nil {
		return networkError("bridge "+iso.Name, err)
	}
	for i := range c.Nodes {
		if err := plug(iso, bridge, subnet, i); err != nil {
			return networkError("network namespace "+namespace(iso, i), err)
		}
	}
	return nil
}

func networkError(what string, err error) error {
	if _, explained := errors.AsType[*fault.Error](err); explained {
		return err
	}
	return &fault.Error{Setting: "--isolate", Problem: "cannot make the " + what, Err: err, Cure: "the kernel must allow bridges, veth pairs and network namespaces; else run without --isolate"}
}

// address gives a link an address in the subnet and switches it on.
func address(l netlink.Link, subnet *net.IPNet, last int) error {
	a := &netlink.Addr{IPNet: &net.IPNet{IP: hostIn(subnet, last), Mask: subnet.Mask}}
	return errors.Join(netlink.AddrAdd(l, a), netlink.LinkSetUp(l))
}

// plug makes a node's namespace and a cable from it to the bridge.
func plug(iso *launch.Isolation, bridge netlink.Link, subnet *net.IPNet, node int) error {
	name := namespace(iso, node)
	home, err := netns.Get()
	if err != nil {
		return err
	}
	defer home.Close() //nolint:errcheck // only a handle
	var ns netns.NsHandle
	if err := onThread(func() error { ns, err = netns.NewNamed(name); return err }); err != nil {
		return err
	}
	defer ns.Close() //nolint:errcheck // only a handle
	cable := &netlink.Veth{
		LinkAttrs: netlink.LinkAttrs{Name: name, MasterIndex: bridge.Attrs().Index}, PeerName: insideLink, PeerNamespace: netlink.NsFd(ns),
	}
	if err := netlink.LinkAdd(cable); err != nil {
		return err
	}
	if err := netlink.LinkSetUp(cable); err != nil {
		return err
	}
	h, err := netlink.NewHandleAt(ns)
	if err != nil {
		return err
	}
	defer h.Close()
	return wire(h, &net.IPNet{IP: hostIn(subnet, node+1), Mask: subnet.Mask}, iso.Latency)
}

// wire switches a namespace's links on.
func wire(h *netlink.Handle, addr *net.IPNet, latency time.Duration) error {
	loopback, err := h.LinkByName("lo")
	if err != nil {
		return err
	}
	if err := h.LinkSetUp(loopback); err != nil {
		return err
	}
	l, err := h.LinkByName(insideLink)
	if err != nil {
		return err
	}
	if err := h.AddrAdd(l, &netlink.Addr{IPNet: addr}); err != nil {
		return err
	}
	if latency > 0 {
		delay := netlink.NewNetem(netlink.QdiscAttrs{LinkIndex: l.Attrs().Index, Parent: netlink.HANDLE_ROOT}, netlink.NetemQdiscAttrs{Latency: uint32(latency.Microseconds())})
		if err := h.QdiscAdd(delay); err != nil {
			return &fault.Error{Setting: "--latency", Problem: "this kernel cannot delay packets", Err: err, Cure: "load its module: modprobe sch_netem; or run without --latency"}
		}
	}
	return h.LinkSetUp(l)
}

// onThread runs f on its own thread. Afterward the thread has its former network namespace again,
// or ends.
func onThread(f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		home, err := netns.Get()
		if err != nil {
			runtime.UnlockOSThread()
			done <- err
			return
		}
		err = f()
		back := netns.Set(home)
		if back == nil {
			runtime.UnlockOSThread() // otherwise the thread ends with this goroutine
		}
		done <- errors.Join(err, back, home.Close())
	}()
	return <-done
}

// within runs f, which starts a process, in a node's namespace: the process
// inherits it.
func within(iso *launch.Isolation, node int, f func() error) error {
	if iso == nil {
		return f()
	}
	return onThread(func() error {
		ns, err := netns.GetFromName(namespace(iso, node))
		if err != nil {
			return err
		}
		defer ns.Close() //nolint:errcheck // only a handle
		if err := netns.Set(ns); err != nil {
			return err
		}
		return f()
	})
}

// disconnect removes what connect and confine created; a missing part is no error.
func disconnect(c *launch.Cluster) error {
	iso := c.Isolation
	if iso == nil {
		return nil
	}
	var all []error
	for i := range c.Nodes {
		all = append(all, release(iso, i))
		name := namespace(iso, i)
		if l, err := netlink.LinkByName(name); err == nil {
			all = append(all, netlink.LinkDel(l))
		}
		if _, err := os.Lstat(filepath.Join("/run/netns", name)); !errors.Is(err, fs.ErrNotExist) {
			all = append(all, netns.DeleteNamed(name))
		}
	}
	if l, err := netlink.LinkByName(iso.Name); err == nil {
		all = append(all, netlink.LinkDel(l))
	}
	return errors.Join(all...)
}

// period is the time over which a CPU limit is kept, in microseconds: the
// kernel's default.
const period = uint64(100_000)

// groupPath is a node's control group.
func groupPath(iso *launch.Isolation, node int) string {
	return "/barograph-" + namespace(iso, node)
}

// controllers are the hierarchies of version 1 that a node is confined in.
func controllers() ([]cgroup1.Subsystem, error) {
	all, err := cgroup1.Default()
	if err != nil {
		return nil, err
	}
	var out []cgroup1.Subsystem
	for _, s := range all {
		switch s.Name() {
		case cgroup1.Cpu, cgroup1.Memory:
			out = append(out, s)
		}
	}
	return out, nil
}

// confine puts a process into its node's control group, and creates the group for the first one.
func confine(iso *launch.Isolation, node, pid int) error {
	if iso == nil {
		return nil
	}
	with := confine1
	if cgroups.Mode() == cgroups.Unified {
		with = confine2
	}
	if err := with(iso, node, pid); err != nil {
		return &fault.Error{Setting: "--isolate", Problem: "cannot limit a node's CPU and memory", Err: err, Cure: "the control groups cpu and memory must be mounted and writable for root"}
	}
	return nil
}

func confine1(iso *launch.Isolation, node, pid int) error {
	quota, length, memory := int64(iso.CPUs*float64(period)), period, iso.Memory
	r := &specs.LinuxResources{CPU: &specs.LinuxCPU{}, Memory: &specs.LinuxMemory{}}
	if quota > 0 {
		r.CPU.Quota, r.CPU.Period = &quota, &length
	}
	if memory > 0 {
		r.Memory.Limit = &memory
	}
	g, err := cgroup1.New(cgroup1.StaticPath(groupPath(iso, node)), r, cgroup1.WithHierarchy(controllers))
	if err != nil {
		return err
	}
	return g.AddProc(uint64(pid))
}

func confine2(iso *launch.Isolation, node, pid int) error {
	quota, length, memory := int64(iso.CPUs*float64(period)), period, iso.Memory
	r := &cgroup2.Resources{CPU: &cgroup2.CPU{}, Memory: &cgroup2.Memory{}}
	if quota > 0 {
		r.CPU.Max = cgroup2.NewCPUMax(&quota, &length)
	}
	if memory > 0 {
		r.Memory.Max = &memory
	}
	m, err := cgroup2.NewManager("/sys/fs/cgroup", groupPath(iso, node), r)
	if err != nil {
		return err
	}
	return m.AddProc(uint64(pid))
}

// leaving is how long a process that has ended may still be in its group: the
// kernel takes it out a little after its end can be seen.
const leaving = 5 * time.Second

// release removes a node's control group; its processes have ended.
func release(iso *launch.Isolation, node int) error {
	for until := time.Now().Add(leaving); ; time.Sleep(poll) {
		err := remove(iso, node)
		if err == nil || time.Now().After(until) {
			return err
		}
	}
}

func remove(iso *launch.Isolation, node int) error {
	if cgroups.Mode() == cgroups.Unified {
		m, err := cgroup2.Load(groupPath(iso, node))
		if err == nil {
			err = m.Delete()
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	g, err := cgroup1.Load(cgroup1.StaticPath(groupPath(iso, node)), cgroup1.WithHierarchy(controllers))
	if errors.Is(err, cgroup1.ErrCgroupDeleted) {
		return nil
	}
	if err != nil {
		return err
	}
	return g.Delete()
}
