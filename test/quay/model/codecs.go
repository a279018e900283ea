package model

import "github.com/berth-lb/berth/providers/kit/codec"

// BalancerCodec declares load balancers: a field is fixed at creation, can be updated, or
// forces a replacement. The diff rule and the bodies follow from it.
func BalancerCodec() codec.Kind[Balancer] {
	return codec.New("balancer", "balancers",
		codec.Of("name", func(b *Balancer) *string { return &b.Name }).Immutable(),
		codec.Of("internal", func(b *Balancer) *bool { return &b.Internal }).Immutable().Always(),
		codec.Of("notice", func(b *Balancer) *string { return &b.Notice }).InPlace(),
	)
}

// ListenerCodec declares listeners. The API replaces them as a whole.
func ListenerCodec() codec.Kind[Listener] {
	return codec.New("listener", "listeners",
		codec.Of("protocol", func(l *Listener) *string { return &l.Protocol }).InPlace(),
		codec.Of("port", func(l *Listener) *int32 { return &l.Port }).InPlace(),
		codec.Of("nodePort", func(l *Listener) *int32 { return &l.NodePort }).InPlace(),
	)
}
