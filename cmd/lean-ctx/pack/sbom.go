package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// writeBOM writes to a file what is in a program: one JSON document of
// CycloneDX 1.6, which scanners read.
func (p plan) writeBOM(program, to string) error {
	data, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	info, err := buildinfo.Read(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("%s: %w; it must be a program that the go command made", program, err)
	}
	of := target{os: setting(info, "GOOS"), arch: setting(info, "GOARCH")}
	dirs, err := linked(p.source, of)
	if err != nil {
		return err
	}
	bom, err := p.bom(info, func(module string) ([]string, error) { return spdx(module, dirs[module]) })
	if err != nil {
		return fmt.Errorf("%s: %w", program, err)
	}
	sum := sha256.Sum256(data)
	bom.Metadata.Component.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum[:])}}
	var out bytes.Buffer
	if err := cdx.NewBOMEncoder(&out, cdx.BOMFileFormatJSON).SetPretty(true).SetEscapeHTML(false).EncodeVersion(bom, cdx.SpecVersion1_6); err != nil {
		return err
	}
	return put(to, out.Bytes(), 0o644)
}

// bom names the modules in a program and the standard library. It has no
// serial number, and its time is that of the commit: the same program has the
// same document.
func (p plan) bom(info *debug.BuildInfo, licences func(module string) ([]string, error)) (*cdx.BOM, error) {
	name := strings.Join([]string{program, p.version, setting(info, "GOOS"), setting(info, "GOARCH")}, "-")
	about := &cdx.Component{
		BOMRef: name, Type: cdx.ComponentTypeApplication, Name: program, Version: p.version, Description: description,
		Licenses: choices([]string{license}), PackageURL: packageURL("generic", program, p.version),
	}
	if commit := setting(info, "vcs.revision"); commit != "" {
		about.Pedigree = &cdx.Pedigree{Commits: &[]cdx.Commit{{UID: commit}}}
	}
	if p.repository != "" {
		about.ExternalReferences = &[]cdx.ExternalReference{{Type: cdx.ERTypeVCS, URL: p.repository}}
	}
	goVersion, _, _ := strings.Cut(strings.TrimPrefix(info.GoVersion, "go"), " ") // experiments stand behind it
	modules := append([]*debug.Module{{Path: "std", Version: goVersion}}, info.Deps...)
	all, refs := make([]cdx.Component, 0, len(modules)), make([]string, 0, len(modules))
	for _, m := range modules {
		path := m.Path
		if path == "std" {
			path = standard
		}
		kinds, err := licences(path)
		if err != nil {
			return nil, err
		}
		ref := packageURL("golang", strings.ToLower(m.Path), m.Version) // the type's names are in lower case
		all = append(all, cdx.Component{BOMRef: ref, Type: cdx.ComponentTypeLibrary, Name: m.Path, Version: m.Version, Licenses: choices(kinds), PackageURL: ref})
		refs = append(refs, ref)
	}
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Timestamp: setting(info, "vcs.time"), Component: about}
	bom.Components = &all
	bom.Dependencies = &[]cdx.Dependency{{Ref: name, Dependencies: &refs}}
	return bom, nil
}

// setting is one that a program was built with, or nothing.
func setting(info *debug.BuildInfo, key string) string {
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

// packageURL is how scanners call a package: pkg:golang/<module>@<version>.
func packageURL(kind, name, version string) string {
	return "pkg:" + kind + "/" + name + "@" + strings.ReplaceAll(url.PathEscape(version), "+", "%2B")
}

// spdx is the licences of a module, by the names that SPDX has for them.
func spdx(module string, dirs []string) ([]string, error) {
	if len(dirs) == 0 {
		return nil, fmt.Errorf("%s is in the program, but the source does not use it; build the program anew", module)
	}
	found, err := licences(module, dirs)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, c := range found {
		for _, k := range c.kinds {
			if !strings.Contains(k, " ") && !slices.Contains(all, k) { // "a notice" is none
				all = append(all, k)
			}
		}
	}
	return all, nil
}

func choices(kinds []string) *cdx.Licenses {
	var all cdx.Licenses
	for _, k := range kinds {
		all = append(all, cdx.LicenseChoice{License: &cdx.License{ID: k}})
	}
	return &all
}
