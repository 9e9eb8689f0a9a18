// Package metviewer reads the XML files of METviewer and related programs: the load_spec of
// METdbLoad and of VxIngest, which describes what is loaded into which database, and the plot_spec
// of METviewer's batch mode, which describes plots.
//
// The package only reads these files: LoadSpec.Folders expands templates without accessing a disk,
// and package question turns a Plot into questions. Elements have their meaning in METviewer;
// Elements lists those of a load_spec with their meaning here. Unknown elements are reported with
// their line, and never skipped silently.
package metviewer
