package model

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/nodeports"
)

// PodWeights are weights of pods by port. Source: https://cloud.tencent.com/document/product/457/122522.
type PodWeights struct {
	Default *int          `json:"defaultWeight"`
	Groups  []WeightGroup `json:"groups"`
}

// WeightGroup has the weights of one port.
type WeightGroup struct {
	Key struct {
		Protocol string `json:"proto"`
		Port     int32  `json:"port"`
	} `json:"key"`
	Sets []struct {
		Name    string `json:"name"`
		Weights []struct {
			Weight int   `json:"weight"`
			Pods   []int `json:"podIndexes"`
		} `json:"weights"`
	} `json:"statefulSets"`
}

func checkPodWeights(w PodWeights) error {
	weights := []int{}
	if w.Default != nil {
		weights = append(weights, *w.Default)
	}
	for _, g := range w.Groups {
		if g.Key.Protocol == "" || g.Key.Port == 0 {
			return errors.New("has a group without a key of proto and port")
		}
		for _, set := range g.Sets {
			for _, one := range set.Weights {
				weights = append(weights, one.Weight)
			}
		}
	}
	if at := slices.IndexFunc(weights, func(n int) bool { return n < 0 || n > mostWeight }); at >= 0 {
		return fmt.Errorf("has the weight %d", weights[at])
	}
	return nil
}

// of returns the weight of a pod behind a listener. Pods of a StatefulSet end in their number.
func (w PodWeights) of(protocol string, port int32, pod string) int {
	out := standardWeight
	if w.Default != nil {
		out = *w.Default
	}
	at := strings.LastIndex(pod, "-")
	number, err := strconv.Atoi(pod[at+1:])
	if at < 0 || err != nil {
		return out
	}
	for _, g := range w.Groups {
		if g.Key.Protocol != protocol || g.Key.Port != port {
			continue
		}
		for _, set := range g.Sets {
			for _, one := range set.Weights {
				if set.Name == pod[:at] && slices.Contains(one.Pods, number) {
					out = one.Weight
				}
			}
		}
	}
	return out
}

// weighsPods reports whether the Service has weights of pods. Others stay as they are.
func weighsPods(in Input) bool {
	_, _, given := podWeightKey.Lookup(in.Values)
	return given || graceKey.Get(in.Values) || unreadyKey.Get(in.Values)
}

// weightOf returns the weight of a pod: 0 for one that terminates or is not ready, and stays beside others.
func weightOf(in Input, protocol string, port int32, e nodeports.Endpoint) int {
	if e.Terminating && (graceKey.Get(in.Values) || unreadyKey.Get(in.Values)) {
		return 0
	}
	return podWeightKey.Get(in.Values).of(protocol, port, e.Name)
}

// FallbackOf returns which pods count that are not ready: with graceful shutdown every one that serves, or all.
func FallbackOf(in Input) nodeports.Fallback {
	switch {
	case directKey.Get(in.Values) && unreadyKey.Get(in.Values):
		return nodeports.KeepUnready
	case directKey.Get(in.Values) && graceKey.Get(in.Values):
		return nodeports.KeepTerminating
	case directKey.Get(in.Values):
		return nodeports.FallbackPerService
	}
	return nodeports.FallbackOf(in.Service)
}
