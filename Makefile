.PHONY: test fmt lint race arm long fuzz ci

test:
	go test ./...

fmt:
	go tool -modfile=.ci/tools.mod gofumpt -w .

lint:
	.ci/run gofumpt vet staticcheck fix tidy

race arm long fuzz:
	.ci/run $@

ci:
	.ci/run
