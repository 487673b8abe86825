// Pack makes of programs that are built what package managers and clients
// install them from:
//
//	npm/lean-ctx/            the package that is installed: a few lines that start the program
//	npm/lean-ctx-linux-x64/  … and one for each platform, with the program in it
//	lean-ctx-0.1.0-linux-amd64.mcpb   the server as a bundle, for clients that install those
//	server.json              the entry of the MCP registry, with the checksums of the bundles
//
// And, of one program, a list of what is in it, for those who look for known
// flaws (-sbom). It is run after the programs are built, in the directory of the module:
//
//	goreleaser build --clean && go run ./cmd/lean-ctx/pack -repository https://github.com/OWNER/lean-ctx
//
// # Decisions
//
//   - The programs come with packages that npm chooses by platform; nothing is
//     fetched after the installation. A script that downloads is refused in many
//     places, and works in none without a network.
//   - What is written depends on the programs alone: the times in a bundle are
//     fixed, so the same program gives the same bundle and the same checksum.
//   - The version is that of the source, in one place. A release under another
//     one, as the tag that goreleaser goes by, is refused.
//   - The list of what is in a program (CycloneDX) is read from the program
//     itself, with the licences that NOTICE has. We use the library of the
//     format: it adds one module, to this tool alone. syft was rejected: it is a
//     second tool for a release to need, and its lists have random numbers and the
//     time of day in them.
//   - Where the project is published is not in the source; a fork has another
//     place. Without -repository there is no server.json.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"leanctx/cmd/internal/app"
)

// plan is what is made of what.
type plan struct {
	programs   string // a directory with the programs, as goreleaser leaves them
	out        string
	source     string // the directory of the module: README, LICENSE, NOTICE
	repository string // the address of the repository, or nothing
	version    string
}

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "pack: error: %v\n", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	var p plan
	flags := flag.NewFlagSet("pack", flag.ContinueOnError)
	flags.StringVar(&p.programs, "programs", "dist", "directory with the programs, each in lean-ctx_<os>_<arch>…")
	flags.StringVar(&p.out, "out", "dist/packages", "directory to write to")
	flags.StringVar(&p.source, "source", ".", "directory of the module")
	flags.StringVar(&p.repository, "repository", "", "https address of the repository; needed for server.json")
	flags.StringVar(&p.version, "version", app.Version, "version that is released; must be that of the source")
	notice := flags.Bool("notice", false, "write NOTICE anew instead, from the licences of what is linked")
	listed := flags.String("sbom", "", "write instead what is in this program, as CycloneDX JSON, to the file -out")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil // it has been printed
	} else if err != nil {
		return err
	}
	if p.version != app.Version {
		return fmt.Errorf("version %s: the source is that of %s (cmd/internal/app/version.go); change it there first", p.version, app.Version)
	}
	if *notice {
		return writeNotice(p.source)
	}
	if *listed != "" {
		return p.writeBOM(*listed, p.out)
	}
	made, err := p.make()
	for _, path := range made {
		fmt.Fprintln(out, path)
	}
	return err
}

// make writes everything and names it.
func (p plan) make() ([]string, error) {
	found, err := p.find()
	if err != nil {
		return nil, err
	}
	made, err := p.npm(found)
	if err != nil {
		return made, err
	}
	bundles, err := p.bundles(found)
	for _, b := range bundles {
		made = append(made, b.path)
	}
	if err != nil || p.repository == "" {
		return made, err
	}
	path, err := p.registry(bundles)
	return append(made, path), err
}
