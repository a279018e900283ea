module github.com/berth-lb/berth/test/conform/tencent/sdk

go 1.26.0

require github.com/tencentcloud/tencentcloud-sdk-go v1.0.162
