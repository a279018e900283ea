package service

import (
	"context"
	"encoding/json"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"

	"github.com/berth-lb/berth/providers"
)

// customAPI returns the API of a kind that is none of the core.
func customAPI(k providers.ObjectKind) (schema.GroupVersionResource, bool) {
	group, version, resource, custom := k.API()
	return schema.GroupVersionResource{Group: group, Version: version, Resource: resource}, custom
}

// readCustom reads an object of an API that the client has no types for.
func readCustom(ctx context.Context, client kubernetes.Interface, api schema.GroupVersionResource, ref providers.Reference) (providers.Object, error) {
	calls := client.Discovery().RESTClient()
	if calls == nil {
		return providers.Object{}, errors.New("the client makes no calls by path")
	}
	raw, err := calls.Get().AbsPath("/apis", api.Group, api.Version, "namespaces", ref.Namespace, api.Resource, ref.Name).Do(ctx).Raw()
	if err != nil {
		return providers.Object{}, err
	}
	found := &unstructured.Unstructured{}
	if err := json.Unmarshal(raw, &found.Object); err != nil {
		return providers.Object{}, err
	}
	return customObject(found), nil
}

// customObject returns the spec of an object; an absent one is empty.
func customObject(found *unstructured.Unstructured) providers.Object {
	spec, _, _ := unstructured.NestedMap(found.Object, "spec")
	if spec == nil {
		spec = map[string]any{}
	}
	return providers.Object{Spec: spec}
}

// unreadableReason returns why an object cannot be read, and what to do. A list of an API that does not
// exist is not found; one of an object that does not exist is empty.
func unreadableReason(ref providers.Reference, err error) string {
	if apierrors.IsNotFound(err) {
		return "cannot be read: the API server does not serve " + ref.Kind.String() + "; install its CustomResourceDefinition"
	}
	return "may not be read by the controller, which needs the right to get, list and watch it: " + err.Error()
}
