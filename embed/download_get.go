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
	"time"
)

// tarballAddress gives where a registry keeps a package's archive.
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

// safe lets through what nobody on the way can read or change: HTTPS, or this
// machine.
func safe(u *url.URL) error {
	ip := net.ParseIP(u.Hostname())
	if u.Scheme == "https" || u.Scheme == "http" && (u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()) {
		return nil
	}
	return fmt.Errorf("%s is not an https address", u.Redacted())
}

// get downloads an archive whose checksum is the release's to a file.
func (d *downloader) get(ctx context.Context, address, to string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	// The clock starts anew with every byte that comes.
	stalled := fmt.Errorf("gave nothing for %v", d.Stall)
	clock := time.AfterFunc(d.Stall, func() { cancel(stalled) })
	defer clock.Stop()

	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	client := http.Client{CheckRedirect: func(next *http.Request, via []*http.Request) error {
		if len(via) > 5 {
			return errors.New("is sent from one address to the next")
		}
		return safe(next.URL)
	}}
	response, err := client.Do(request)
	if err == nil {
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("%s answered %s", request.URL.Host, response.Status)
		}
		err = save(to, &tickingReader{response.Body, func() { clock.Reset(d.Stall) }}, d.release.Tarball)
	}
	if errors.Is(context.Cause(ctx), stalled) {
		return stalled
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the download was cut off")
	}
	return err
}

// maxArchive bounds a download, in bytes.
const maxArchive = 1 << 30

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

// tickingReader calls tick whenever bytes come.
type tickingReader struct {
	from io.Reader
	tick func()
}

func (t *tickingReader) Read(p []byte) (int, error) {
	n, err := t.from.Read(p)
	if n > 0 {
		t.tick()
	}
	return n, err
}
