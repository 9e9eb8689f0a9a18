package river

import (
	"bytes"
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// writeTexts stores the texts of products in textproduct (shef_storetext). It keeps the latest versions of each
// product, as many as purgeproduct specifies; of several texts of one time, the last in alphabetical order. As in AWIPS,
// a product without a row in purgeproduct gets one with 0 versions, which an administrator may raise. writeTexts stores
// no text twice, and none that is older than the versions to be kept.
func (x *posting) writeTexts(ctx context.Context, w *writer, products []*Product) error {
	var ids []string
	var texts []*Product
	for _, p := range products {
		if len(p.Text) > 0 {
			ids, texts = append(ids, p.ID), append(texts, p)
		}
	}
	if len(texts) == 0 {
		return nil
	}
	purge, stored := w.schema+"purgeproduct", w.schema+"textproduct"
	if _, err := w.Exec(ctx, "LOCK TABLE "+purge+", "+stored+" IN SHARE ROW EXCLUSIVE MODE"); err != nil {
		return err
	}
	var rows pgx.Batch
	posted := x.now.UTC().Truncate(time.Second)
	for _, p := range texts {
		rows.Queue(`UPDATE `+purge+` SET producttime = $2::timestamp, postingtime = $3::timestamp
			WHERE product_id = $1 AND (producttime IS NULL OR producttime < $2::timestamp)`, p.ID, p.Issued, posted)
		rows.Queue(`INSERT INTO `+purge+` (product_id, num_versions, producttime, postingtime)
			SELECT $1::varchar, 0, $2::timestamp, $3::timestamp
			WHERE NOT EXISTS (SELECT FROM `+purge+` WHERE product_id = $1)`, p.ID, p.Issued, posted)
		// The key contains postingtime, so a second text of the same second gets the next free microsecond.
		rows.Queue(`INSERT INTO `+stored+` (product_id, producttime, postingtime, prodtype, product)
			SELECT $1::varchar, $2::timestamp,
				greatest($3::timestamp, (
					SELECT max(postingtime) + interval '1 microsecond' FROM `+stored+` WHERE product_id = $1 AND producttime = $2)),
				$4::varchar, $5::text
			WHERE EXISTS (SELECT FROM `+purge+` WHERE product_id = $1 AND num_versions > (
					SELECT count(*) FROM `+stored+` t
					WHERE t.product_id = $1 AND (t.producttime, t.product COLLATE "C") > ($2::timestamp, $5::text)))
				AND NOT EXISTS (SELECT FROM `+stored+` WHERE product_id = $1 AND producttime = $2 AND product = $5)`,
			p.ID, p.Issued, posted, productType(p.ID), cleanText(p.Text))
	}
	rows.Queue(`DELETE FROM `+stored+` t USING (
			SELECT o.product_id, o.producttime, o.postingtime,
				row_number() OVER (PARTITION BY o.product_id
					ORDER BY o.producttime DESC, o.product COLLATE "C" DESC, o.postingtime DESC) version
			FROM `+stored+` o WHERE o.product_id = ANY($1)) v
		JOIN `+purge+` p ON p.product_id = v.product_id
		WHERE (t.product_id, t.producttime, t.postingtime) = (v.product_id, v.producttime, v.postingtime)
			AND p.num_versions > 0 AND v.version > p.num_versions`, ids)
	return w.sendAll(ctx, &rows)
}

// productType returns AWIPS's type of a product: F = forecast, C = guidance for flash floods, O = other.
func productType(id string) string {
	switch {
	case strings.Contains(id, "RVF"), strings.Contains(id, "QPF"):
		return "F"
	case strings.Contains(id, "FFG"), strings.Contains(id, "FFH"):
		return "C"
	}
	return "O"
}

// cleanText removes control characters and outer white space, and replaces invalid UTF-8, which PostgreSQL rejects.
func cleanText(text []byte) string {
	text = bytes.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, bytes.ToValidUTF8(text, []byte("?")))
	return strings.TrimSpace(string(text)) + "\n"
}
