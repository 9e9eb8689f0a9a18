// Package metviewer reads the XML files of the METviewer world: the load_spec of
// METdbLoad and of VxIngest, which says what is loaded and where to, and the
// plot_spec of METviewer's batch mode, which says what is drawn.
//
// It knows files only: LoadSpec.Folders expands templates without looking at a
// disk, and package question turns a Plot into questions. Elements are read by
// what they mean to METviewer; Elements lists those of a load_spec with what
// they mean here. What is not understood is named with its line, never skipped
// in silence.
package metviewer
