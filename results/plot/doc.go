// Package plot draws the pictures of a report as SVG, PNG or PDF: the input is a struct, the output
// is bytes. It knows nothing of run folders; package report fills its structs from them.
//
// Every picture has a Frame: title, subtitle, caption, axis labels with their units. Pictures are
// 900 px wide by default and white. They use the palette of Okabe and Ito, which is safe for color
// blindness, thin grids, and a legend at the top, where it hides no data. Values that are not
// finite leave gaps, and a picture without data shows the words "no data".
//
// The same struct always results in the same bytes. A picture refers to no external resource, works
// inline in HTML or as a file, and uses the fonts Liberation Sans, Arial or Helvetica, which have
// the same widths.
//
// Drawing, fonts and axes are those of gonum.org/v1/plot.
package plot
