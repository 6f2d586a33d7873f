.PHONY: test fmt lint race trouble arm long fuzz ci

test:
	go test ./...

fmt:
	go tool -modfile=.ci/tools.mod gofumpt -w .

lint:
	.ci/run gofumpt vet staticcheck fix tidy

race trouble arm long fuzz:
	.ci/run $@

ci:
	.ci/run
