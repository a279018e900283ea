package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/berth-lb/berth/service/offline"
	"github.com/berth-lb/berth/stack/plan"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	code := runCommand(ctx, os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr})
	stop()
	os.Exit(code)
}

// streams are where a command reads and writes: results to out, talk to err.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// exit is the exit code of a command that did what it should.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// runCommand performs one command and returns the exit code of the process.
func runCommand(ctx context.Context, args []string, s streams) int {
	root := newRoot(s)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if code := exit(0); errors.As(err, &code) {
		return int(code)
	}
	if err != nil {
		_, _ = fmt.Fprintf(s.err, "berth: %s\n", escapeMessage(err.Error())) // there is no other place to report it
		return plan.ExitError
	}
	return plan.ExitNothing
}

func newRoot(s streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "berth",
		Short: "Shows what Berth would do with Services of type LoadBalancer",
		Long: "Berth turns Kubernetes Services of type LoadBalancer into cloud load balancers.\n" +
			"This program shows what it would do, and what it understands. It writes nothing,\n" +
			"neither to the cloud nor to the cluster; only orphans --delete does, once confirmed,\n" +
			"and sync, which writes one annotation.",
		SilenceErrors: true,
		// Usage helps with a flag that is wrong, not with a cloud that does not answer.
		PersistentPreRun: func(cmd *cobra.Command, _ []string) { cmd.SilenceUsage = true },
	}
	info, _ := debug.ReadBuildInfo() // nil without module support
	root.Version = versionText(info)
	root.SetVersionTemplate("{{.Version}}")
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.AddCommand(newPlan(), newDiff(), newExplain(), newGraph(), newCheck(), newStatus(), newDoctor(), newSync(), newOrphans(), newUI(), newPolicy(), newAnnotations(), newVersion())
	return root
}

// printNotes writes notes to stderr.
func printNotes(cmd *cobra.Command, notes []string) {
	for _, note := range notes {
		cmd.PrintErrln("note: " + escapeMessage(note))
	}
}

// escapeMessage escapes the control characters of a message, but for the ends of its lines: it can
// contain names of files and objects.
func escapeMessage(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = offline.EscapeControls(line)
	}
	return strings.Join(lines, "\n")
}

// printResult writes a result to stdout.
func printResult(cmd *cobra.Command, result string) error {
	_, err := io.WriteString(cmd.OutOrStdout(), result)
	return err
}
