package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/berth-lb/berth/stack/plan"
)

// outputFlags say how results are shown.
type outputFlags struct {
	format  string
	noColor bool
	width   int
}

func (f *outputFlags) register(cmd *cobra.Command, formats []string) {
	set := cmd.Flags()
	set.StringVarP(&f.format, "output", "o", formats[0], "form of output: "+strings.Join(formats, ", "))
	set.BoolVar(&f.noColor, "no-color", false, "no colours; NO_COLOR in the environment means the same, and only terminals get any")
	set.IntVar(&f.width, "width", 0, "longest line in characters (default: that of the terminal, else 80)")
}

// options are those of a person's terminal, or of a file.
func (f *outputFlags) options(cmd *cobra.Command) plan.Options {
	opt := plan.Options{Width: f.width}
	file, ok := cmd.OutOrStdout().(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		opt.Whole = f.width == 0 // the width of a log cannot be changed
		return opt
	}
	opt.Color = !f.noColor && os.Getenv("NO_COLOR") == ""
	if width, _, err := term.GetSize(int(file.Fd())); err == nil && f.width == 0 {
		opt.Width = width
	}
	return opt
}

// legal refuses a form of output before any work is done for it.
func (f *outputFlags) legal(formats []string) error {
	if slices.Contains(formats, f.format) {
		return nil
	}
	return fmt.Errorf("--output %q is not known; legal: %s", f.format, strings.Join(formats, ", "))
}
