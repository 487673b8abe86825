package embed

import (
	"fmt"
	"os"
	"sync"

	gomlx "github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/backends/simplego"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/knights-analytics/hugot"
	"github.com/knights-analytics/hugot/backends"
	"github.com/knights-analytics/hugot/pipelines"
)

// maxTokens is the longest input of a model, its two marks included. Longer
// texts are cut: a fact is shorter, and time and memory grow with the length.
const maxTokens = 128

// patchBackend fixes two things in the back end, once before its first use, since running
// sessions read the same tables.
//
// Integer matrix products get a block size. The back end sets one for floating
// point types only. Without one its unrolled kernel reads past its block. That
// happens in a goroutine of the back end, so it ends the process.
//
// Operations run one after another. By default independent ones run in parallel and
// pass buffers without a lock, which the race detector reports. Sequentially is as
// fast here, because products use all processors anyway. Most panics then happen
// where they can be caught.
var patchBackend = sync.OnceFunc(func() {
	size := &simplego.DotGeneralTargetBlockLog2Dim
	for _, d := range []dtypes.DType{dtypes.Int8, dtypes.Uint8, dtypes.Int32, dtypes.Int64} {
		size[d] = size[dtypes.Float32]
	}
	gomlx.Register(simplego.BackendName, func(string) (gomlx.Backend, error) {
		return simplego.New("ops_sequential")
	})
})

// engine runs one model through hugot, one text at a time: hugot writes to the
// model in each run.
type engine struct {
	session  *hugot.Session
	pipeline *pipelines.FeatureExtractionPipeline
	dim      int
	pooling  string
}

// openEngine loads dir/file and dir/tokenizer.json. Whatever they hold, a panic
// comes back as an error.
func openEngine(dir, file, pooling string) (e *engine, err error) {
	patchBackend()
	session, err := hugot.NewGoSession()
	if err != nil {
		return nil, fmt.Errorf("session: %w", err)
	}
	e = &engine{session: session, pooling: pooling}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
		if err != nil {
			e.close()
			e = nil
		}
	}()
	// Its reader of files opens the folder to everybody. Where that cannot be
	// undone it could not be done either.
	defer os.Chmod(dir, 0o700)
	e.pipeline, err = hugot.NewPipeline(session, hugot.FeatureExtractionConfig{ModelPath: dir, OnnxFilename: file, Name: "embed"})
	if err != nil {
		return e, err
	}
	shape := e.pipeline.Output.Dimensions
	if len(shape) < 2 || len(shape) > 3 || shape[len(shape)-1] <= 0 {
		return e, fmt.Errorf("output %s has shape %v: want one vector of fixed size a token or a text", e.pipeline.Output.Name, shape)
	}
	e.dim = int(shape[len(shape)-1])
	return e, nil
}

// run gives the pooled output for the ids of one text. hugot's own steps are
// taken one by one, without its first, the tokenizer.
func (e *engine) run(ids []int32) (vector []float32, err error) {
	batch := backends.NewBatch(1)
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
		if destroyed := batch.Destroy(); err == nil {
			err = destroyed
		}
	}()
	input := backends.TokenizedInput{
		TokenIDs:          make([]uint32, len(ids)),
		TypeIDs:           make([]uint32, len(ids)),
		AttentionMask:     make([]uint32, len(ids)),
		MaxAttentionIndex: len(ids) - 1,
	}
	for i, id := range ids {
		input.TokenIDs[i], input.AttentionMask[i] = uint32(id), 1
	}
	batch.Input, batch.MaxSequenceLength = []backends.TokenizedInput{input}, len(ids)
	if err := backends.CreateInputTensors(batch, e.pipeline.Model, e.pipeline.Runtime); err != nil {
		return nil, err
	}
	if err := e.pipeline.Forward(batch); err != nil {
		return nil, err
	}
	if tokens, ok := batch.OutputValues[e.pipeline.OutputIndex].([][][]float32); ok && e.pooling == poolFirst {
		return tokens[0][0], nil
	}
	out, err := e.pipeline.Postprocess(batch)
	if err != nil {
		return nil, err
	}
	return out.Embeddings[0], nil
}

// close frees the model.
func (e *engine) close() {
	defer func() { _ = recover() }() // a session that loaded half a model
	_ = e.session.Destroy()
}
