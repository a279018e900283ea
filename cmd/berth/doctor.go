package main

import (
	"cmp"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/berth-lb/berth/service/offline"
	"github.com/berth-lb/berth/service/settings"
)

const doctorHelp = `Doctor checks the setup of the controller. In the cluster it looks at versions, the
Deployment and its Lease, other programs that serve the same Services, nodes, node ports
and the webhook. In the cloud it looks at the configuration file, credentials, permissions and
quotas, and it plans a Service of each kind of load balancer, which reads subnets, nodes and
their tags. It writes to neither: permissions are evaluated by the cloud, by dry runs, or by
calls about what does not exist.

The cloud is called with the credentials of this command, from the environment. Give it
those of the controller. What cannot be checked is listed as "not checked", with the cause.

Every result has a code, explained in docs/reference/doctor.md. Equal results are one
entry; -v shows each.

Exit codes:
  0  no check has found an error; there may be warnings, and checks that were not made
  1  error: the command cannot connect to the cluster, or the release cannot be read
  2  a check has found an error`

// doctorFlags are the flags of the command.
type doctorFlags struct {
	setupFlags
	input   offline.Input
	look    outputFlags
	lease   string
	verbose bool
}

func newDoctor() *cobra.Command {
	f := &doctorFlags{}
	cmd := &cobra.Command{
		Use:   "doctor (--release NAME | --provider NAME)",
		Short: "Check credentials, permissions, quotas, nodes and the cluster around the controller",
		Long:  doctorHelp,
		Example: "  berth doctor --release berth\n" +
			"  berth doctor --provider aws --cloud-config cloud.conf -o json",
		Args: cobra.NoArgs,
	}
	f.look.register(cmd, offline.Checkup{}.Formats())
	set := cmd.Flags()
	set.StringSliceVar(&f.input.NodeFiles, "nodes", nil, "file with the Nodes of the cluster, instead of those of the cluster; may be given several times")
	set.StringVar(&f.lease, "lease", "", "Lease of the controller as NAMESPACE/NAME (default: that of the release, else "+offline.DefaultLease+")")
	set.BoolVarP(&f.verbose, "verbose", "v", false, "show each result, also of what is as it should be")
	f.input.RegisterConnection(set)
	f.setupFlags.register(cmd, releaseHelp, "cloud to check")
	cmd.MarkFlagsOneRequired("provider", "release")
	completeFlags(cmd, map[string][]string{"output": offline.Checkup{}.Formats()})
	cmd.RunE = f.run
	return cmd
}

func (f *doctorFlags) run(cmd *cobra.Command, _ []string) error {
	if err := f.look.legal(offline.Checkup{}.Formats()); err != nil {
		return err
	}
	f.target.Settings = settings.Settings{DefaultClass: true, OnTakeover: "converge"}
	opened, err := f.read(cmd, f.input, func(r *offline.Release) offline.Target { return r.Target })
	defer closeRelease(opened)
	if err != nil {
		return err
	}
	in := f.input
	in.Stdin = cmd.InOrStdin()
	found, err := offline.Doctor(cmd.Context(), in, f.target, offline.Examination{Release: f.release, Lease: f.lease, Program: programVersion(), Now: time.Now()})
	if err != nil {
		return err
	}
	found.Verbose = f.verbose
	text, err := found.Render(f.look.format, f.look.options(cmd).Width)
	if err != nil {
		return err
	}
	if err := printResult(cmd, text); err != nil {
		return err
	}
	return exit(found.ExitCode())
}

// programVersion returns the version of this program; empty: unknown.
func programVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "(devel)" {
		return cmp.Or(version, info.Main.Version)
	}
	return version
}
