// Package drawing draws the history of facts as SVG and their relations as a Mermaid
// diagram.
//
//	svg := drawing.Timeline{Title: "architecture/auth", Bars: bars, Now: now}.SVG(nil)
//	text := drawing.Mermaid(links)
//
// # Timeline
//
// Valid time runs to the right. Each version is a bar: the current one is filled, past
// ones are outlined, planned ones are dashed. A red mark between two bars is a
// contradiction; an amber mark above a bar is a dispute. A second, thin axis shows when
// versions were recorded, if that differs from when they begin.
//
// The axis is in proportion to time, but each stretch between two changes has a minimum width. A
// store may hold changes of one second and of ten years. The labels are the days of the changes,
// so the axis is read right in both cases.
//
// # What always holds
//
// Every text is escaped and shown in one line; hidden and bidirectional characters are written
// as escapes (package prose). A drawing has no script and loads nothing. Colours come from
// [Style] by class. A page with a strict policy for styles can serve them from a file. A
// standalone drawing contains them. Colour is never the only sign.
package drawing
