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

// The actions: each breaks a node, or repairs what the one before it in this list broke.
const (
	Kill      Action = "kill"      // SIGKILL, its children too
	Restart   Action = "restart"   // on its data and ports
	Halt      Action = "stop"      // SIGSTOP: it keeps its connections and does not reply
	Resume    Action = "resume"    // SIGCONT
	Partition Action = "partition" // nobody reaches it; of an isolated lab
	Heal      Action = "heal"
	Slow      Action = "slow" // its replies are delayed, by a Relay
	Fast      Action = "fast"
	Delay     Action = "delay" // each packet that it sends comes late, to other nodes too: of an isolated lab
	NoDelay   Action = "no-delay"
	Bandwidth Action = "bandwidth" // of its cable, in each direction: likewise
	AllOfIt   Action = "full-bandwidth"
	DiskFull  Action = "disk-full" // nothing more fits: of a lab with frail disks
	DiskFree  Action = "disk-free" // and the node is started again if it has ended
	PowerOff  Action = "power-off" // as Kill, and what was not flushed is gone: likewise
	PowerOn   Action = "power-on"
)

func actions() []Action {
	return []Action{Kill, Restart, Halt, Resume, Partition, Heal, Slow, Fast, Delay, NoDelay, Bandwidth, AllOfIt, DiskFull, DiskFree, PowerOff, PowerOn}
}

// repair is the action that repairs what a broke; "" where a repairs.
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
	By     time.Duration // of Slow and Delay: it comes so late
	Rate   Rate          // of Bandwidth
}

func (f Fault) String() string { return fmt.Sprintf("%s@%s", f.What(), f.At) }

// What returns the fault without its moment.
func (f Fault) What() string {
	return strings.Join(append([]string{string(f.Action), fmt.Sprintf("node%d", f.Node)}, f.Amount()...), ":")
}

// Amount returns the amount of a graded action in one word; nothing for another action.
func (f Fault) Amount() []string {
	switch f.Action {
	case Slow, Delay:
		return []string{f.By.String()}
	case Bandwidth:
		return []string{f.Rate.String()}
	}
	return nil
}

// ParseFaults reads kill:node2@20s,restart@40s. Without a node it is node 1, or the node that was
// broken last in the way that this action repairs.
func ParseFaults(text string) (out []Fault, err error) {
	broken := map[Action]int{} // the last node, by what repairs it
	for part := range strings.SplitSeq(text, ",") {
		bad := func(problem string) error {
			return &fault.Error{Setting: "--fault " + part, Problem: problem, Cure: "write like kill:node2@20s,restart@40s or slow:5ms@20s,fast@40s, in the order of the times; `barograph ycsb run --help` names what can be done"}
		}
		what, moment, timed := strings.Cut(strings.TrimSpace(part), "@")
		name, node, named := strings.Cut(what, ":")
		f := Fault{Action: Action(name), Node: 1}
		if f.Action.graded() {
			at := strings.LastIndex(node, ":")
			if problem := f.grade(node[at+1:]); problem != "" {
				return nil, bad(problem)
			}
			node, named = node[:max(at, 0)], at >= 0
		}
		at, wrong := time.ParseDuration(moment)
		switch {
		case !slices.Contains(actions(), f.Action):
			return nil, fault.Unknown("--fault", name, actions()) // as it was written it looks like a password before a host
		case !timed || wrong != nil || at < 0:
			return nil, bad("has no time, such as @20s")
		case len(out) > 0 && at < out[len(out)-1].At:
			return nil, bad("comes before the one in front of it")
		}
		last, was := broken[f.Action]
		if f.At = at; named {
			if f.Node, wrong = strconv.Atoi(strings.TrimPrefix(node, "node")); wrong != nil || f.Node < 1 {
				return nil, bad("names no node")
			}
		} else if was {
			f.Node = last
		}
		if problem := f.after(out); problem != "" {
			return nil, bad(problem)
		}
		if repair := f.Action.repair(); repair != "" {
			broken[repair] = f.Node
		} else if !was {
			return nil, bad("repairs what was not broken")
		}
		out = append(out, f)
	}
	return out, nil
}

// after returns why a fault cannot follow others; "" if it can.
func (f Fault) after(done []Fault) string {
	needsProcess := f.Action == Kill || f.Action == Halt || f.Action == PowerOff
	for _, o := range Repairs(done) {
		down := o.Action == Restart || o.Action == PowerOn
		switch {
		case o.Node != f.Node:
		case needsProcess && down:
			return "comes while the node is down"
		case o.Action == f.Action.repair() && !f.Action.graded():
			return "comes while the node is broken in this way"
		}
	}
	return ""
}

// Repairs returns the repairs that are still due after faults, the last one first.
func Repairs(done []Fault) (out []Fault) {
	for i, f := range done {
		repair := f.Action.repair()
		if repair != "" && !slices.ContainsFunc(done[i:], func(o Fault) bool {
			return o.Node == f.Node && (o.Action == repair || repair == Resume && (o.Action == Kill || o.Action == PowerOff))
		}) {
			out = slices.Insert(out, 0, Fault{Action: repair, Node: f.Node})
		}
	}
	return out
}

// graded reports whether the action has an amount: another one may then follow it.
func (a Action) graded() bool { return a == Slow || a == Delay || a == Bandwidth }

// grade reads the amount of a graded action and returns its problem; "" = none.
func (f *Fault) grade(text string) (problem string) {
	var err error
	if f.Action == Bandwidth {
		if f.Rate, err = parseRate(text); err != nil {
			return "does not say how much, such as bandwidth:10mbit: " + err.Error()
		}
		return ""
	}
	if f.By, err = time.ParseDuration(text); err != nil || f.By <= 0 {
		return "does not say how slow, such as " + string(f.Action) + ":5ms"
	}
	return ""
}

// ofCable reports whether the action is done to the cable of an isolated node.
func (a Action) ofCable() bool {
	return a == Partition || a == Heal || a.ofQueue()
}

// ofQueue reports whether it is done by what the kernel has wait before a cable.
func (a Action) ofQueue() bool {
	return a == Delay || a == NoDelay || a == Bandwidth || a == AllOfIt
}

func (a Action) ofDisk() bool { return slices.Index(actions(), a) >= slices.Index(actions(), DiskFull) }

// Relayed reports whether the action is a Relay's, and no node's.
func (a Action) Relayed() bool { return a == Slow || a == Fast }

// freed gives a node's disk room again. A server that cannot write may have ended.
func (l *Lab) freed(ctx context.Context, i int) error {
	err := l.disk(i, diskFree)
	if err != nil || l.state.Nodes[i].alive() {
		return err
	}
	return errors.Join(l.Kill(i), l.Restart(ctx, i))
}

// Lab is the lab of a state, whoever started it: its nodes can be broken and repaired.
func (s *State) Lab(d *engine.Driver) (*Lab, error) {
	a, err := findAccount(d.Server.User)
	return &Lab{server: d.Server, account: a, state: *s, patience: usualPatience, children: make([][]chan error, len(s.Nodes))}, err
}

// Check refuses a fault that the lab's nodes, or this kernel, cannot have.
func (l *Lab) Check(f Fault) error {
	if err := l.fits(f); err != nil || !f.Action.ofQueue() {
		return err
	}
	if err := tryQueue(f); err != nil {
		cure := map[Action]string{Delay: "sch_netem", Bandwidth: "sch_tbf"}[f.Action]
		return &fault.Error{Setting: "--fault " + f.String(), Problem: "this kernel cannot do that to packets", Err: err, Cure: "load its module (modprobe " + cure + "), or use a kernel that has it; slow:5ms is done without, between clients and server"}
	}
	return nil
}

// fits refuses a fault that the lab's nodes cannot have.
func (l *Lab) fits(f Fault) error {
	bad := func(problem, cure string) error {
		return &fault.Error{Setting: "--fault " + f.String(), Problem: problem, Cure: cure}
	}
	switch {
	case f.Node > len(l.state.Nodes):
		return bad(fmt.Sprintf("the server has %d node(s)", len(l.state.Nodes)), "name one of them, from node1 on")
	case f.Action.ofCable() && l.state.Cluster.Isolation == nil:
		return bad("the nodes share this machine's loopback", "start the lab with --isolate")
	case f.Action.ofQueue() && l.state.Cluster.Isolation.Latency > 0:
		return bad("the lab's packets are late already, by --latency", "start the lab without --latency")
	case f.Action.ofDisk() && !l.state.Frail:
		return bad("the node's disk cannot do that", "start the lab with --frail-disks")
	}
	return nil
}

// Inflict applies a fault to a node at once. A node that it starts again serves when it returns.
func (l *Lab) Inflict(ctx context.Context, f Fault) error {
	if err := l.fits(f); err != nil {
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
		return l.disk(i, diskFull)
	case DiskFree:
		return l.freed(ctx, i)
	case PowerOff:
		return errors.Join(l.Kill(i), l.disk(i, diskLost))
	case PowerOn:
		return l.Restart(ctx, i)
	case Delay, NoDelay, Bandwidth, AllOfIt:
		return queue(l.state.Cluster.Isolation, i, f)
	}
	return cut(l.state.Cluster.Isolation, i, f.Action == Partition)
}
