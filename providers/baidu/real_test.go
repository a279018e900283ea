package baidu_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers/baidu"
	"github.com/berth-lb/berth/providers/baidu/model"
	common "github.com/berth-lb/berth/test/cases"
)

// TestRealServices: what the owners of Services of public repositories see.
func TestRealServices(t *testing.T) {
	cloud, config := baidu.Cloud(), common.Config(t, model.ReadConfig, configText)
	common.RealServices(t, &cloud, 4, func(svc *corev1.Service) (common.Built, error) {
		in, problems := common.Input(&cloud, config, svc, common.Around{Cluster: "kubernetes", Nodes: machinesOf(0)})
		want, more, err := cloud.Build(in, &model.Facts{}, nil)
		return common.Built{Kind: in.Kind, Want: want, Problems: append(problems, more...)}, err
	})
}
