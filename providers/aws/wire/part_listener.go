package wire

import (
	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbv2types "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

func isTLS(l elbv2types.Listener) bool { return l.Protocol == elbv2types.ProtocolEnumTls }

func certificatesPart() part {
	return part{
		kind: model.KindCertificates, hasListener: isTLS, ofListener: readCertificates,
		verbs: kit.Verbs[*Session]{
			{Kind: model.KindCertificates, Action: plan.Update, Part: "arns+"}: addCertificates,
			{Kind: model.KindCertificates, Action: plan.Update, Part: "arns-"}: removeCertificates,
		},
	}
}

func listenerAttributesPart() part {
	return part{
		kind: model.KindListenerAttr, ofListener: readListenerAttributes,
		hasListener: func(l elbv2types.Listener) bool { return !isTLS(l) },
		verbs:       kit.Verbs[*Session]{{Kind: model.KindListenerAttr, Action: plan.Update}: kit.With(setListenerAttributes)},
	}
}

func readListenerAttributes(q *query, l elbv2types.Listener) (stack.Spec, error) {
	out, err := readCall(q.ctx, q.network.DescribeListenerAttributes, &elbv2.DescribeListenerAttributesInput{ListenerArn: l.ListenerArn})
	if err != nil {
		return nil, err
	}
	values := readTags(out.Attributes, func(a elbv2types.ListenerAttribute) (key, value *string) { return a.Key, a.Value })
	return model.AttributesOfListener(values), nil
}

// readCertificates reads the certificates of a listener besides its default one, which the
// official controller lists a second time.
func readCertificates(q *query, l elbv2types.Listener) (stack.Spec, error) {
	main := ""
	if len(l.Certificates) > 0 {
		main = awssdk.ToString(l.Certificates[0].CertificateArn)
	}
	found := []string{}
	in := &elbv2.DescribeListenerCertificatesInput{ListenerArn: l.ListenerArn}
	err := readPages(q.ctx, q.network.DescribeListenerCertificates, in, func(o *elbv2.DescribeListenerCertificatesOutput) {
		for _, c := range o.Certificates {
			if arn := awssdk.ToString(c.CertificateArn); arn != main && !awssdk.ToBool(c.IsDefault) {
				found = append(found, arn)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return model.Certificates{ARNs: eachOnce(found)}, nil
}

func setListenerAttributes(c *change, want model.Attributes) plan.Outcome {
	differing, all := attributesToWrite(c, want)
	in := &elbv2.ModifyListenerAttributesInput{
		ListenerArn: awssdk.String(c.ID()),
		Attributes: tagList(differing, func(k, v *string) elbv2types.ListenerAttribute {
			return elbv2types.ListenerAttribute{Key: k, Value: v}
		}),
	}
	_, err := writeCall(c.Ctx, c.Session.network.ModifyListenerAttributes, in)
	return c.Updated(all, err)
}

func addCertificates(c *change) plan.Outcome {
	add, _ := plan.Members[string](c.Step)
	_, err := writeCall(c.Ctx, c.Session.network.AddListenerCertificates, &elbv2.AddListenerCertificatesInput{ListenerArn: awssdk.String(c.ID()), Certificates: wireCertificates(add)})
	return c.Members(nil, err)
}

func removeCertificates(c *change) plan.Outcome {
	_, remove := plan.Members[string](c.Step)
	_, err := writeCall(c.Ctx, c.Session.network.RemoveListenerCertificates, &elbv2.RemoveListenerCertificatesInput{ListenerArn: awssdk.String(c.ID()), Certificates: wireCertificates(remove)})
	return c.Removed(nil, err)
}

func wireCertificates(arns []string) []elbv2types.Certificate {
	out := make([]elbv2types.Certificate, 0, len(arns))
	for _, arn := range arns {
		out = append(out, elbv2types.Certificate{CertificateArn: awssdk.String(arn)})
	}
	return out
}
