package main

import (
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/barograph/barograph/internal/build"
)

// newMan writes the manual pages of all commands. packaging/release runs it.
func newMan() *cobra.Command {
	return &cobra.Command{
		Use: "man FOLDER", Hidden: true, Args: cobra.ExactArgs(1),
		Short: "Write the manual pages of all commands into a folder",
		RunE: func(c *cobra.Command, args []string) error {
			root := c.Root()
			root.DisableAutoGenTag = true // the tag has the present date, so builds would differ
			_, committed := build.Commit()
			date, err := time.Parse(time.RFC3339, committed)
			if err != nil { // the build recorded no date
				date = time.Unix(0, 0).UTC()
			}
			return doc.GenManTree(root, &doc.GenManHeader{
				Title: "BAROGRAPH", Section: "1", Date: &date, Source: "Barograph " + build.Version(), Manual: "Barograph",
			}, args[0])
		},
	}
}
