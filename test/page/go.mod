module github.com/berth-lb/berth/test/page

go 1.26.0

replace github.com/berth-lb/berth => ../..

require github.com/evanw/esbuild v0.28.2

require golang.org/x/sys v0.49.0 // indirect
