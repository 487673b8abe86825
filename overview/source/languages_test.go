package source

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Definitions and imports of each language. Whatever is called trap is in a comment, a string
// or an expression, and must not be found.
var readings = []struct {
	file, src, pkg, doc string
	names, imports      []string
}{
	{
		"a.go", "// Copyright 2020 Somebody. All rights reserved.\n\n//go:build linux\n\n// Package a does it. More.\npackage a\n\nimport (\n\t\"fmt\"\n\tx \"net/http\"\n)\nimport . \"os\"\n" +
			"/* import \"trap\" */\nvar s = `func trap() {}\nimport \"trap\"`\n\nfunc (r *T[K]) Method(a int) (b string) {\n\tx := '{'\n\ttype trap struct{}\n\tfunc() { _ = \"}\" }()\n}\n" +
			"type (\n\tA struct{ trap int }\n\tB = interface{ trap() }\n)\nconst (\n\tC, D = iota, 1 +\n\t\ttrap2\n\tE\n)\nfunc Gen[T any](t T) {}\n",
		"a", "Package a does it", []string{"s", "Method", "A", "B", "C", "D", "E", "Gen"}, []string{"fmt", "net/http", "os"},
	},
	{
		"a.ts", "/* eslint-disable */\n/** JWT logic, token generation. @param x */\nimport a, { b as c } from './b';\nimport type { D } from \"@/d\";\nimport 'side';\nexport * from \"./e\";\nexport { f, g };\n" +
			"import h = require('h');\n// import x from 'trap'\nconst s = \"import x from 'trap'; class trap {}\";\nconst t = `class trap { ${ fn(`function trap() {}`) } }`;\nconst re = /[\"'`]class trap {/;\n" +
			"export default class Auth<T> extends Base {\n  private x = 1;\n  async login(u: { a: string }, f: () => void): Promise<void> {\n    if (u) {\n      const trap = require('./lazy');\n    }\n    trap(() => {\n    });\n  }\n  get name() { return 1 }\n}\n" +
			"export interface I { trap(): void }\ntype J = { trap: string };\nexport const enum K { trap }\nfunction* gen() {}\nexport namespace N {\n  export function inner() {}\n}\nconst div = a / b / c;\nlet l = 1;\nconst p = await import('./dyn');\n",
		"", "JWT logic, token generation", []string{"s", "t", "re", "Auth", "login", "name", "I", "J", "K", "gen", "N", "inner", "div", "l", "p"}[:12], []string{"./b", "@/d", "side", "./e", "h", "./lazy", "./dyn"},
	},
	{
		"a.jsx", "'use strict';\n// Draws things.\nconst x = require('./x');\nexports.draw = function () { return <div className=\"a\">don't <b>class trap</b></div>; };\nclass View {\n  render() { return <a href='x'>{/* trap */}it's</a> }\n}\n",
		"", "Draws things", []string{"x", "draw", "View", "render"}, []string{"./x"},
	},
	{
		"a.py", "#!/usr/bin/env python\n# -*- coding: utf-8 -*-\n\"\"\"Loads users. Slowly.\"\"\"\nimport os, sys as system\nimport a.b.c\nfrom . import d\nfrom ..e.f import (g,\n    h as i,  # import trap\n    j)\nfrom k import *\n" +
			"X = 1\ns = '''\ndef trap(): pass\nimport trap\n'''\nr = rb'class trap: \\'\nf = f\"{'import trap'}\"\nclass U(B):\n    '''class trap'''\n    async def load(self):\n        import lazy\n        raise E from trap\n    def a(self): x = \"# not a comment\"; return x\n",
		"", "Loads users", []string{"X", "s", "r", "f", "U", "load", "a"}, []string{"os", "sys", "a.b.c", ".", ".:d", "..e.f", "..e.f:g", "..e.f:h", "..e.f:j", "k", "lazy"},
	},
	{
		"src/a.rs", "//! Keeps leases. And more.\n#![allow(x)]\nuse std::{fs, io::{self, Read}};\nuse crate::b::C as D;\nuse super::*;\npub mod e;\nmod f {\n    fn inner() {}\n}\n/* fn trap() {}\nuse trap; */\n" +
			"const S: &str = r#\"\nfn trap() { \" }\n\"#;\nstatic mut N: u8 = b'{';\npub struct P<'a> { trap: &'a str }\nimpl<'a> P<'a> {\n    pub fn new(c: char) -> Self { let q = '\"'; trap() }\n}\ntrait T {\n    fn t(&self);\n}\nmacro_rules! m { () => { fn trap() {} } }\nenum G { Trap }\npub(crate) async unsafe fn h<'x>() {}\n",
		"", "Keeps leases", []string{"f", "inner", "S", "N", "P", "new", "T", "t", "m", "G", "h"}, []string{"std::fs", "std::io", "std::io::Read", "crate::b::C", "super", "mod:e"},
	},
	{
		"A.java", "/*\n * Licensed under the Apache License.\n */\npackage com.x.y;\nimport java.util.List;\nimport static com.x.Z.*;\n/** Serves requests. Fast. */\n@Deprecated(since = \"class trap {\")\npublic final class A<T> extends B implements C {\n" +
			"  private String s = \"void trap() {\"; // void trap2() {}\n  String t = \"\"\"\n    class trap { \"quoted\" \\\"\"\"\n    \"\"\";\n  public A(int x) { if (x > 0) { trap(); } }\n  @Override public List<T> get(char c) { return c == '\"' ? trap() : null; }\n  enum E { X, Y { void trap() {} } }\n  interface I {\n    void run();\n  }\n}\nrecord R(int a) {}\n",
		"com.x.y", "Serves requests", []string{"A", "get", "E", "I", "run", "R"}, []string{"java.util.List", "com.x.Z.*"},
	},
	{
		"a.kt", "package x.y\n\nimport a.b.C\nimport d.*\n\n/** Syncs. */\nclass Sync(val a: Int) : Base(a) {\n  val s = \"fun trap() ${ f(\"fun trap() {}\") }\"\n  val raw = \"\"\"class trap { \"\"\"\n  override fun <T> List<T>.run(x: Int): Int { trap() ; return 1 }\n  companion object {\n    const val K = 1\n  }\n}\n/* class trap\n class trap */\nfun String.ext() = 1\nobject O\ndata class D(val x: Int)\ntypealias T = Int\n",
		"x.y", "Syncs", []string{"Sync", "s", "raw", "run", "K", "ext", "O", "D"}, []string{"a.b.C", "d.*"},
	},
	{
		"a.c", "/* Reads blocks. */\n#include <stdio.h>\n#include \"b/c.h\" // x\n#define MAX 10\n#define GUARD\n// #include \"trap.h\"\nstatic const char *s = \"int trap() {\";\nstruct point { int x; };\ntypedef struct { int trap; } named;\nstruct point *make(int (*cb)(int), char c)\n{\n  if (c == '{') trap();\n#ifdef X\n  while (1) {\n#else\n  while (0) {\n#endif\n  }\n}\nenum color { RED };\nstruct fwd;\nint decl(int);\n",
		"", "Reads blocks", []string{"MAX", "point", "make", "color", "decl"}, []string{"stdio.h", "b/c.h"},
	},
	{
		"a.cpp", "#include \"x.hpp\"\n#ifdef __cplusplus\nextern \"C\" {\n#endif\nint cfun(void);\n#ifdef __cplusplus\n}\n#endif\nnamespace a::b {\ntemplate <class T> class Box final : public Base<T> {\n public:\n  explicit Box(int n) : n_(1'000) {}\n  void put(T t) { trap(); }\n private:\n  int n_;\n};\nauto s = R\"x(class trap { \")\" )x\";\nvoid Box2::get() const {}\nenum class E { A };\n}\nusing namespace std;\n",
		"a::b", "", []string{"cfun", "Box", "put", "get", "E"}, []string{"x.hpp"},
	},
	{
		"a.cs", "using System;\nusing static A.B.C;\nusing X = D.E;\nnamespace N.M;\n\n/// <summary>Runs jobs. Well.</summary>\npublic sealed class Jobs : Base {\n  string s = @\"class trap { \"\" \";\n  string t = $\"{F(\"class trap {\")} class trap {{\";\n  string u = \"\"\"\n class trap { \"\n\"\"\";\n  public int P { get; set; }\n  public async Task<int> Run(int x) { using (var f = Open()) { trap(); } return 1; }\n#region trap\n}\ninternal record struct Rec(int A);\ninterface I {\n  void Do();\n}\nenum E { A }\n",
		"N.M", "Runs jobs", []string{"Jobs", "Run", "Rec", "I", "Do", "E"}, []string{"System", "A.B.C", "D.E"},
	},
	{
		"a.rb", "# frozen_string_literal: true\n\n# Sends mail. Daily.\nrequire 'net/smtp'\nrequire_relative \"lib/b\"\n=begin\nclass Trap\n=end\nmodule M\n  class Mail::Box < Base\n    def self.open(a) = \"#{def_trap(\"class Trap\")}\"\n    def send!; %w[def trap] ; x =~ /class Trap/ ; y = a / b ; 'def trap' ; end\n    attr :class\n  end\nend\n",
		"", "Sends mail", []string{"M", "Box", "open", "send"}, []string{"net/smtp", "./lib/b"},
	},
	{
		"a.php", "<html class=\"trap\"><script>function trap() {}</script>\n<?php\n/**\n * Renders pages. Now.\n */\nnamespace App\\Web;\n\nuse App\\Db\\{Conn, Pool};\nuse Psr\\Log as L;\n# use Trap;\nrequire_once __DIR__ . '/b.php';\n#[Attr]\nabstract class Page extends Base {\n  use SomeTrait;\n  private $s = 'class trap {';\n  public function &show($x) { return \"{$x['function']}\"; }\n}\nfunction helper() {} // ?> <b>class trap</b> <?php\ninterface I {}\n?>\n<p>class trap { </p>\n",
		`App\Web`, "Renders pages", []string{"Page", "show", "helper", "I"}, []string{`App\Db\Conn`, `App\Db\Pool`, `Psr\Log`, "./b.php"},
	},
}

func TestLanguages(t *testing.T) {
	for _, r := range readings {
		got := Read(r.file, r.src, nil)
		for what, pair := range map[string][2]any{
			"package": {r.pkg, got.Package}, "doc": {r.doc, got.Doc}, "names": {r.names, got.Names}, "imports": {r.imports, got.Imports},
		} {
			if d := cmp.Diff(pair[0], pair[1]); d != "" {
				t.Errorf("%s: %s: want -, got +\n%s", r.file, what, d)
			}
		}
		for _, name := range append(got.Names, got.Imports...) {
			if strings.Contains(strings.ToLower(name), "trap") {
				t.Errorf("%s: found %s", r.file, name)
			}
		}
		// What breaks off is read as far as it goes, and ends.
		for i := 0; i < len(r.src); i += 11 {
			Read(r.file, r.src[:i], nil)
		}
	}
}

// Whatever the text, reading ends, and what it gives is bounded.
func FuzzRead(f *testing.F) {
	for _, r := range readings {
		f.Add(r.file, r.src)
	}
	f.Add("a.rb", "<<A <<B\n%")
	f.Add("a.php", "<?php <<<")
	f.Add("a.cs", "$@$\"\"\"")
	f.Add("tsconfig.json", "{\"compilerOptions\":{\"paths\":{\"a\":[\"b\",],}}}")
	f.Fuzz(func(t *testing.T, name, src string) {
		got := Read(name, src, nil)
		if len(got.Doc) > maxDoc+3 || len(got.Names) > maxNames || len(got.Imports) > maxImports || len(got.Terms) > maxTerms {
			t.Errorf("%d bytes of doc, %d names, %d imports, %d terms", len(got.Doc), len(got.Names), len(got.Imports), len(got.Terms))
		}
	})
}
