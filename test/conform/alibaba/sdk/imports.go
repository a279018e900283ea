//go:build never

package main

// The packages of the SDK whose sources are read. They are not compiled, which takes minutes.
import (
	_ "github.com/alibabacloud-go/nlb-20220430/v3/client"
	_ "github.com/aliyun/alibaba-cloud-sdk-go/services/ecs"
	_ "github.com/aliyun/alibaba-cloud-sdk-go/services/quotas"
	_ "github.com/aliyun/alibaba-cloud-sdk-go/services/slb"
	_ "github.com/aliyun/alibaba-cloud-sdk-go/services/vpc"
)
