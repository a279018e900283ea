package elbv2_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	v2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/berth-lb/berth/test/sim/aws/elbv2"
)

func TestTerminatedInstancesLeaveTheirGroup(t *testing.T) {
	r := newRig(t, elbv2.Options{})
	tg := r.group("g", types.ProtocolEnumTcp)
	r.listen(r.nlb("web"), 80, tg)
	targets := []types.TargetDescription{{Id: aws.String("i-0a1")}, {Id: aws.String("i-0b2")}}
	if _, err := r.RegisterTargets(t.Context(), &v2.RegisterTargetsInput{TargetGroupArn: tg.TargetGroupArn, Targets: targets}); err != nil {
		t.Fatal(err)
	}
	in := r.world.Instances["i-0a1"]
	in.State = "stopped"
	r.world.Instances["i-0a1"] = in
	if diff := cmp.Diff([]string{"i-0a1 unused Target.InvalidState", "i-0b2 healthy"}, r.health(tg)); diff != "" {
		t.Errorf("stopped (-want +got)\n%s", diff)
	}
	in.State = "terminated"
	r.world.Instances["i-0a1"] = in
	if diff := cmp.Diff([]string{"i-0b2 healthy"}, r.health(tg)); diff != "" {
		t.Errorf("terminated (-want +got)\n%s", diff)
	}
	out, err := r.DescribeTargetHealth(t.Context(), &v2.DescribeTargetHealthInput{TargetGroupArn: tg.TargetGroupArn, Targets: targets[:1]})
	if err != nil {
		t.Fatal(err)
	}
	if got := out.TargetHealthDescriptions[0].TargetHealth; got.State != types.TargetHealthStateEnumDraining ||
		got.Reason != types.TargetHealthReasonEnumDeregistrationInProgress {
		t.Errorf("asked for by name: %s %s, want draining Target.DeregistrationInProgress", got.State, got.Reason)
	}
	_, err = r.RegisterTargets(t.Context(), &v2.RegisterTargetsInput{TargetGroupArn: tg.TargetGroupArn, Targets: targets[:1]})
	expect(t, "registered again", "InvalidTarget", err)
}

func TestLoadBalancersOfAGroupAreShownByDescribeOnly(t *testing.T) {
	r := newRig(t, elbv2.Options{})
	tg := r.group("g", types.ProtocolEnumTcp)
	if tg.LoadBalancerArns != nil {
		t.Errorf("creation says load balancers %v, want no such list", tg.LoadBalancerArns)
	}
	out, err := r.DescribeTargetGroups(t.Context(), &v2.DescribeTargetGroupsInput{})
	if err != nil {
		t.Fatal(err)
	}
	if got := out.TargetGroups[0].LoadBalancerArns; got == nil || len(got) != 0 {
		t.Errorf("description says load balancers %#v, want an empty list", got)
	}
}

// The type is judged before what goes with it.
func TestStickinessTypeComesFirst(t *testing.T) {
	r := newRig(t, elbv2.Options{})
	for protocol, want := range map[types.ProtocolEnum]string{types.ProtocolEnumHttp: "", types.ProtocolEnumTcp: "InvalidConfigurationRequest"} {
		_, err := r.ModifyTargetGroupAttributes(t.Context(), &v2.ModifyTargetGroupAttributesInput{
			TargetGroupArn: r.group("g-"+string(protocol), protocol).TargetGroupArn,
			Attributes: []types.TargetGroupAttribute{
				{Key: aws.String("stickiness.app_cookie.cookie_name"), Value: aws.String("session")},
				{Key: aws.String("stickiness.type"), Value: aws.String("app_cookie")},
			}})
		expect(t, string(protocol), want, err)
		if err != nil && !strings.Contains(err.Error(), "Stickiness type 'app_cookie'") {
			t.Errorf("%s: %v, want the type as the cause", protocol, err)
		}
	}
}

func TestConstraintsOfTheModel(t *testing.T) {
	r := newRig(t, elbv2.Options{})
	tg, lb := r.group("g", types.ProtocolEnumTcp), r.alb("app")
	_, err := r.RemoveTags(t.Context(), &v2.RemoveTagsInput{ResourceArns: []string{*lb.LoadBalancerArn}, TagKeys: []string{"bad|key"}})
	expect(t, "tag key", "ValidationError", err)
	_, err = r.ModifyIpPools(t.Context(), &v2.ModifyIpPoolsInput{LoadBalancerArn: lb.LoadBalancerArn, IpamPools: &types.IpamPools{Ipv4IpamPoolId: aws.String("pool")}})
	expect(t, "pool id", "ValidationError", err)
	_, err = r.ModifyIpPools(t.Context(), &v2.ModifyIpPoolsInput{LoadBalancerArn: lb.LoadBalancerArn, RemoveIpamPools: []types.RemoveIpamPoolEnum{"ipv6"}})
	expect(t, "pool to remove", "ValidationError", err)
	_, err = r.DescribeTargetHealth(t.Context(), &v2.DescribeTargetHealthInput{TargetGroupArn: tg.TargetGroupArn, Include: []types.DescribeTargetHealthInputIncludeEnum{"Everything"}})
	expect(t, "included", "ValidationError", err)
}

const certificate = "arn:aws:acm:us-east-1:000000000000:certificate/1"

func TestTokensAndClientCertificates(t *testing.T) {
	r := newRig(t, elbv2.Options{})
	lb, tg := r.alb("app"), r.group("g", types.ProtocolEnumHttp)
	jwt := &types.JwtValidationActionConfig{Issuer: aws.String("https://issuer"), JwksEndpoint: aws.String("https://issuer/keys"),
		AdditionalClaims: []types.JwtValidationActionAdditionalClaim{{
			Format: types.JwtValidationActionAdditionalClaimFormatEnumSingleString, Name: aws.String("team"), Values: []string{"a"}}}}
	listen := func(port int32, protocol types.ProtocolEnum, mutual *types.MutualAuthenticationAttributes) (*v2.CreateListenerOutput, error) {
		in := &v2.CreateListenerInput{LoadBalancerArn: lb.LoadBalancerArn, Port: aws.Int32(port), Protocol: protocol, MutualAuthentication: mutual,
			DefaultActions: []types.Action{
				{Type: types.ActionTypeEnumJwtValidation, Order: aws.Int32(1), JwtValidationConfig: jwt},
				{Type: types.ActionTypeEnumForward, Order: aws.Int32(2), TargetGroupArn: tg.TargetGroupArn}}}
		if protocol == types.ProtocolEnumHttps {
			in.Certificates = []types.Certificate{{CertificateArn: aws.String(certificate)}}
		}
		return r.CreateListener(t.Context(), in)
	}
	_, err := listen(80, types.ProtocolEnumHttp, nil)
	expect(t, "tokens without TLS", "InvalidLoadBalancerAction", err)
	_, err = listen(443, types.ProtocolEnumHttps, &types.MutualAuthenticationAttributes{Mode: aws.String("verify"), TrustStoreArn: aws.String("arn:nobody")})
	expect(t, "unknown trust store", "TrustStoreNotFound", err)

	store := r.store("store")
	made, err := listen(443, types.ProtocolEnumHttps, &types.MutualAuthenticationAttributes{Mode: aws.String("verify"), TrustStoreArn: store.TrustStoreArn})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(jwt, made.Listeners[0].DefaultActions[0].JwtValidationConfig,
		cmpopts.IgnoreUnexported(types.JwtValidationActionConfig{}, types.JwtValidationActionAdditionalClaim{})); diff != "" {
		t.Errorf("token check (-want +got)\n%s", diff)
	}
	users, err := r.DescribeTrustStoreAssociations(t.Context(), &v2.DescribeTrustStoreAssociationsInput{TrustStoreArn: store.TrustStoreArn})
	if err != nil || len(users.TrustStoreAssociations) != 1 || *users.TrustStoreAssociations[0].ResourceArn != *made.Listeners[0].ListenerArn {
		t.Errorf("users of the trust store: %v, %v, want the listener", users, err)
	}
	_, err = r.DeleteTrustStore(t.Context(), &v2.DeleteTrustStoreInput{TrustStoreArn: store.TrustStoreArn})
	expect(t, "deleted in use", "TrustStoreInUse", err)
}

func TestParametersOfSignOn(t *testing.T) {
	r := newRig(t, elbv2.Options{})
	lb, tg := r.alb("app"), r.group("g", types.ProtocolEnumHttp)
	oidc := &types.AuthenticateOidcActionConfig{Issuer: aws.String("i"), AuthorizationEndpoint: aws.String("a"), TokenEndpoint: aws.String("t"),
		UserInfoEndpoint: aws.String("u"), ClientId: aws.String("c"), ClientSecret: aws.String("s"),
		AuthenticationRequestExtraParams: map[string]string{"display": "page", "prompt": "login"}}
	out, err := r.CreateListener(t.Context(), &v2.CreateListenerInput{LoadBalancerArn: lb.LoadBalancerArn, Port: aws.Int32(443), Protocol: types.ProtocolEnumHttps,
		Certificates: []types.Certificate{{CertificateArn: aws.String(certificate)}},
		DefaultActions: []types.Action{
			{Type: types.ActionTypeEnumAuthenticateOidc, Order: aws.Int32(1), AuthenticateOidcConfig: oidc},
			{Type: types.ActionTypeEnumForward, Order: aws.Int32(2), TargetGroupArn: tg.TargetGroupArn}}})
	if err != nil {
		t.Fatal(err)
	}
	got := out.Listeners[0].DefaultActions[0].AuthenticateOidcConfig
	if diff := cmp.Diff(oidc.AuthenticationRequestExtraParams, got.AuthenticationRequestExtraParams); diff != "" || got.ClientSecret != nil {
		t.Errorf("secret %v, want none; parameters (-want +got)\n%s", got.ClientSecret, diff)
	}
}

func (r *rig) store(name string) types.TrustStore {
	r.t.Helper()
	out, err := r.CreateTrustStore(r.t.Context(), &v2.CreateTrustStoreInput{Name: aws.String(name),
		CaCertificatesBundleS3Bucket: aws.String("b"), CaCertificatesBundleS3Key: aws.String("k"),
		Tags: []types.Tag{{Key: aws.String("team"), Value: aws.String("a")}}})
	if err != nil {
		r.t.Fatal(err)
	}
	return out.TrustStores[0]
}

func TestTrustStores(t *testing.T) {
	r := newRig(t, elbv2.Options{})
	store := r.store("store")
	_, err := r.CreateTrustStore(t.Context(), &v2.CreateTrustStoreInput{Name: aws.String("store"),
		CaCertificatesBundleS3Bucket: aws.String("b"), CaCertificatesBundleS3Key: aws.String("k")})
	expect(t, "same name", "DuplicateTrustStoreName", err)
	_, err = r.DescribeTrustStores(t.Context(), &v2.DescribeTrustStoresInput{Names: []string{"other"}})
	expect(t, "unknown name", "TrustStoreNotFound", err)
	tags, err := r.DescribeTags(t.Context(), &v2.DescribeTagsInput{ResourceArns: []string{*store.TrustStoreArn}})
	if err != nil || len(tags.TagDescriptions) != 1 || len(tags.TagDescriptions[0].Tags) != 1 {
		t.Errorf("tags %v, %v, want one", tags, err)
	}
	added, err := r.AddTrustStoreRevocations(t.Context(), &v2.AddTrustStoreRevocationsInput{TrustStoreArn: store.TrustStoreArn,
		RevocationContents: []types.RevocationContent{{S3Bucket: aws.String("b"), S3Key: aws.String("one")}, {S3Bucket: aws.String("b"), S3Key: aws.String("two")}}})
	if err != nil {
		t.Fatal(err)
	}
	first := *added.TrustStoreRevocations[0].RevocationId
	_, err = r.GetTrustStoreRevocationContent(t.Context(), &v2.GetTrustStoreRevocationContentInput{TrustStoreArn: store.TrustStoreArn, RevocationId: &first})
	expect(t, "revocation file", "", err)
	_, err = r.GetTrustStoreCaCertificatesBundle(t.Context(), &v2.GetTrustStoreCaCertificatesBundleInput{TrustStoreArn: store.TrustStoreArn})
	expect(t, "bundle", "", err)
	_, err = r.GetResourcePolicy(t.Context(), &v2.GetResourcePolicyInput{ResourceArn: store.TrustStoreArn})
	expect(t, "policy", "ResourceNotFound", err)
	_, err = r.DeleteSharedTrustStoreAssociation(t.Context(), &v2.DeleteSharedTrustStoreAssociationInput{TrustStoreArn: store.TrustStoreArn, ResourceArn: aws.String("arn:x")})
	expect(t, "association", "AssociationNotFound", err)
	remove := &v2.RemoveTrustStoreRevocationsInput{TrustStoreArn: store.TrustStoreArn, RevocationIds: []int64{first}}
	_, err = r.RemoveTrustStoreRevocations(t.Context(), remove)
	expect(t, "revocation removed", "", err)
	_, err = r.RemoveTrustStoreRevocations(t.Context(), remove)
	expect(t, "revocation removed again", "RevocationIdNotFound", err)
	left, err := r.DescribeTrustStoreRevocations(t.Context(), &v2.DescribeTrustStoreRevocationsInput{TrustStoreArn: store.TrustStoreArn})
	if err != nil || len(left.TrustStoreRevocations) != 1 {
		t.Errorf("revocations %v, %v, want one", left, err)
	}
	_, err = r.DeleteTrustStore(t.Context(), &v2.DeleteTrustStoreInput{TrustStoreArn: store.TrustStoreArn})
	expect(t, "deleted", "", err)
}
