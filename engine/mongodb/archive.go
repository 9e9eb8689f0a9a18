package mongodb

import (
	"context"
	"iter"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/docengine"
	"github.com/barograph/barograph/record"
)

const (
	idsAsked  = 20_000  // ids in one filter: a command holds 16 MB
	replySize = 100_000 // documents in one reply, which the server cuts at 16 MB
)

// archive is the document archive of a database.
type archive struct {
	*docengine.Archive
	*database
}

func (a *archive) collection(subset string, t *record.LineType) *mongo.Collection {
	return a.db.Collection(collectionName(subset, t))
}

// Contents counts the documents and, by unwinding them, the leads.
func (a *archive) Contents(ctx context.Context, subset string) (engine.Contents, error) {
	out := engine.Contents{Records: map[string]int64{}, Object: "documents"}
	known, err := a.Known(ctx, subset)
	if err != nil {
		return out, err
	}
	for t := range docengine.Types(known) {
		n, err := a.collection(subset, t).CountDocuments(ctx, bson.D{})
		if err != nil {
			return out, failed(ctx, err)
		}
		out.Objects += n
		c, err := a.collection(subset, t).Aggregate(ctx, bson.A{bson.D{{Key: "$unwind", Value: "$data"}}, bson.D{{Key: "$count", Value: "n"}}})
		if err != nil {
			return out, failed(ctx, err)
		}
		var counts []struct{ N int64 }
		if err := c.All(ctx, &counts); err != nil {
			return out, failed(ctx, err)
		}
		if len(counts) > 0 {
			out.Records[t.Name] = counts[0].N
		}
	}
	return out, nil
}

// Size is what the server says that the database takes on disk.
func (a *archive) Size(ctx context.Context) (int64, error) {
	var stats struct {
		Storage float64 `bson:"storageSize"` // a whole number of either kind
		Indexes float64 `bson:"indexSize"`
	}
	err := a.db.RunCommand(ctx, bson.D{{Key: "dbStats", Value: 1}}).Decode(&stats)
	return int64(stats.Storage + stats.Indexes), failed(ctx, err)
}

// Dump walks the documents as they are stored, one collection after the other.
func (a *archive) Dump(ctx context.Context, subset string) iter.Seq2[*record.Batch, error] {
	return a.Archive.Dump(ctx, subset, func(t *record.LineType, each func(id string, doc []byte) error) error {
		c, err := a.collection(subset, t).Find(ctx, bson.D{})
		if err != nil {
			return failed(ctx, err)
		}
		return walkIDs(ctx, c, each)
	})
}
