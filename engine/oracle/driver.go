package oracle

import (
	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/query/flavour"
)

// Driver describes the engine.
func Driver() engine.Driver {
	return engine.Driver{
		Scheme:  "oracle",
		Licence: "proprietary",
		Summary: "Oracle Database 19c or later, a server: METviewer's tables, JSON documents",
		Example: "oracle://user@localhost:1521/FREEPDB1",
		Params: []engine.Param{
			{Name: "sid", Help: "connect to this SID instead of the service in the path"},
			{Name: "ssl", Default: "false", Help: "encrypt the connections: true or false"},
			{Name: "ssl_verify", Default: "true", Help: "check the server's certificate: true or false"},
			{Name: "wallet", Help: "folder of an Oracle wallet, with certificates or a password"},
		},
		Offers: []any{archive.Offer{
			Designs: map[design.Name][]flavour.Name{
				design.Normalized: {flavour.MetviewerSQL, flavour.SQL, flavour.ISORange, flavour.EpochRange},
				design.Document:   {flavour.ISOList, flavour.ISORange, flavour.EpochList, flavour.EpochRange, flavour.Keys},
			},
		}},
		Place:    engine.Remote,
		Untested: notRun,
		Open:     open,
	}
}
