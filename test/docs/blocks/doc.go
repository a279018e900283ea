// Package blocks reads the fenced blocks of Markdown pages and the commands in them.
//
// Each fence names its language. A block of commands (sh), and a transcript of commands and
// output (console), is run by a test unless its fence has the mark `not-run=REASON`. [Reasons]
// lists the legal ones. Start with [Read].
package blocks
