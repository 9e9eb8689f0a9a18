// Package plot draws the pictures of a report as SVG: a struct goes in, bytes
// come out. It is step 8 of the data flow (see docs/design.md) and knows
// nothing of runs; package report fills its structs from a run folder.
//
// Every picture has a Frame: title, subtitle, caption, axis labels with their
// units. Pictures are 900 px wide unless instructed otherwise, white, in the
// colour-blind safe palette of Okabe and Ito, with thin grids and the legend
// above the data, where it hides nothing. Values that are not finite leave
// gaps, and a picture without data says so.
//
// The same struct always gives the same bytes. A picture refers to nothing
// outside itself, can stand inline in HTML or as a file, and asks for the fonts
// Liberation Sans, Arial or Helvetica, which have the same widths.
//
// Drawing, fonts and axes are those of gonum.org/v1/plot.
package plot
