package embed

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"compress/flate"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// limits bound what is unpacked, so that an archive cannot fill a disk or keep
// a processor busy.
type limits struct {
	entries int   // files and folders
	file    int64 // bytes of one file
	total   int64 // bytes of all files together, wanted or not
}

// The largest encoder anyone runs on a processor has some 500 MB.
var usualLimits = limits{entries: 10_000, file: 1 << 30, total: 2 << 30}

// entry is a file of a folder or an archive. Its name has slashes and lies
// below the top.
type entry struct {
	name string
	size int64
	body io.Reader // valid during the visit
}

// walk visits the files of a folder, a .tgz or a .zip. Of an archive, no name
// is ever used to write to, and still one that leads out of it, and any link,
// is an error: nobody packs such a model by accident.
func walk(ctx context.Context, path string, lim limits, visit func(entry) error) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.IsDir() {
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return err
		}
		return walkDir(ctx, path, lim, visit)
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if !info.Mode().IsRegular() {
		return errors.New("is no folder and no file")
	}
	head := make([]byte, 512)
	n, _ := io.ReadFull(f, head)
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	switch head = head[:n]; {
	case strings.HasPrefix(string(head), "\x1f\x8b"):
		return walkTar(ctx, f, lim, visit)
	case strings.HasPrefix(string(head), "PK"):
		return walkZip(ctx, f, info.Size(), lim, visit)
	}
	if problem := notAFile(head); problem != "" {
		return errors.New(problem)
	}
	return errors.New("is no .tgz and no .zip: give a folder or an archive with tokenizer.json and an .onnx file")
}

// walkDir visits a folder's files. Links to files are followed, since the
// cache of a model hub is made of them.
func walkDir(ctx context.Context, dir string, lim limits, visit func(entry) error) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if err := lim.take(ctx, 0); err != nil {
			return err
		}
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			return nil // a folder, or a link to one or to nothing
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return nil // not ours to read: what is missed is said later
		}
		defer f.Close()
		return visit(entry{filepath.ToSlash(name), info.Size(), f})
	})
}

func walkTar(ctx context.Context, f io.Reader, lim limits, visit func(entry) error) error {
	unzipped, err := gzip.NewReader(bufio.NewReaderSize(f, 1<<16))
	if err != nil {
		return broken(err)
	}
	defer unzipped.Close()
	// Also what is skipped is unpacked, and the headers count too.
	bounded := &boundedReader{ctx: ctx, from: unzipped, left: lim.total + 1<<20}
	for in := tar.NewReader(bounded); ; {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			_, err := io.Copy(io.Discard, bounded) // the checksum is at the end
			return broken(err)
		}
		if err != nil {
			return broken(err)
		}
		if err := lim.take(ctx, header.Size); err != nil {
			return err
		}
		if err := inside(header.Name); err != nil {
			return err
		}
		switch header.Typeflag {
		case tar.TypeReg:
			if err := visit(entry{header.Name, header.Size, in}); err != nil {
				return broken(err)
			}
		case tar.TypeDir, tar.TypeXGlobalHeader:
		default:
			return fmt.Errorf("holds %q, which is a link or a device: unpack it yourself and give the folder", header.Name)
		}
	}
}

func walkZip(ctx context.Context, f io.ReaderAt, size int64, lim limits, visit func(entry) error) error {
	archive, err := zip.NewReader(f, size)
	if err != nil {
		return broken(err)
	}
	for _, file := range archive.File {
		if err := lim.take(ctx, int64(min(file.UncompressedSize64, 1<<62))); err != nil {
			return err
		}
		if err := inside(file.Name); err != nil {
			return err
		}
		mode := file.Mode()
		if mode.IsDir() {
			continue
		}
		if !mode.IsRegular() {
			return fmt.Errorf("holds %q, which is a link or a device: unpack it yourself and give the folder", file.Name)
		}
		if err := visitZipped(ctx, file, visit); err != nil {
			return broken(err)
		}
	}
	return nil
}

func visitZipped(ctx context.Context, file *zip.File, visit func(entry) error) error {
	body, err := file.Open()
	if err != nil {
		return err
	}
	defer body.Close()
	size := int64(file.UncompressedSize64)
	return visit(entry{file.Name, size, &boundedReader{ctx: ctx, from: body, left: size}})
}

// take counts a file off the limits.
func (l *limits) take(ctx context.Context, size int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	l.entries--
	l.total -= size
	switch {
	case l.entries < 0:
		return errors.New("holds too many files: give the folder of the model alone")
	case size < 0 || size > l.file || l.total < 0:
		return errTooLarge
	}
	return nil
}

var errTooLarge = errors.New("is larger unpacked than any model that this program can run")

// inside checks that the name of an archive's file leads to a place in it.
func inside(name string) error {
	if !filepath.IsLocal(filepath.FromSlash(name)) || strings.ContainsAny(name, "\\:\x00") {
		return fmt.Errorf("holds %.100q, which leads out of the archive: it is not installed", name)
	}
	return nil
}

// broken words what the readers of archives say of one that is cut or damaged.
func broken(err error) error {
	_, corrupt := errors.AsType[flate.CorruptInputError](err)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return errors.New("is cut off: copy or download it again")
	case corrupt, errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), errors.Is(err, tar.ErrHeader),
		errors.Is(err, zip.ErrFormat), errors.Is(err, zip.ErrChecksum), errors.Is(err, zip.ErrAlgorithm):
		return fmt.Errorf("is damaged (%w): copy or download it again", err)
	}
	return err
}

// boundedReader gives at most so many bytes, then an error, and stops when its
// context ends.
type boundedReader struct {
	ctx  context.Context
	from io.Reader
	left int64
}

func (b *boundedReader) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := b.from.Read(p[:min(int64(len(p)), b.left+1)])
	if b.left -= int64(n); b.left < 0 {
		return 0, errTooLarge
	}
	return n, err
}
