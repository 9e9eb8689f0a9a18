package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"strings"

	"github.com/spf13/cobra"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/results/run"
)

func newAdopt(e *env) *cobra.Command {
	var repair, forget bool
	c := &cobra.Command{
		Use:   "adopt [URL] [--repair|--forget]",
		Short: "Turn a METviewer database that METdbLoad filled into an archive",
		Long: `Adopt reads a database with METviewer's schema, named by the path of the URL, and reports the effects of METdbLoad's known
faults. It writes nothing. Without URL it reads the database that the environment variable BAROGRAPH_ENGINE names.

With --repair the database becomes an archive: adopt copies the tables, repairs the copies, reads them back, and
exchanges all of them at once. The original tables stay in the database barograph_old_NAME until --forget drops them. If
METdbLoad loads more records later, run adopt --forget and then adopt --repair again (docs/how-to/adopt.md). --forget first
verifies the records that Barograph stored, as verify does, without those that METdbLoad added. If it finds any problem, it
drops nothing.

ask, met --from and serve also read a database that is not adopted.`,
		Example: `  barograph adopt mariadb://root@127.0.0.1:3306/mv_site
  barograph adopt mariadb://root@127.0.0.1:3306/mv_site --repair
  barograph load new/*.stat --engine mariadb://root@127.0.0.1:3306/ --subset mv_site`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			url, _, err := e.splitArchive(c, args)
			if err != nil {
				return err
			}
			return e.adopt(c.Context(), url, repair, forget)
		},
	}
	c.Flags().BoolVar(&repair, "repair", false, "turn the database into an archive, and repair it")
	c.Flags().BoolVar(&forget, "forget", false, "drop the original tables that --repair kept, if the archive that replaces them is intact")
	formerly(c, "mend", "repair")
	c.MarkFlagsMutuallyExclusive("repair", "forget")
	return c
}

func (e *env) adopt(ctx context.Context, raw string, repair, forget bool) error {
	u, err := metviewerURL(raw)
	if err != nil {
		return err
	}
	p := archiveRef{design: string(design.Normalized), subset: strings.Trim(u.Path, "/")}
	u.Path = "/"
	p.url = u.String()
	a, err := p.open(ctx, e, engine.Options{ReadOnly: !repair && !forget})
	if err != nil {
		return err
	}
	defer a.Close() //nolint:errcheck // the adopter has committed everything
	adopter, ok := a.Archive.(archive.Adopter)
	if !ok {
		return fault.Misuse(fault.Redact(raw), "is not a database that METviewer can read", "write mariadb://USER@HOST:3306/mv_site")
	}
	if forget {
		return adopter.Forget(ctx, p.subset, func(own archive.Archive) error { return verifyAdopted(ctx, own, &p) })
	}
	out, err := adopter.Adopt(ctx, p.subset, repair)
	if err != nil {
		return err
	}
	return e.print(out, func(w io.Writer) error { return printAdoption(w, out, fault.Redact(raw)) })
}

// verifyAdopted returns an error if an adopted archive differs in any way from what its loads stored, or counts no
// record: then its originals may be the only copy.
func verifyAdopted(ctx context.Context, own archive.Archive, p *archiveRef) error {
	v, err := load.Verify(ctx, own, p.subset)
	if err != nil || len(v.Problems) == 0 && v.Expected.Records > 0 {
		return err
	}
	problem := "nothing was dropped; the archive is not intact: " + append(v.Problems, "its catalog counts no record")[0]
	cure := fmt.Sprintf("see `barograph verify %[1]s --subset %[2]s`; if records were deleted on purpose, run `barograph verify "+
		"%[1]s --subset %[2]s --prune` first, or drop the database with the original tables yourself", fault.Redact(p.url), p.subset)
	return differs(&fault.Error{Setting: "--forget", Problem: problem, Cure: cure})
}

// printAdoption prints the findings and the repairs.
func printAdoption(w io.Writer, a *archive.Adoption, url string) error {
	rows := lists.Sum(maps.Values(a.Read))
	fmt.Fprintf(w, "%s: %s of %s (%s)\n", a.Database,
		run.CountOf(rows, "row"), run.CountOf(len(a.Read), "line type"), run.CountOf(a.Records, "record"))
	for _, f := range a.Findings {
		if f.First != "" {
			f.Problem += " (" + f.First + ")"
		}
		fmt.Fprintf(w, "  %9d  %s: %s\n             repair: %s\n", f.Count, f.Name, f.Problem, f.Repair)
	}
	if a.OriginalsDatabase == "" {
		_, err := fmt.Fprintln(w, "adopt changed nothing; --repair turns the database into an archive")
		return err
	}
	_, err := fmt.Fprintf(w, "adopted; database %s keeps the original tables until `barograph adopt %s --forget`\n", a.OriginalsDatabase, url)
	return err
}
