package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/berth-lb/berth/providers/all"
	"github.com/berth-lb/berth/service"
	"github.com/berth-lb/berth/service/offline"
	"github.com/berth-lb/berth/service/settings"
	"github.com/berth-lb/berth/status"
)

// manyServices is the number of Services for which the memory of the page is bounded, and pageMemory
// the bound.
const (
	manyServices = 2000
	pageMemory   = 10 << 20
)

// serveMany answers a list of many Services of type LoadBalancer, as kubectl has applied them.
func serveMany(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("watch") != "" {
		if r.URL.Query().Get("sendInitialEvents") != "" {
			http.Error(w, "want a list", http.StatusUnprocessableEntity)
			return
		}
		w.WriteHeader(http.StatusOK)
		<-r.Context().Done() // nothing changes
		return
	}
	list := corev1.ServiceList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceList"}, ListMeta: metav1.ListMeta{ResourceVersion: "1"}}
	for i := range manyServices {
		svc := corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: fmt.Sprintf("team-%d", i%50), Name: fmt.Sprintf("web-%d", i), UID: "5a0c1f6e-0000-4000-8000-000000000001", ResourceVersion: "1"}}
		svc.Annotations = map[string]string{
			corev1.LastAppliedConfigAnnotation:                                               fmt.Sprintf("%2000d", i),
			"service.beta.kubernetes.io/aws-load-balancer-type":                              "nlb",
			"service.beta.kubernetes.io/aws-load-balancer-additional-resource-tags":          fmt.Sprintf("team=%d", i),
			"service.beta.kubernetes.io/aws-load-balancer-cross-zone-load-balancing-enabled": "true",
		}
		svc.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl", FieldsV1: metav1.NewFieldsV1(fmt.Sprintf(`{"f:spec":"%2000d"}`, i))}}
		svc.Spec.Type = corev1.ServiceTypeLoadBalancer
		for port := range int32(3) {
			svc.Spec.Ports = append(svc.Spec.Ports, corev1.ServicePort{Name: fmt.Sprintf("port-%d", port), Protocol: corev1.ProtocolTCP, Port: 80 + port, NodePort: 30000 + port})
		}
		for _, kind := range []string{status.TypeAccepted, status.TypeProgrammed} {
			svc.Status.Conditions = append(svc.Status.Conditions, metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: "Programmed", Message: fmt.Sprintf("the load balancer serves all ports of web-%d", i)})
		}
		svc.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{Hostname: fmt.Sprintf("web-%d.elb.example.com", i)}}
		list.Items = append(list.Items, svc)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(list) // the test waits in vain then
}

// memoryInUse returns the memory of what is still referred to.
func memoryInUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what finalizers and pools held
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestMemoryOfPage: the caches of the page are small. Without --ui-listen there are none.
func TestMemoryOfPage(t *testing.T) {
	m := newManager(newFlags())
	if err := m.servePage(nil); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(serveMany))
	defer server.Close()
	client, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	entry, err := all.Find("aws")
	if err != nil {
		t.Fatal(err)
	}
	before := memoryInUse()
	services, err := service.NewPageView(client)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go services.Run(ctx)
	var found []*corev1.Service
	for complete := false; !complete; found, complete = services.All() {
		runtime.Gosched()
	}
	fleet, err := offline.StateOf(ctx, found, offline.Judge{Now: time.Time{}, Target: offline.Target{Cloud: entry, Settings: settings.Settings{DefaultClass: true}}})
	if err != nil || fleet.Total != manyServices {
		t.Fatalf("%d Services: %v", fleet.Total, err)
	}
	if used := memoryInUse() - before; used > pageMemory {
		t.Errorf("%d Services use %d KiB", manyServices, used>>10)
	}
	runtime.KeepAlive(found)
	runtime.KeepAlive(fleet)
}
