// Package embed turns texts into vectors, so that a question finds a fact with
// which it shares no word.
//
// [Static] is the built-in encoder: a table with a vector for each token, 8 MB in
// the program, a few microseconds a text, nothing to install. [OpenModel] runs a
// sentence transformer that [Install] installed, 0.2 to 0.6 s a text. It is
// better, and belongs in a long-lived process. Both are encoders of package
// vectors. With the transformer alone, a fresh install and every single command
// would lack recall by meaning.
//
// # Installed models
//
// A model is a folder with model.onnx, tokenizer.json and manifest.json, below
// the folder of models. The manifest has the checksums. The file current names
// the model in use. What always holds:
//
//   - A model is used only after its self-test, which runs in another process,
//     since a broken model can end the one it runs in.
//   - Files that are not those that were installed are refused.
//   - A download happens only where it is allowed, over HTTPS, and is used only
//     when its checksum is right.
//
// Only uncased BERT vocabularies are supported. Texts are cut into tokens here,
// for both encoders: the tokenizer of the library that runs models took accents
// for unknown words and ended the process on some texts.
//
// The table is read where it is in the program, and its vocabulary is indexed
// when it is first used, so a command that has no use for it pays nothing. The
// library that runs transformers costs a start 1.4 to 2.3 ms.
//
// MEASURED.md has the figures. cmd/measure/table makes the table. Package vectors
// keeps what the encoders give.
package embed
