package ibm_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers/ibm"
	"github.com/berth-lb/berth/providers/ibm/model"
	common "github.com/berth-lb/berth/test/cases"
)

// TestDefaults: the configuration has the default that an annotation declares.
func TestDefaults(t *testing.T) {
	cloud := ibm.Cloud()
	common.Defaults{
		Alone: common.Alone{
			Keys: cloud.Annotations, Kinds: map[string]func(*corev1.Service){model.ALB: nil},
			Values: map[string][]string{prefix + "vpc-subnets": {"sub-2", "sub-1"}},
		},
		Under: func(t testing.TB, svc *corev1.Service, setting, value string) common.Effect {
			t.Helper()
			text := configText
			if setting != "" {
				text = strings.Replace(text, setting+" = sub-1,sub-2", setting+" = "+value, 1)
			}
			in, problems := common.Input(&cloud, common.Config(t, model.ReadConfig, text), svc, common.Around{Cluster: "kubernetes"})
			want, more, err := cloud.Build(in, lawsFacts(), nil)
			if err != nil {
				t.Fatal(err)
			}
			return common.Effect{Want: want, Problems: append(problems, more...)}
		},
	}.Run(t)
}
