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

// Server describes how to obtain, start and stop a temporary server of an engine;
// Driver.Server is nil for an embedded engine. It only describes the programs: package lab
// runs them and keeps their processes. The lab never uses a cluster or a service that a
// package creates.
type Server struct {
	Packages         []string       // of Debian and Ubuntu, without those that fetch and run Artifacts: the lab knows them
	Artifacts        []Artifact     // of a language registry
	User             string         // the server's account if Barograph runs as root; "" = Barograph's own account
	Nodes            []int          // possible numbers of nodes, such as 1 and 3
	Ports            []string       // names of the TCP ports that every node needs; each gets a free one
	SharedPorts      []string       // like Ports, but all nodes use the same number, each at its own address
	Profiles         []Profile      // the first is the default
	Note             string         // what the user must know before starting it; "" = nothing
	NoPassword       bool           // no password protects it: everybody who reaches its ports has all rights of its account
	TLS              TLSOffer       // whether the lab can encrypt its clients' connections
	RedirectsClients bool           // clients get the nodes' addresses from the cluster, and connect past any proxy
	Stop             syscall.Signal // stops a node; the lab stops nodes in reverse order

	// SpreadsTables: the server spreads tables over Cluster.Disks itself. It fixes the placement at its first start;
	// another placement needs another server.
	SpreadsTables bool

	// Find looks for the programs; its error names the missing ones.
	Find func() error

	// Prepare writes the configuration into n.Dir and returns the commands that create the
	// node's data. The lab runs these commands once, one after the other.
	Prepare func(c *Cluster, n *Node) ([]Command, error)

	// Start returns the node's processes, which stay in the foreground; most nodes have one.
	// The lab starts them in this order and stops them in reverse order. n.First is set if
	// no other node of the cluster is running. The lab starts the nodes one after the
	// other, each when the previous one is ready.
	Start func(c *Cluster, n *Node) ([]Command, error)

	// Ready sends a real query to a node. nil = the node serves and, in a cluster, has
	// joined the running nodes.
	Ready func(ctx context.Context, c *Cluster, n *Node) error

	// Form joins the nodes into one cluster when all of them run for the first time. It
	// returns when the cluster serves; nil = the nodes find one another.
	Form func(ctx context.Context, c *Cluster) error

	// Order returns, as values of Node.Index, the order in which the lab starts the nodes of
	// a cluster that is down completely. The node with the latest state comes first. Nil = any
	// order is possible.
	Order func(ctx context.Context, c *Cluster) ([]int, error)

	// URL returns the URL for Open. The lab calls it before the start and again when a node
	// answers, because a server may choose ports itself.
	URL func(c *Cluster) string
}

// TLSOffer reports if a temporary server accepts connections over TLS. If it does, the lab
// creates certificates for it, and it accepts no other connections from clients.
type TLSOffer int

// The offers of TLS.
const (
	NoTLS     TLSOffer = iota
	OffersTLS          // if the user requests it
	AlwaysTLS          // the server accepts passwords only over TLS
)

// Profile is a set of settings of a server.
type Profile struct {
	Name    string // "default" = as packaged; "tuned" = what an expert would set
	Summary string

	// Settings returns the settings that differ from the packaged ones, with the server's
	// own names, for a node that may use memory bytes. Nil = none differ.
	Settings func(memory int64) map[string]string
}

// Cluster is one temporary server: its nodes and what they share.
type Cluster struct {
	Dir      string            `json:"dir"`     // absolute; contains a folder for each node
	Profile  string            `json:"profile"` // Profile.Name
	Memory   int64             `json:"memory"`  // bytes that one node may use
	Settings map[string]string `json:"settings,omitempty"`
	Nodes    []Node            `json:"nodes"`

	// Password is the password of the server's administrator. It consists of random letters
	// and digits, and is "" if Server.NoPassword is set. Arguments of a process must not
	// contain it, because every user of the machine can read them.
	Password string `json:"password,omitempty"`

	TLS bool `json:"tls,omitempty"` // its clients connect over TLS, see CA and Node.Certificate

	// Disks are the folders in which the servers keep their tables, one entry for each
	// partition. The nodes share them: node i has the entries i, i+len(Nodes), and so on. A disk with
	// several partitions appears several times. Nil = each node uses its own folder.
	// Profile and memory do not change Disks.
	Disks []string `json:"disks,omitempty"`

	// Isolation separates the nodes; nil = they are processes on loopback that share the
	// machine and its network.
	Isolation *Isolation `json:"isolation,omitempty"`
}

// CA returns the PEM file of the certificate that signed the certificates of all nodes.
func (c *Cluster) CA() string { return filepath.Join(c.Dir, "ca.pem") }

// Parameters returns the query part of the cluster's URL, with the engine's own parameters
// (name=value): "", or a text that starts with "?".
func (c *Cluster) Parameters(own ...string) string {
	if c.TLS {
		own = append(own, "tls_ca="+url.QueryEscape(c.CA()))
	}
	if len(own) == 0 {
		return ""
	}
	return "?" + strings.Join(own, "&")
}

// Isolation describes how the nodes of a cluster are separated. Each node has a network
// namespace, which a bridge connects to the others and to this machine, and a control group
// with its limits. Network and limits are those of separate hosts; the nodes share disks.
type Isolation struct {
	Name    string        `json:"name"`    // of the bridge and the control group, and the prefix of the namespaces
	Subnet  string        `json:"subnet"`  // 10.213.7.0/24: node i has .i+1, this machine .254
	CPUs    float64       `json:"cpus"`    // cores that a node may use; 0 = no limit
	Memory  int64         `json:"memory"`  // bytes that a node may use; 0 = no limit
	Latency time.Duration `json:"latency"` // added to each packet that a node sends; 0 = none
}

// Equal reports whether two isolations are the same, apart from their names and subnets.
func (i *Isolation) Equal(o *Isolation) bool {
	if i == nil || o == nil {
		return i == o
	}
	return i.CPUs == o.CPUs && i.Memory == o.Memory && i.Latency == o.Latency
}

// String describes the isolation in words.
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

// Node is one node of a cluster.
type Node struct {
	Index int            `json:"index"` // from 0
	Dir   string         `json:"dir"`   // absolute; belongs to Server.User
	Host  string         `json:"host"`  // 127.0.0.1, or a loopback address for each node of a cluster
	Ports map[string]int `json:"ports"` // by name, see Server.Ports
	First bool           `json:"-"`     // for Start: no other node runs
}

// Certificate returns the PEM file of the node's certificate and its key, if the cluster has
// TLS. The certificate names all nodes of the cluster.
func (n *Node) Certificate() string { return n.Dir + ".pem" }

// Address returns the node's host and one of its ports.
func (n *Node) Address(port string) string {
	return net.JoinHostPort(n.Host, strconv.Itoa(n.Ports[port]))
}

// Command is a program to run.
type Command struct {
	Args []string // the program and its arguments
	Env  []string // NAME=value, in addition to HOME, PATH and a few other variables that the lab sets or passes on
}

// Store is a bucket of an object store that speaks S3. Its addresses are
// http://host:port/bucket/key (path style).
type Store struct {
	Endpoint    string // host:port, without TLS
	Region      string
	Bucket      string
	Key, Secret string
}
