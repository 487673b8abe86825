package atomicfile

import (
	"fmt"
	"io"
	"os"
)

// maxSecret is in bytes.
const maxSecret = 1 << 20

// ReadSecret reads a file with tokens or keys. It refuses one that others may read or replace the text of: one of another user
// but root, one whose mode lets others in, and what is no regular file. Root's own are judged by root alone.
func ReadSecret(path string) ([]byte, error) {
	f, err := openSecret(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		err = notSecret(path, info)
	}
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxSecret+1))
	if err == nil && len(data) > maxSecret {
		err = fmt.Errorf("%s has more than %d bytes", path, maxSecret)
	}
	return data, err
}

// notSecret says why a file keeps no secret.
func notSecret(path string, info os.FileInfo) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no regular file", path)
	}
	return openToOthers(path, info)
}
