package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
)

// Files of docs/permissions.
const (
	roleFile           = "aws.json"
	controllerRoleFile = "aws-controller.json"
	// clusterMark stands for the cluster's id in the role.
	clusterMark = "CLUSTER_ID"
)

// Diagnose checks the caller, every action of the role, and the quotas of load balancers.
func (s *Session) Diagnose(ctx context.Context, roles providers.Roles) []providers.Diagnosis {
	const about = "AWS credentials"
	faulty := providers.Diagnosis{Code: providers.CheckCredentials, Result: providers.Faulty, About: about, Next: "Set valid credentials of the controller's role in the environment, and run the command again."}
	if _, err := s.sdk.Credentials.Retrieve(ctx); err != nil {
		faulty.State, faulty.Cause = "not found", textOf(err)
		return []providers.Diagnosis{faulty}
	}
	identity, err := sts.NewFromConfig(s.sdk).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	switch failed := faultOf(err, kit.Reading); {
	case err == nil:
	case fault.Is(failed, fault.Denied):
		faulty.State, faulty.Cause = "not accepted", textOf(err)
		return []providers.Diagnosis{faulty}
	default:
		return []providers.Diagnosis{providers.Unchecked(providers.CheckCredentials, about, failed.Error(), "Run the command again where STS can be reached.")}
	}
	caller := awssdk.ToString(identity.Arn)
	out := []providers.Diagnosis{{Code: providers.CheckCredentials, Result: providers.Fine, About: about, State: "accepted for " + caller}}
	out = append(out, s.diagnoseRole(ctx, caller, roles)...)
	return append(out, s.diagnoseQuotas(ctx)...)
}

// roleStatement is a statement of a role in docs/permissions.
type roleStatement struct {
	Action    []string                  `json:"Action"`
	Condition map[string]map[string]any `json:"Condition"`
}

// keys returns values of condition keys for which the statement applies.
func (r roleStatement) keys(cluster string) map[string]string {
	out := map[string]string{}
	for _, operands := range r.Condition {
		for key, want := range operands {
			key = strings.ReplaceAll(key, clusterMark, cluster)
			switch v := want.(type) {
			case []any:
				out[key] = fmt.Sprint(v[0])
			case string:
				if out[key] = v; v == "false" { // of Null: the key is set
					out[key] = "owned"
				}
			}
		}
	}
	return out
}

// statements reads the roles that the configuration needs.
func (s *Session) statements(roles providers.Roles) ([]roleStatement, error) {
	names := []string{roleFile}
	if s.config.Controller.Serve {
		names = append(names, controllerRoleFile)
	}
	var out []roleStatement
	for _, name := range names {
		var role struct {
			Statement []roleStatement `json:"Statement"`
		}
		if err := json.Unmarshal(roles[name], &role); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out = append(out, role.Statement...)
	}
	return out, nil
}

// diagnoseRole checks each action of the role once.
func (s *Session) diagnoseRole(ctx context.Context, caller string, roles providers.Roles) []providers.Diagnosis {
	statements, err := s.statements(roles)
	if err != nil {
		return []providers.Diagnosis{providers.Unchecked(providers.CheckPermission, "permissions", err.Error(), "")}
	}
	found := map[string]providers.Diagnosis{}
	for _, statement := range statements {
		decisions, err := s.evaluate(ctx, caller, statement)
		for _, action := range statement.Action {
			if d := s.diagnoseAction(ctx, action, decisions[action], err); found[action].Result != providers.Faulty {
				found[action] = d
			}
		}
	}
	out := make([]providers.Diagnosis, 0, len(found))
	for _, action := range slices.Sorted(maps.Keys(found)) {
		out = append(out, found[action])
	}
	return out
}

// diagnoseAction returns the result for an action that IAM has decided; without a decision,
// that of a dry run.
func (s *Session) diagnoseAction(ctx context.Context, action, decision string, err error) providers.Diagnosis {
	next := "Add the action to the role of the controller as docs/permissions/" + roleFile + " has it."
	if decision != "" {
		return providers.Permitted(action, decision == "allowed", "IAM decides "+decision, next)
	}
	if dry := s.dryRuns()[action]; dry != nil {
		switch code := codeOf(dry(ctx)); code {
		case "DryRunOperation":
			return providers.Permitted(action, true, "", "")
		case "UnauthorizedOperation":
			return providers.Permitted(action, false, "a dry run was refused: "+code, next)
		}
	}
	cause := "IAM has not decided on the action"
	if err != nil {
		cause = err.Error()
	}
	return providers.Unchecked(providers.CheckPermission, action, cause, "Allow iam:SimulatePrincipalPolicy to these credentials, and run the command again.")
}

// dryRuns are calls by action that are only judged. AWS has them for EC2 alone.
func (s *Session) dryRuns() map[string]func(context.Context) error {
	group := &ec2.CreateSecurityGroupInput{GroupName: awssdk.String("berth-doctor"), Description: awssdk.String("dry run"), VpcId: awssdk.String(s.config.VPC)}
	if s.config.Cluster.ID != "" {
		group.TagSpecifications = []ec2types.TagSpecification{{ResourceType: ec2types.ResourceTypeSecurityGroup,
			Tags: []ec2types.Tag{{Key: awssdk.String(s.config.Cluster.Key()), Value: awssdk.String("owned")}}}}
	}
	return map[string]func(context.Context) error{
		"ec2:CreateSecurityGroup":       dryRun(s.ec2.CreateSecurityGroup, group),
		"ec2:DescribeAccountAttributes": dryRun(s.ec2.DescribeAccountAttributes, &ec2.DescribeAccountAttributesInput{}),
		"ec2:DescribeAddresses":         dryRun(s.ec2.DescribeAddresses, &ec2.DescribeAddressesInput{}),
		"ec2:DescribeAvailabilityZones": dryRun(s.ec2.DescribeAvailabilityZones, &ec2.DescribeAvailabilityZonesInput{}),
		"ec2:DescribeInstances":         dryRun(s.ec2.DescribeInstances, &ec2.DescribeInstancesInput{}),
		"ec2:DescribeInternetGateways":  dryRun(s.ec2.DescribeInternetGateways, &ec2.DescribeInternetGatewaysInput{}),
		"ec2:DescribeRouteTables":       dryRun(s.ec2.DescribeRouteTables, &ec2.DescribeRouteTablesInput{}),
		"ec2:DescribeSecurityGroups":    dryRun(s.ec2.DescribeSecurityGroups, &ec2.DescribeSecurityGroupsInput{}),
		"ec2:DescribeSubnets":           dryRun(s.ec2.DescribeSubnets, &ec2.DescribeSubnetsInput{}),
	}
}

// dryRun returns a call that EC2 judges and does not carry out. It sets the flag itself, so that no call can lack it; the
// inputs of other APIs have none, and panic.
func dryRun[I, O, P any](op operation[I, O, P], in *I) func(context.Context) error {
	reflect.ValueOf(in).Elem().FieldByName("DryRun").Set(reflect.ValueOf(awssdk.Bool(true)))
	return func(ctx context.Context) error {
		_, err := op(ctx, in)
		return err
	}
}

// diagnoseQuotas compares the number of load balancers with the quotas of the account.
func (s *Session) diagnoseQuotas(ctx context.Context) []providers.Diagnosis {
	limits := map[string]string{}
	if err := s.eachLimit(ctx, func(name, most string) { limits[name] = most }); err != nil {
		return []providers.Diagnosis{providers.Unchecked(providers.CheckQuota, "quotas", err.Error(), "")}
	}
	classic, network := 0, 0
	err := readPages(ctx, s.classic.DescribeLoadBalancers, &elb.DescribeLoadBalancersInput{}, func(o *elb.DescribeLoadBalancersOutput) {
		classic += len(o.LoadBalancerDescriptions)
	})
	if err == nil {
		err = readPages(ctx, s.network.DescribeLoadBalancers, &elbv2.DescribeLoadBalancersInput{}, func(o *elbv2.DescribeLoadBalancersOutput) {
			network += len(o.LoadBalancers)
		})
	}
	if err != nil {
		return []providers.Diagnosis{providers.Unchecked(providers.CheckQuota, "quotas", err.Error(), "")}
	}
	var out []providers.Diagnosis
	for name, used := range map[string]int{"classic-load-balancers": classic, "network-load-balancers": network} {
		if most, err := strconv.Atoi(limits[name]); err == nil {
			out = append(out, providers.WithinQuota(name, used, most))
		}
	}
	slices.SortFunc(out, func(a, b providers.Diagnosis) int { return strings.Compare(a.About, b.About) })
	return out
}
