package wire

import (
	"context"
	"fmt"
	"io"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	smithymiddleware "github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/berth-lb/berth/providers/aws/model"
)

type middlewareStack = smithymiddleware.Stack

// serviceMetadata is what the cloud configuration calls the instance metadata
// service. Source: kubernetes/cloud-provider-aws:pkg/providers/v1/config/config.go.
const serviceMetadata = "ec2imds"

// withRole assumes the role of the configuration on top of the credentials that
// were found.
func withRole(sdk awssdk.Config, c model.Config) awssdk.Config {
	if c.RoleARN == "" {
		return sdk
	}
	client := sts.NewFromConfig(sdk, func(o *sts.Options) {
		o.APIOptions = append(o.APIOptions, sourceHeaders(c.SourceARN)...)
	})
	out := sdk.Copy()
	out.Credentials = awssdk.NewCredentialsCache(stscreds.NewAssumeRoleProvider(client, c.RoleARN))
	return out
}

// sourceHeaders name the resource on whose behalf the role is assumed, which prevents
// use of the role for other resources (confused deputy). They are signed with the
// request.
// Source: kubernetes/cloud-provider-aws:pkg/providers/v1/aws_sdk.go.
func sourceHeaders(source string) []func(*middlewareStack) error {
	if source == "" {
		return nil
	}
	headers := []func(*middlewareStack) error{smithyhttp.SetHeaderValue("x-amz-source-arn", source)}
	if a, err := arn.Parse(source); err == nil {
		headers = append(headers, smithyhttp.SetHeaderValue("x-amz-source-account", a.AccountID))
	}
	return headers
}

func regionOfInstance(ctx context.Context, sdk awssdk.Config) (string, error) {
	out, err := imds.NewFromConfig(sdk).GetRegion(ctx, &imds.GetRegionInput{})
	if err != nil {
		return "", fmt.Errorf("region: neither the cloud configuration nor the environment names one, and the instance metadata is not readable: %w", err)
	}
	return out.Region, nil
}

// instanceIdentity is what our own instance says of where we are.
type instanceIdentity struct {
	vpc, subnet string
	tags        model.Tags
}

// ownInstance reads the id of our own instance from the instance metadata service, and
// the rest from EC2.
func (s *Session) ownInstance(ctx context.Context, sdk awssdk.Config) (instanceIdentity, error) {
	id, err := readMetadata(ctx, sdk, "instance-id")
	if err != nil {
		return instanceIdentity{}, fmt.Errorf("own instance: the cloud configuration does not name both VPC and KubernetesClusterID, and the instance metadata is not readable: %w", err)
	}
	out, err := readCall(ctx, s.ec2.DescribeInstances, &ec2.DescribeInstancesInput{InstanceIds: []string{id}})
	if err != nil {
		return instanceIdentity{}, fmt.Errorf("own instance %s: %w", id, err)
	}
	for _, r := range out.Reservations {
		for _, i := range r.Instances {
			return instanceIdentity{
				vpc:    awssdk.ToString(i.VpcId),
				subnet: awssdk.ToString(i.SubnetId),
				tags:   tagsOfEC2(i.Tags),
			}, nil
		}
	}
	return instanceIdentity{}, fmt.Errorf("own instance %s: EC2 does not know it", id)
}

func readMetadata(ctx context.Context, sdk awssdk.Config, path string) (string, error) {
	out, err := imds.NewFromConfig(sdk).GetMetadata(ctx, &imds.GetMetadataInput{Path: path})
	if err != nil {
		return "", err
	}
	defer func() { _ = out.Content.Close() }()
	text, err := io.ReadAll(out.Content)
	return strings.TrimSpace(string(text)), err
}
