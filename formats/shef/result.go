package shef

import "github.com/barograph/barograph/record"

// Result is what one product, or part of one, holds. All of it is valid until
// the Result is used again.
type Result struct {
	Product  Product // without its text
	Values   []record.Gauge
	Problems []Problem
	Counts   [128]int32 // of problems, by number
	Account  Account
}

func (r *Result) reset(p *Product) {
	r.Product = *p
	r.Product.Text = nil
	r.Values, r.Problems = r.Values[:0], r.Problems[:0]
	r.Counts = [128]int32{}
	r.Account = Account{}
}

// Account says where everything of a product went. Whole checks it.
type Account struct {
	// Lines = Blank + Comment + Text + Data. Text is what is no SHEF: headings,
	// prose, .END, and lines with a dot that begin no message.
	Lines, Blank, Comment, Text, Data int64
	Messages                          int64

	// Pieces is what stands on data lines between slashes and commas and is not
	// blank, counted before decoding; the rest is counted by it:
	// Pieces + Extra = ValuePieces + LostPieces + Control.
	Pieces, ValuePieces, LostPieces, Control, Extra int64

	Values           int64 // decoded, missing ones included
	Lost             int64 // not decoded: each has a problem, or is of a message that has
	Nulls            int64 // places left empty (5.3.5)
	Errors, Warnings int64
}

// Whole reports whether every line and every piece is accounted for.
func (a *Account) Whole() bool {
	return a.Lines == a.Blank+a.Comment+a.Text+a.Data &&
		a.Pieces+a.Extra == a.ValuePieces+a.LostPieces+a.Control &&
		(a.Lost == 0 || a.Errors > 0)
}

// Add adds what another product counted.
func (a *Account) Add(b *Account) {
	a.Lines += b.Lines
	a.Blank += b.Blank
	a.Comment += b.Comment
	a.Text += b.Text
	a.Data += b.Data
	a.Messages += b.Messages
	a.Pieces += b.Pieces
	a.ValuePieces += b.ValuePieces
	a.LostPieces += b.LostPieces
	a.Control += b.Control
	a.Extra += b.Extra
	a.Values += b.Values
	a.Lost += b.Lost
	a.Nulls += b.Nulls
	a.Errors += b.Errors
	a.Warnings += b.Warnings
}
