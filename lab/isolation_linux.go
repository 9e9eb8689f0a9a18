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

// isolate plans the isolation of a cluster: a name, a subnet that this machine does not use, and addresses of the nodes
// in it.
func isolate(c *launch.Cluster, o *Isolate) error {
	if o.Latency < 0 || o.Latency > maxDelay {
		return &fault.Error{
			Setting: "--latency " + o.Latency.String(), Problem: "is not a possible delay of packets",
			Cure: "choose 0 to " + maxDelay.String(),
		}
	}
	if os.Geteuid() != 0 {
		return &fault.Error{
			Setting: "--isolate", Problem: "needs root: it makes network namespaces and control groups",
			Cure: "run as root, or omit --isolate: the nodes then share this machine's network",
		}
	}
	name := fmt.Sprintf("bg%08x", rand.Uint32())
	subnet, err := freeSubnet()
	if err != nil {
		return err
	}
	c.Isolation = &launch.Isolation{
		Name: name, Subnet: subnet.String(), CPUs: o.CPUs, Memory: o.Memory, Latency: o.Latency,
	}
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
	return nil, &fault.Error{
		Setting: "--isolate", Problem: "no subnet of 10.213.0.0/16 is free", Cure: "end other labs, or omit --isolate",
	}
}

// hostIn returns the address in a subnet that ends with a byte.
func hostIn(s *net.IPNet, last int) net.IP {
	ip := s.IP.To4()
	return net.IPv4(ip[0], ip[1], ip[2], byte(last)).To4()
}

// namespace returns the name of a node's network namespace. Its cable has the same name.
func namespace(iso *launch.Isolation, node int) string { return iso.Name + "n" + strconv.Itoa(node+1) }

// connect creates the bridge and the namespaces of a cluster, unless they exist. A reboot removes all of them. connect
// enables the bridge last. If a bridge is not enabled, the process that created it was killed before it had connected
// all nodes.
func connect(c *launch.Cluster) error {
	iso := c.Isolation
	if iso == nil {
		return nil
	}
	_, subnet, err := net.ParseCIDR(iso.Subnet)
	if err != nil {
		return err
	}
	if old, err := netlink.LinkByName(iso.Name); err == nil {
		if old.Attrs().Flags&net.FlagUp != 0 {
			return nil
		}
		if err := disconnect(c); err != nil {
			return networkError("bridge "+iso.Name, err)
		}
	}
	bridge := &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: iso.Name}}
	if err := netlink.LinkAdd(bridge); err != nil {
		return networkError("bridge "+iso.Name, err)
	}
	for i := range c.Nodes {
		if err := createNamespace(iso, bridge, subnet, i); err != nil {
			return networkError("network namespace "+namespace(iso, i), err)
		}
	}
	if err := enableBridge(bridge, subnet); err != nil {
		return networkError("bridge "+iso.Name, err)
	}
	return nil
}

func networkError(what string, err error) error {
	if _, explained := errors.AsType[*fault.Error](err); explained {
		return err
	}
	return &fault.Error{
		Setting: "--isolate", Problem: "cannot make the " + what, Err: err,
		Cure: "use a kernel that allows bridges, veth pairs and network namespaces, or omit --isolate",
	}
}

// enableBridge sets the address of a bridge and enables it.
func enableBridge(bridge netlink.Link, subnet *net.IPNet) error {
	a := &netlink.Addr{IPNet: &net.IPNet{IP: hostIn(subnet, bridgeHost), Mask: subnet.Mask}}
	return errors.Join(netlink.AddrAdd(bridge, a), netlink.LinkSetUp(bridge))
}

// createNamespace creates a node's namespace and a cable from it to the bridge.
func createNamespace(iso *launch.Isolation, bridge netlink.Link, subnet *net.IPNet, node int) error {
	name := namespace(iso, node)
	var ns netns.NsHandle
	err := onThread(func() (err error) {
		ns, err = netns.NewNamed(name)
		return err
	})
	if err != nil {
		return err
	}
	defer ns.Close() //nolint:errcheck // only a handle
	cable := &netlink.Veth{
		LinkAttrs: netlink.LinkAttrs{Name: name, MasterIndex: bridge.Attrs().Index},
		PeerName:  insideLink, PeerNamespace: netlink.NsFd(ns),
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
	return enableLinks(h, &net.IPNet{IP: hostIn(subnet, node+1), Mask: subnet.Mask}, iso.Latency)
}

// enableLinks enables the links of a namespace, with an address and a latency of its end of the cable.
func enableLinks(h *netlink.Handle, addr *net.IPNet, latency time.Duration) error {
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
		if err := h.QdiscAdd(queueFor(l.Attrs().Index, Fault{Action: Delay, By: latency})); err != nil {
			return &fault.Error{
				Setting: "--latency", Problem: "this kernel cannot delay packets", Err: err,
				Cure: "load its module: modprobe sch_netem; or omit --latency",
			}
		}
	}
	return h.LinkSetUp(l)
}

// onThread runs f on a thread of its own, whose network namespace f may change. After f the thread returns to its
// former namespace. If that fails, the thread ends.
func onThread(f func() error) error {
	result := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		former, err := netns.Get()
		if err != nil {
			runtime.UnlockOSThread()
			result <- err
			return
		}
		err = f()
		setErr := netns.Set(former)
		if setErr == nil {
			runtime.UnlockOSThread() // otherwise the thread ends with this goroutine
		}
		result <- errors.Join(err, setErr, former.Close())
	}()
	return <-result
}

// inNamespace runs f, which starts a process, in a node's namespace. The process inherits the namespace.
func inNamespace(iso *launch.Isolation, node int, f func() error) error {
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

// disconnect removes the bridge, the namespaces and the control groups of a cluster, as far as they exist.
func disconnect(c *launch.Cluster) error {
	iso := c.Isolation
	if iso == nil {
		return nil
	}
	var all []error
	for i := range c.Nodes {
		all = append(all, removeGroup(iso, i))
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

// period is the time over which the kernel applies a CPU limit, in microseconds: its default.
const period = uint64(100_000)

// groupPath returns the path of a node's control group.
func groupPath(iso *launch.Isolation, node int) string {
	return "/barograph-" + namespace(iso, node)
}

// controllers returns the hierarchies of version 1 that limit a node.
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

// confine moves a process into its node's control group. It creates the group for the first process.
func confine(iso *launch.Isolation, node, pid int) error {
	if iso == nil {
		return nil
	}
	confineIn := confine1
	if cgroups.Mode() == cgroups.Unified {
		confineIn = confine2
	}
	if err := confineIn(iso, node, pid); err != nil {
		return &fault.Error{
			Setting: "--isolate", Problem: "cannot limit a node's CPU and memory", Err: err,
			Cure: "mount the control groups cpu and memory, writable for root",
		}
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

// removeGroup removes a node's control group after its processes have ended. It tries again for some time, because the
// kernel removes a process from its group a little after the end of the process.
func removeGroup(iso *launch.Isolation, node int) error {
	for until := time.Now().Add(releasePatience); ; time.Sleep(poll) {
		err := tryRemoveGroup(iso, node)
		if err == nil || time.Now().After(until) {
			return err
		}
	}
}

func tryRemoveGroup(iso *launch.Isolation, node int) error {
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
