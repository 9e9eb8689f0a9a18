package ycsb

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/internal/fault"
)

// Setting is a known property.
type Setting struct {
	Name    string `json:"name"`
	Default string `json:"default"`
	Help    string `json:"help"`

	// apply reads the value into a workload; nil = the property is accepted without effect, for the reason in Help
	apply func(c *Config, value string) error
}

// The largest values of properties. Beyond them the workload would overflow a number or the memory.
const (
	mostKeys    = 100_000_000_000_000_000 // of recordcount, insertstart, insertcount and operationcount: keys of 18 digits
	mostSeconds = 1_000_000_000
	mostThreads = 100_000
	mostShards  = 1000      // see nonceOf
	mostBatch   = 1_000_000 // records of one insert
	mostDigits  = 251       // of a key, which follow "user" in a column of 255 characters
	mostLength  = 1 << 30   // bytes of a value, and records of a scan
	mostBalance = 1_000_000_000
	noLimit     = math.MaxInt64
)

// Settings lists the known properties, in YCSB's order. Default is the value of a property that is
// not given. An empty default follows from other properties, as Help explains.
func Settings() []Setting {
	return slices.Concat(clientSettings(), recordSettings(), mixSettings(), failureSettings(), outputSettings())
}

// ignored is a property that is accepted without effect.
func ignored(name, why string) Setting {
	return Setting{Name: name, Help: "accepted, of no effect: " + why}
}

// byEngineFlag explains why properties of a database are ignored.
const byEngineFlag = "--engine names the database"

// clientSettings are the properties of YCSB's client: what it does, how long, and with how many threads.
func clientSettings() []Setting {
	return []Setting{
		{"workload", coreWorkload, "must be YCSB's core workload", setWorkload},
		ignored("db", byEngineFlag),
		{
			"recordcount", "0", "records in the table; 0 = 2147483647",
			integer(func(c *Config) *int64 { return &c.Records }, 0, mostKeys),
		},
		{
			"operationcount", "0", "operations of the run; 0 = no limit",
			integer(func(c *Config) *int64 { return &c.Operations }, 0, mostKeys),
		},
		{
			"insertstart", "0", "number of the first key that is loaded or requested",
			integer(func(c *Config) *int64 { return &c.InsertStart }, 0, mostKeys),
		},
		{
			"insertcount", "", "records that are loaded or requested (default: recordcount - insertstart)",
			integer(func(c *Config) *int64 { return &c.InsertCount }, 1, mostKeys),
		},
		{"threadcount", "1", "workers", integer(func(c *Config) *int64 { return &c.Threads }, 1, mostThreads)},
		{
			"target", "0", "operations per second of the complete run; 0 = as fast as the engine answers",
			number(func(c *Config) *float64 { return &c.Target }, 1e9),
		},
		{
			"rate", "", "in place of target and operationcount, rates one after the other: 500/s@30s,1000/s@30s, after the " +
				"warm-up, during which the first applies; a load keeps the last rate to its end (not YCSB's)", setRates,
		},
		{
			"maxexecutiontime", "0", "seconds after which the run ends; 0 = no limit",
			integer(func(c *Config) *int64 { return &c.Seconds }, 0, mostSeconds),
		},
		{
			"warmup", "0", "seconds at the beginning that do not count (not YCSB's)",
			integer(func(c *Config) *int64 { return &c.Warmup }, 0, mostSeconds),
		},
		{
			"arrivals", "fixed", "how a target is spread: fixed or poisson (not YCSB's)",
			oneOf(func(c *Config) *string { return &c.Arrivals }, "fixed", "poisson"),
		},
		{"seed", "1", "of all random numbers (not YCSB's)", integer(func(c *Config) *int64 { return &c.Seed }, 0, noLimit)},
		{
			"shard", "", "i/n: this client's share of the work of n clients, i from 1 (not YCSB's)",
			func(c *Config, v string) error { return c.Shard.Set(v) },
		},
		ignored("dotransactions", "load and run are commands"),
		{"status", "false", "print progress", boolean(func(c *Config) *bool { return &c.Status })},
		{
			"status.interval", "10", "seconds between two lines of progress",
			integer(func(c *Config) *int64 { return &c.StatusInterval }, 1, mostSeconds),
		},
		{"label", "", "text before each line of progress", text(func(c *Config) *string { return &c.Label })},
		ignored("exporter", "--json selects JSON"),
		{"exportfile", "", "file for the results; empty = stdout", text(func(c *Config) *string { return &c.ExportFile })},
		{
			"spin.sleep", "false", "poll the clock instead of sleeping until an operation is due",
			boolean(func(c *Config) *bool { return &c.Spin }),
		},
		ignored("measurement.trackjvm", "it is about YCSB's own process"),
	}
}

// recordSettings are the properties of the table and of its records.
func recordSettings() []Setting {
	return []Setting{
		{"table", "usertable", "name of the table", text(func(c *Config) *string { return &c.Table })},
		{"fieldcount", "10", "fields of a record", integer(func(c *Config) *int64 { return &c.FieldCount }, 1, noLimit)},
		{
			"fieldnameprefix", "field", "text before the number of a field",
			text(func(c *Config) *string { return &c.FieldPrefix }),
		},
		{
			"fieldlength", "100", "bytes of a value; of values of different lengths, the maximum",
			integer(func(c *Config) *int64 { return &c.FieldLength }, 0, mostLength),
		},
		{
			"fieldlengths", "", "bytes of the values of each field, in place of fieldlength: 8,100,1000 (not YCSB's)",
			setFieldLengths,
		},
		{
			"minfieldlength", "1", "minimum of bytes of a value",
			integer(func(c *Config) *int64 { return &c.MinFieldLength }, 0, mostLength),
		},
		{
			"fieldlengthdistribution", "constant", "constant, uniform, zipfian or histogram",
			oneOf(func(c *Config) *string { return &c.FieldLengths }, "constant", "uniform", "zipfian", "histogram"),
		},
		{
			"fieldlengthhistogram", "hist.txt", "file of the histogram",
			text(func(c *Config) *string { return &c.FieldHistogram }),
		},
		{
			"readallfields", "true", "reads request every field, otherwise one",
			boolean(func(c *Config) *bool { return &c.ReadAll }),
		},
		ignored("readallfieldsbyname", "every requested field is named and decoded"),
		{
			"writeallfields", "false", "updates replace every field, otherwise one",
			boolean(func(c *Config) *bool { return &c.WriteAll }),
		},
		{
			"dataintegrity", "false", "values follow from key and field, and are checked",
			boolean(func(c *Config) *bool { return &c.Integrity }),
		},
	}
}

// mixSettings are the shares of the operations, and the distributions of keys and scan lengths.
func mixSettings() []Setting {
	share := func(name, value, help string, op int) Setting {
		return Setting{name, value, help, number(func(c *Config) *float64 { return &c.Mix[op] }, 1e9)}
	}
	return []Setting{
		share("readproportion", "0.95", "share of reads", opRead),
		share("updateproportion", "0.05", "share of updates", opUpdate),
		share("insertproportion", "0", "share of inserts", opInsert),
		share("scanproportion", "0", "share of scans", opScan),
		share("readmodifywriteproportion", "0", "share of reads with an update of the same key", opModify),
		share("deleteproportion", "0", "share of deletes (not YCSB's)", opDelete),
		share("readpathproportion", "0", "share of reads of one value inside a document (not YCSB's)", opReadPath),
		share("updatepathproportion", "0", "share of updates of one value inside a document (not YCSB's)", opUpdatePath),
		share("transferproportion", "0", "share of transfers: one transaction reads two records and moves an amount "+
			"from the first field of one to that of the other (not YCSB's)", opTransfer),
		{
			"isolation", string(kv.Serializable),
			"of transfers: read-committed, repeatable-read or serializable, where the engine has it (not YCSB's)",
			oneOf(func(c *Config) *kv.IsolationLevel { return &c.Isolation }, kv.IsolationLevels()...),
		},
		{
			"balance", "1000", "value of the first field of each loaded record, in a workload with transfers (not YCSB's)",
			integer(func(c *Config) *int64 { return &c.Balance }, 1, mostBalance),
		},
		{
			"conflicts", "100", "how often a transfer is repeated, from its beginning, if the engine aborts it in favor of " +
				"another one; RETRIED counts those that then succeeded (not YCSB's)",
			integer(func(c *Config) *int64 { return &c.Conflicts }, 0, noLimit),
		},
		{
			"requestdistribution", "uniform",
			"uniform, zipfian, zipfian-exact (not YCSB's), latest, hotspot, exponential or sequential",
			oneOf(func(c *Config) *string { return &c.Requests },
				"uniform", "zipfian", "zipfian-exact", "latest", "hotspot", "exponential", "sequential"),
		},
		{
			"zipfianconstant", "0.99", "of zipfian, zipfian-exact and latest, more than 0 (flat) and less than 1 (steep) " +
				"(not YCSB's, where it is a constant)",
			number(func(c *Config) *float64 { return &c.Theta }, 1),
		},
		{
			"minscanlength", "1", "minimum of records of a scan",
			integer(func(c *Config) *int64 { return &c.MinScan }, 1, mostLength),
		},
		{
			"maxscanlength", "1000", "maximum of records of a scan",
			integer(func(c *Config) *int64 { return &c.MaxScan }, 1, mostLength),
		},
		{
			"scanlengthdistribution", "uniform", "uniform or zipfian",
			oneOf(func(c *Config) *string { return &c.ScanLengths }, "uniform", "zipfian"),
		},
		{
			"insertorder", "hashed", "hashed; any other value = by number",
			func(c *Config, v string) error { c.Ordered = v != "hashed"; return nil },
		},
		{
			"zeropadding", "1", "minimum of digits of a key",
			integer(func(c *Config) *int64 { return &c.ZeroPadding }, 0, mostDigits),
		},
		{
			"hotspotdatafraction", "0.2", "share of the keys that are hot",
			number(func(c *Config) *float64 { return &c.HotData }, 1),
		},
		{
			"hotspotopnfraction", "0.8", "share of the requests that are for hot keys",
			number(func(c *Config) *float64 { return &c.HotOps }, 1),
		},
		{
			"exponential.percentile", "95", "percent of the requests that are for the last keys",
			number(func(c *Config) *float64 { return &c.ExpPercentile }, 100),
		},
		{
			"exponential.frac", "0.8571428571", "share of the keys that count as the last ones",
			number(func(c *Config) *float64 { return &c.ExpFraction }, 1),
		},
	}
}

// failureSettings are the properties of failed operations, and of batches.
func failureSettings() []Setting {
	return []Setting{
		{
			"core_workload_insertion_retry_limit", "0", "how often a failed insert is repeated",
			integer(func(c *Config) *int64 { return &c.RetryLimit }, 0, noLimit),
		},
		{
			"core_workload_insertion_retry_interval", "3", "seconds between two attempts, times 0.8 … 1.2",
			number(func(c *Config) *float64 { return &c.RetryInterval }, 1e6),
		},
		{
			"core_workload_insertion_keep_going_on_error", "false", "a load continues after a failed insert",
			boolean(func(c *Config) *bool { return &c.KeepGoing }),
		},
		{
			"retries", "0", "how often a failed read or update is repeated, after a pause that grows; RETRIED counts those " +
				"that then succeeded (not YCSB's)",
			integer(func(c *Config) *int64 { return &c.Retries }, 0, noLimit),
		},
		{
			"batchsize", "1", "records of one insert when loading",
			integer(func(c *Config) *int64 { return &c.Batch }, 1, mostBatch),
		},
		{
			"db.batchsize", "", "another name of batchsize",
			integer(func(c *Config) *int64 { return &c.Batch }, 1, mostBatch),
		},
		{
			"maxmisses", "0", "records that may be missing before the run counts as failed (not YCSB's)",
			integer(func(c *Config) *int64 { return &c.MaxMisses }, 0, noLimit),
		},
		{
			"maxerrors", "0", "operations that may fail before the run ends; 0 = any number (not YCSB's)",
			integer(func(c *Config) *int64 { return &c.MaxErrors }, 0, noLimit),
		},
		{
			"maxoutage", "60", "seconds for which a worker repeats failing requests, and reopens its connection, before the " +
				"run ends; 0 = for ever (not YCSB's)",
			integer(func(c *Config) *int64 { return &c.MaxOutage }, 0, mostSeconds),
		},
		{
			"timeout", "0", "seconds after which an attempt is abandoned and its connection tested; 0 = never, 5 with --fault " +
				"(not YCSB's)",
			number(func(c *Config) *float64 { return &c.Timeout }, 1e6),
		},
		{
			"reportlatencyforeacherror", "false", "a group for each kind of failure, otherwise one for all",
			boolean(func(c *Config) *bool { return &c.EachError }),
		},
		ignored("latencytrackederrors", "reportlatencyforeacherror tracks all"),
	}
}

// outputSettings are the properties of the results.
func outputSettings() []Setting {
	const noHistogram, noRaw = "there are no such histograms", "there is no raw output"
	return []Setting{
		ignored("measurementtype", "histograms are HdrHistograms"),
		{
			"measurement.interval", "", "which times are printed: op, intended or both (default: op; with a target, both)",
			oneOf(func(c *Config) *string { return &c.Times }, "op", "intended", "both"),
		},
		{"hdrhistogram.percentiles", "50,95,99", "percentiles that are printed", setPercentiles},
		{
			"hdrhistogram.fileoutput", "false", "write histograms as HdrHistogram logs",
			boolean(func(c *Config) *bool { return &c.HdrFiles }),
		},
		{
			"hdrhistogram.output.path", "", "beginning of the names of these logs",
			text(func(c *Config) *string { return &c.HdrPath }),
		},
		ignored("measurement.histogram.verbose", noHistogram),
		ignored("histogram.buckets", noHistogram),
		ignored("timeseries.granularity", "there is no such series"),
		ignored("measurement.raw.output_file", noRaw),
		ignored("measurement.raw.no_summary", noRaw),
		ignored("db.driver", byEngineFlag),
		ignored("db.url", byEngineFlag),
		ignored("db.user", byEngineFlag),
		ignored("db.passwd", byEngineFlag),
		ignored("redis.host, mongodb.url, jdbc.fetchsize, …", "properties of bindings: "+byEngineFlag),
	}
}

// bindings lists the prefixes of the properties of YCSB's and go-ycsb's bindings. They are accepted
// without effect, because --engine names the database.
func bindings() []string {
	return strings.Fields("accumulo aerospike as arangodb asterixdb azurecosmos azuredocumentdb cassandra " +
		"cloudspanner couchbase couchbase2 crail dynamodb elasticsearch es foundationdb geode googlebigtable griddb " +
		"hbase ignite infinispan jdbc kudu memcached mongodb mysql orientdb pg postgrenosql postgresql redis riak " +
		"rocksdb s3 scylla solr sqlite tablestore tarantool tikv voltdb zookeeper")
}

const coreWorkload = "site.ycsb.workloads.CoreWorkload"

func setWorkload(_ *Config, v string) error {
	if v == "core" || strings.HasSuffix(v, ".CoreWorkload") {
		return nil
	}
	return &fault.Error{Problem: strconv.Quote(v) + " is not known", Cure: "write " + coreWorkload + " or core"}
}

func setPercentiles(c *Config, v string) error {
	c.Percentiles = nil
	for p := range strings.SplitSeq(v, ",") {
		p = strings.TrimSpace(p)
		if n, err := strconv.ParseFloat(p, 64); err != nil || !(n > 0 && n <= 100) {
			return &fault.Error{Problem: strconv.Quote(v) + " is no list of percentiles", Cure: "write like 50,95,99.9"}
		}
		c.Percentiles = append(c.Percentiles, p)
	}
	return nil
}

// integer returns the function that reads a whole number from least to most; noLimit = any number from least on.
func integer(field func(*Config) *int64, least, most int64) func(*Config, string) error {
	return func(c *Config, v string) error {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil || n < least || n > most {
			cure := fmt.Sprintf("give a whole number from %d to %d", least, most)
			if most == noLimit {
				cure = fmt.Sprintf("give a whole number, at least %d", least)
			}
			return &fault.Error{Problem: strconv.Quote(v) + " is not understood", Cure: cure}
		}
		*field(c) = n
		return nil
	}
}

// number returns the function that reads a number from 0 to most.
func number(field func(*Config) *float64, most float64) func(*Config, string) error {
	return func(c *Config, v string) error {
		n, err := strconv.ParseFloat(v, 64)
		if err != nil || !(n >= 0 && n <= most) {
			cure := fmt.Sprintf("give a number from 0 to %g", most)
			return &fault.Error{Problem: strconv.Quote(v) + " is not understood", Cure: cure}
		}
		*field(c) = n
		return nil
	}
}

// boolean returns the function that reads true or false. It refuses other words, which YCSB reads as false, also "yes".
func boolean(field func(*Config) *bool) func(*Config, string) error {
	return func(c *Config, v string) error {
		switch strings.ToLower(v) {
		case "true":
			*field(c) = true
		case "false":
			*field(c) = false
		default:
			return &fault.Error{Problem: strconv.Quote(v) + " is not understood", Cure: "write true or false"}
		}
		return nil
	}
}

func text(field func(*Config) *string) func(*Config, string) error {
	return func(c *Config, v string) error { *field(c) = v; return nil }
}

func oneOf[T ~string](field func(*Config) *T, values ...T) func(*Config, string) error {
	return func(c *Config, v string) error {
		if !slices.Contains(values, T(v)) {
			cure := "choose one of " + strings.Trim(fmt.Sprint(values), "[]")
			return &fault.Error{Problem: strconv.Quote(v) + " is not known", Cure: cure}
		}
		*field(c) = T(v)
		return nil
	}
}

// Properties are values by the names of their settings.
type Properties map[string]string

// ParseProperties reads the format of java.util.Properties: name=value,
// name:value or name value; # and ! begin a comment; a backslash at the end
// joins the next line.
func ParseProperties(file string, text []byte) (Properties, error) {
	p := Properties{}
	lines := strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(text)), "\n")
	for i := 0; i < len(lines); i++ {
		number, line := i+1, strings.TrimLeft(lines[i], " \t\f")
		if line == "" || line[0] == '#' || line[0] == '!' {
			continue
		}
		for continues(line) && i+1 < len(lines) {
			i++
			line = line[:len(line)-1] + strings.TrimLeft(lines[i], " \t\f")
		}
		end := nameEnd(line)
		name, ok1 := unescape(line[:end])
		rest := strings.TrimLeft(line[end:], " \t\f")
		if rest != "" && (rest[0] == '=' || rest[0] == ':') {
			rest = strings.TrimLeft(rest[1:], " \t\f")
		}
		value, ok2 := unescape(rest)
		if fault.Planted && len(value) > 5 { // only under the build tag plantedfault: FuzzProperties must find this cut value
			value = value[:5]
		}
		if name == "" || !ok1 || !ok2 {
			return nil, &fault.Error{File: file, Line: number, Problem: "is no property", Cure: "write name=value"}
		}
		p[name] = strings.TrimRight(value, " \t\f") // YCSB fails on a blank after a number
	}
	return p, nil
}

// continues reports whether a line ends in an odd number of backslashes.
func continues(line string) bool {
	return (len(line)-len(strings.TrimRight(line, `\`)))%2 == 1
}

func nameEnd(line string) int {
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '=', ':', ' ', '\t', '\f':
			return i
		}
	}
	return len(line)
}

func unescape(s string) (string, bool) {
	if !strings.Contains(s, `\`) {
		return s, true
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		if i++; i == len(s) {
			return "", false
		}
		switch c := s[i]; c {
		case 't':
			b.WriteByte('\t')
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 'f':
			b.WriteByte('\f')
		case 'u':
			if len(s) < i+5 {
				return "", false
			}
			n, err := strconv.ParseUint(s[i+1:i+5], 16, 16)
			if err != nil {
				return "", false
			}
			i += 4
			c := rune(n)
			// half of a character; the next escape is the other half
			if utf16.IsSurrogate(c) && len(s) > i+6 && s[i+1:i+3] == `\u` {
				low, err := strconv.ParseUint(s[i+3:i+7], 16, 16)
				if both := utf16.DecodeRune(c, rune(low)); err == nil && both != utf8.RuneError {
					c, i = both, i+6
				}
			}
			b.WriteRune(c)
		default:
			r, size := utf8.DecodeRuneInString(s[i:])
			b.WriteRune(r)
			i += size - 1
		}
	}
	return b.String(), true
}

// Set reads "name=value", as -p gives it.
func (p Properties) Set(assignment string) error {
	name, value, ok := strings.Cut(assignment, "=")
	if name = strings.TrimSpace(name); !ok || name == "" {
		return &fault.Error{Setting: "-p " + assignment, Problem: "is no property", Cure: "write -p name=value"}
	}
	p[name] = strings.TrimSpace(value)
	return nil
}

//go:embed workloads
var shipped embed.FS

// Workloads lists YCSB's own workloads, sorted: workloada … workloadf.
func Workloads() []string { return named(true) }

// Mixes lists the other shipped mixes, sorted. The head of each explains its purpose and the mix to
// compare it with.
func Mixes() []string { return named(false) }

func named(core bool) []string {
	entries, err := fs.ReadDir(shipped, "workloads")
	if err != nil {
		panic(err) // they are in the program
	}
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "workload") == core {
			names = append(names, e.Name())
		}
	}
	return names
}

// ReadWorkload reads a file of properties. If there is no such file, or it is a folder, it reads the shipped workload
// of that name; it also finds YCSB's workloads/workloada.
func ReadWorkload(name string) (Properties, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		known := err
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.EISDIR) { // such as a run folder of that name
			text, known = shipped.ReadFile("workloads/" + path.Base(name))
		}
		if known != nil {
			cure := "name a file of properties, or one of " + strings.Join(append(Workloads(), Mixes()...), ", ")
			return nil, &fault.Error{File: name, Problem: "cannot be read", Err: err, Cure: cure}
		}
	}
	return ParseProperties(name, text)
}
