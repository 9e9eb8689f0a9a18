package launch

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Server tells how a throwaway server of an engine is obtained, started and
// stopped; Driver.Server is nil for an embedded engine. It only says what to
// run: package lab runs it, keeps its processes, and never uses a cluster or a
// service that a package brings.
type Server struct {
	Packages    []string       // of Debian and Ubuntu
	Artifacts   []Artifact     // of a language registry
	User        string         // account of the server where Barograph runs as root; "" = Barograph's own
	Nodes       []int          // sizes offered: 1, or 1 and 3
	Ports       []string       // names of the TCP ports that every node needs; each gets a free one
	SharedPorts []string       // the same, but one number for all nodes, each of which has an address of its own
	Profiles    []Profile      // the first is the default
	Note        string         // what whoever starts it must know before; "" = nothing
	NoPassword  bool           // whoever reaches its ports may do all that its account may: it knows no passwords, or the lab sets none
	TLS         TLSOffer       // whether the lab can have its clients' connections encrypted
	Roams       bool           // of a cluster: clients ask its nodes for the addresses of the others, so that nothing can stand between
	Spreads     bool           // it spreads tables over Cluster.Disks by itself, settled at its first start: another placement takes another server
	Stop        syscall.Signal // ends a node; nodes are stopped in reverse order

	// Find looks for the programs; its error names what is missing.
	Find func() error

	// Prepare writes the configuration into n.Dir and returns the commands
	// that make the node's data, which are run in turn, once.
	Prepare func(c *Cluster, n *Node) ([]Command, error)

	// Start is the node's processes, which stay in the foreground; most nodes
	// are one. They are started in this order and stopped in the reverse one.
	// n.First is set where no other node of the cluster runs. Nodes are started
	// in turn, each when the one before is ready.
	Start func(c *Cluster, n *Node) ([]Command, error)

	// Ready asks a node a real query; nil means that it serves and, in a
	// cluster, that it has joined those that run.
	Ready func(ctx context.Context, c *Cluster, n *Node) error

	// Form makes one cluster of the nodes when all of them run for the first
	// time, and returns when it serves; nil where they find one another.
	Form func(ctx context.Context, c *Cluster) error

	// Order is the order in which to start the nodes of a cluster that is down
	// as a whole, by Node.Index: the one that knows most comes first. Nil where
	// any order will do.
	Order func(ctx context.Context, c *Cluster) ([]int, error)

	// URL is what Open takes to reach the cluster. It is asked before the start
	// and again when a node answers, as a server may choose ports by itself.
	URL func(c *Cluster) string
}

// TLSOffer reports whether a throwaway server takes connections over TLS: then it
// is given certificates, and takes no others from clients.
type TLSOffer int

// The offers of TLS.
const (
	NoTLS     TLSOffer = iota
	OffersTLS          // where it is asked for
	AlwaysTLS          // a server that takes passwords over nothing else
)

// Profile is a set of settings of a server.
type Profile struct {
	Name    string // "default" = as packaged; "tuned" = what an expert would set
	Summary string

	// Settings are those that differ from the packaged ones, in the server's
	// own words, for a node that may use so much memory (bytes). Nil = none.
	Settings func(memory int64) map[string]string
}

// Cluster is one throwaway server: its nodes and what they share.
type Cluster struct {
	Dir      string            `json:"dir"`     // absolute; holds a folder per node
	Profile  string            `json:"profile"` // Profile.Name
	Memory   int64             `json:"memory"`  // bytes that one node may use
	Settings map[string]string `json:"settings,omitempty"`
	Nodes    []Node            `json:"nodes"`

	// Password is that of the server's administrator: random, of letters and
	// digits, and "" where Server.NoPassword. It must not stand in arguments of
	// a process, which every user of the machine can read.
	Password string `json:"password,omitempty"`

	TLS bool `json:"tls,omitempty"` // its clients connect over TLS, see CA and Node.Certificate

	// Disks are folders that the servers keep their tables in, one a part, which
	// all nodes share out: node i has every len(Nodes)-th from i on. A disk with
	// several parts stands as often. Nil = each node keeps them in its own
	// folder. Profile and memory do not change them.
	Disks []string `json:"disks,omitempty"`

	// Isolation keeps the nodes apart; nil = they are processes on loopback that
	// share the machine and its network.
	Isolation *Isolation `json:"isolation,omitempty"`
}

// CA is the PEM file of the certificate that signed those of all nodes.
func (c *Cluster) CA() string { return filepath.Join(c.Dir, "ca.pem") }

// Parameters are those of a URL by which the cluster is reached, with some of
// the engine's own (name=value): "" or from "?" on.
func (c *Cluster) Parameters(own ...string) string {
	if c.TLS {
		own = append(own, "tls_ca="+url.QueryEscape(c.CA()))
	}
	if len(own) == 0 {
		return ""
	}
	return "?" + strings.Join(own, "&")
}

// Isolation tells how the nodes of a cluster are kept apart: each has a
// network namespace, joined to the others and to this machine by a bridge, and
// a control group with its limits. They are hosts as far as the network and
// the limits go; disks are shared.
type Isolation struct {
	Name    string        `json:"name"`    // of the bridge and the control group, and how the namespaces' begin
	Subnet  string        `json:"subnet"`  // 10.213.7.0/24: node i has .i+1, this machine .254
	CPUs    float64       `json:"cpus"`    // cores that a node may use; 0 = no limit
	Memory  int64         `json:"memory"`  // bytes that a node may use; 0 = no limit
	Latency time.Duration `json:"latency"` // added to each packet that a node sends; 0 = none
}

// Alike reports whether nodes are kept apart in the same way.
func (i *Isolation) Alike(o *Isolation) bool {
	if i == nil || o == nil {
		return i == o
	}
	return i.CPUs == o.CPUs && i.Memory == o.Memory && i.Latency == o.Latency
}

// String tells it in words.
func (i *Isolation) String() string {
	if i == nil {
		return "nodes share this machine"
	}
	s := "nodes in network namespaces and control groups of their own"
	if i.CPUs > 0 {
		s += fmt.Sprintf(", %g cores each", i.CPUs)
	}
	if i.Memory > 0 {
		s += fmt.Sprintf(", %d MiB each", i.Memory>>20)
	}
	if i.Latency > 0 {
		s += fmt.Sprintf(", %s later on the wire", i.Latency)
	}
	return s
}

// Node is one process of a cluster.
type Node struct {
	Index int            `json:"index"` // from 0
	Dir   string         `json:"dir"`   // absolute; belongs to Server.User
	Host  string         `json:"host"`  // 127.0.0.1, or a loopback address for each node of a cluster
	Ports map[string]int `json:"ports"` // by name, see Server.Ports
	First bool           `json:"-"`     // for Start: no other node runs
}

// Certificate is the PEM file of the node's certificate and its key, where the
// cluster has TLS; it names all nodes of the cluster.
func (n *Node) Certificate() string { return n.Dir + ".pem" }

// Address is the node's host with one of its ports.
func (n *Node) Address(port string) string {
	return net.JoinHostPort(n.Host, strconv.Itoa(n.Ports[port]))
}

// Command is a program to run.
type Command struct {
	Args []string // the program and its arguments
	Env  []string // NAME=value, added to an environment that holds nothing of Barograph's own but where programs are
}

// Store is a bucket of an object store that speaks S3: addresses are
// http://host:port/bucket/key (path style).
type Store struct {
	Endpoint    string // host:port, without TLS
	Region      string
	Bucket      string
	Key, Secret string
}
