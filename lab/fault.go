package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/internal/fault"
)

// Action is a fault's effect on a node.
type Action string

// The actions of any lab: each breaks a node, or repairs what the action before it broke.
const (
	Kill    Action = "kill"    // kills the node and its children (SIGKILL)
	Restart Action = "restart" // starts the node with its data and ports
	Halt    Action = "stop"    // SIGSTOP: the node keeps its connections and does not reply
	Resume  Action = "resume"  // SIGCONT
	Slow    Action = "slow"    // a Relay delays the node's replies
	Fast    Action = "fast"
)

// The actions of a lab with isolated nodes.
const (
	Partition     Action = "partition" // disconnects the node's cable
	Heal          Action = "heal"
	Delay         Action = "delay" // delays each packet that the node sends, also to other nodes
	NoDelay       Action = "no-delay"
	Bandwidth     Action = "bandwidth" // limits the node's cable, in each direction
	FullBandwidth Action = "full-bandwidth"
)

// The actions of a lab with frail disks.
const (
	DiskFull Action = "disk-full"
	DiskFree Action = "disk-free" // also starts the node if it has ended by itself
	PowerOff Action = "power-off" // kills the node and discards unflushed data
	PowerOn  Action = "power-on"
)

// actions lists all actions in the order in which errors list them: each action before its repair, those of disks last.
func actions() []Action {
	return []Action{
		Kill, Restart, Halt, Resume, Partition, Heal, Slow, Fast, Delay, NoDelay, Bandwidth, FullBandwidth,
		DiskFull, DiskFree, PowerOff, PowerOn,
	}
}

// repair returns the action that repairs what a breaks; "" if a itself is a repair.
func (a Action) repair() Action {
	if i := slices.Index(actions(), a); i%2 == 0 {
		return actions()[i+1]
	}
	return ""
}

// Fault is an action on a node at a moment.
type Fault struct {
	Action Action
	Node   int // from 1
	At     time.Duration
	By     time.Duration // the delay of Slow and Delay
	Rate   Rate          // the rate of Bandwidth
}

func (f Fault) String() string { return fmt.Sprintf("%s@%s", f.What(), f.At) }

// What returns the fault without its moment.
func (f Fault) What() string {
	return strings.Join(append([]string{string(f.Action), fmt.Sprintf("node%d", f.Node)}, f.Amount()...), ":")
}

// Amount returns the amount of an action, as one word; no word for an action without an amount.
func (f Fault) Amount() []string {
	switch f.Action {
	case Slow, Delay:
		return []string{f.By.String()}
	case Bandwidth:
		return []string{f.Rate.String()}
	}
	return nil
}

// ParseFaults reads faults such as kill:node2@20s,restart@40s. A fault without a node concerns node 1. A repair without
// a node concerns the node that was broken last, of those that it repairs.
func ParseFaults(text string) (out []Fault, err error) {
	for part := range strings.SplitSeq(text, ",") {
		f, err := parseFault(part, out)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

// parseFault reads one fault that follows earlier ones.
func parseFault(text string, earlier []Fault) (f Fault, err error) {
	bad := func(problem string) error {
		const cure = "write like kill:node2@20s,restart@40s or slow:5ms@20s,fast@40s, in the order of the times; " +
			"`barograph ycsb run --help` lists the faults"
		return &fault.Error{Setting: "--fault " + text, Problem: problem, Cure: cure}
	}
	what, moment, hasMoment := strings.Cut(strings.TrimSpace(text), "@")
	name, node, hasNode := strings.Cut(what, ":")
	f = Fault{Action: Action(name), Node: 1}
	if f.Action.hasAmount() {
		colon := strings.LastIndex(node, ":")
		if problem := f.parseAmount(node[colon+1:]); problem != "" {
			return f, bad(problem)
		}
		node, hasNode = node[:max(colon, 0)], colon >= 0
	}
	at, timeErr := time.ParseDuration(moment)
	switch {
	case !slices.Contains(actions(), f.Action):
		return f, fault.Unknown("--fault", name, actions()) // only the name: kill:x@y looks like a password before a host
	case !hasMoment || timeErr != nil || at < 0:
		return f, bad("has no time, such as @20s")
	case len(earlier) > 0 && at < earlier[len(earlier)-1].At:
		return f, bad("comes before the fault that precedes it")
	}
	f.At = at
	pending := Repairs(earlier)
	if hasNode {
		if f.Node, err = strconv.Atoi(strings.TrimPrefix(node, "node")); err != nil || f.Node < 1 {
			return f, bad("names no node")
		}
	} else if i := slices.IndexFunc(pending, func(o Fault) bool { return o.Action == f.Action }); i >= 0 {
		f.Node = pending[i].Node
	}
	if problem := f.conflict(pending); problem != "" {
		return f, bad(problem)
	}
	return f, nil
}

// conflict returns the reason why a fault cannot follow others; "" if it can. pending are the repairs that the others
// need.
func (f Fault) conflict(pending []Fault) string {
	isPending := func(repairs ...Action) bool {
		return slices.ContainsFunc(pending, func(o Fault) bool {
			return o.Node == f.Node && slices.Contains(repairs, o.Action)
		})
	}
	isDown := isPending(Restart, PowerOn)
	repair := f.Action.repair()
	switch {
	case repair == "" && !isPending(f.Action):
		return "repairs what was not broken"
	case f.Action == DiskFree && isDown:
		return "comes while the node is down, and would start it"
	case isDown && slices.Contains([]Action{Kill, Halt, PowerOff, DiskFull}, f.Action):
		return "comes while the node is down"
	case repair != "" && isPending(repair) && !f.Action.hasAmount():
		return "comes while the node is broken in this way"
	case f.Action == Delay && isPending(FullBandwidth), f.Action == Bandwidth && isPending(NoDelay):
		return "comes while the node's cable has another fault: a delay and a limited bandwidth exclude each other"
	}
	return ""
}

// Repairs returns the repairs that are pending after faults. The first one repairs the last fault.
func Repairs(faults []Fault) (out []Fault) {
	for i, f := range faults {
		repair := f.Action.repair()
		isRepaired := func(o Fault) bool {
			killed := repair == Resume && (o.Action == Kill || o.Action == PowerOff) // a killed process cannot be resumed
			return o.Node == f.Node && (o.Action == repair || killed)
		}
		if repair != "" && !slices.ContainsFunc(faults[i:], isRepaired) {
			out = slices.Insert(out, 0, Fault{Action: repair, Node: f.Node})
		}
	}
	return out
}

// hasAmount reports whether the action has an amount. Such an action may follow itself, with another amount.
func (a Action) hasAmount() bool { return a == Slow || a == Delay || a == Bandwidth }

// parseAmount reads the amount of the action and returns its problem; "" = none.
func (f *Fault) parseAmount(text string) (problem string) {
	var err error
	if f.Action == Bandwidth {
		if f.Rate, err = parseRate(text); err != nil {
			return "has no rate, such as bandwidth:10mbit: " + err.Error()
		}
		return ""
	}
	if f.By, err = time.ParseDuration(text); err != nil || f.By <= 0 {
		return "has no delay, such as " + string(f.Action) + ":5ms"
	}
	if f.Action == Delay && f.By > maxDelay {
		return "has a delay of more than " + maxDelay.String()
	}
	return ""
}

// maxDelay is the longest delay of packets. The kernel counts it in units of 64 ns, and has 32 bits for their number.
const maxDelay = 4 * time.Minute

// needsIsolation reports whether the action changes the cable of an isolated node.
func (a Action) needsIsolation() bool {
	return a == Partition || a == Heal || a.needsQueue()
}

// needsQueue reports whether the action changes the queue of packets of a cable.
func (a Action) needsQueue() bool {
	return a == Delay || a == NoDelay || a == Bandwidth || a == FullBandwidth
}

// needsFrailDisk reports whether the action changes the disk of a node.
func (a Action) needsFrailDisk() bool {
	return slices.Index(actions(), a) >= slices.Index(actions(), DiskFull)
}

// Relayed reports whether a Relay performs the action. All other actions are those of Inflict.
func (a Action) Relayed() bool { return a == Slow || a == Fast }

// freeDisk ends DiskFull. It starts the node if it has ended because it could not write.
func (l *Lab) freeDisk(ctx context.Context, i int) error {
	err := l.controlDisk(i, diskFree)
	if err != nil || l.state.Nodes[i].alive() {
		return err
	}
	return l.Restart(ctx, i)
}

// Lab returns the lab of a state, which another process may have started. Its nodes can be broken and repaired.
func (s *State) Lab(d *engine.Driver) (*Lab, error) {
	a, err := findAccount(d.Server.User)
	return &Lab{
		server: d.Server, account: a, state: *s, patience: defaultPatience, children: make([][]chan error, len(s.Nodes)),
	}, err
}

// Check refuses a fault that the lab, or this kernel, does not support.
func (l *Lab) Check(f Fault) error {
	if err := l.checkSupport(f); err != nil || !f.Action.needsQueue() {
		return err
	}
	if err := tryQueue(f); err != nil {
		module := map[Action]string{Delay: "sch_netem", Bandwidth: "sch_tbf"}[f.Action]
		return &fault.Error{
			Setting: "--fault " + f.String(), Problem: "this kernel does not support this fault of packets", Err: err,
			Cure: "load its module (modprobe " + module + "), or use a kernel that has it; " +
				"slow:5ms needs no module: it delays the replies to clients",
		}
	}
	return nil
}

// checkSupport refuses a fault that the lab does not support.
func (l *Lab) checkSupport(f Fault) error {
	bad := func(problem, cure string) error {
		return &fault.Error{Setting: "--fault " + f.String(), Problem: problem, Cure: cure}
	}
	switch {
	case f.Node > len(l.state.Nodes):
		return bad(fmt.Sprintf("the server has %d node(s)", len(l.state.Nodes)), "name one of them, from node1 on")
	case f.Action.needsIsolation() && l.state.Cluster.Isolation == nil:
		return bad("the nodes share this machine's loopback", "start the lab with --isolate")
	case f.Action.needsQueue() && l.state.Cluster.Isolation.Latency > 0:
		return bad("--latency already delays the lab's packets", "start the lab without --latency")
	case f.Action.needsFrailDisk() && !l.state.Frail:
		return bad("the node has an ordinary disk", "start the lab with --frail-disks")
	}
	return nil
}

// Inflict applies a fault to a node at once. If it starts the node, it returns when the node replies.
func (l *Lab) Inflict(ctx context.Context, f Fault) error {
	if err := l.checkSupport(f); err != nil {
		return err
	}
	i := f.Node - 1
	switch f.Action {
	case Kill:
		return l.Kill(i)
	case Restart:
		return l.Restart(ctx, i)
	case Halt:
		return l.state.Nodes[i].signal(syscall.SIGSTOP)
	case Resume:
		return l.state.Nodes[i].signal(syscall.SIGCONT)
	case DiskFull:
		return l.controlDisk(i, diskFull)
	case DiskFree:
		return l.freeDisk(ctx, i)
	case PowerOff:
		return errors.Join(l.Kill(i), l.controlDisk(i, diskLose))
	case PowerOn:
		return l.Restart(ctx, i)
	case Delay, NoDelay, Bandwidth, FullBandwidth:
		return setQueue(l.state.Cluster.Isolation, i, f)
	}
	return setConnected(l.state.Cluster.Isolation, i, f.Action != Partition)
}
