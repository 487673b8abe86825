package graph

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"leanctx/overview/source"

	"github.com/google/go-cmp/cmp"
)

// joined are the edges of a project's imports, as "from → to"; a package or namespace stands
// for its name.
func joined(files map[string]string) []string {
	var list []File
	for name, text := range files {
		f := source.Read(name, text, nil)
		list = append(list, File{Path: name, Language: f.Language, Package: f.Package, Imports: f.Imports})
	}
	slices.SortFunc(list, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	g := New(list)
	node := func(n int32) string {
		if int(n) < g.files {
			return list[n].Path
		}
		for name, m := range g.groups {
			if m == n {
				return name
			}
		}
		return fmt.Sprint(n)
	}
	var out []string
	for i := range g.from {
		if from, to := node(g.from[i]), node(g.to[i]); int(g.from[i]) < g.files {
			out = append(out, from+" → "+to)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func TestImportsAreResolved(t *testing.T) {
	for what, c := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"Go": {map[string]string{
			"go.mod": "module example.com/a // x\n", "sub/go.mod": "module example.com/a/sub", "main.go": "package main\nimport (\"example.com/a/x/y\"; \"example.com/a/sub/z\"; \"fmt\"; \"/abs\"; \"./rel\"; \"example.com/b\")\n",
			"x/y/y.go": "package y\nimport \"example.com/a\"", "sub/z/z.go": "package z",
		}, []string{"main.go → go:sub/z/", "main.go → go:x/y/", "x/y/y.go → go:"}},
		"the standard library": {map[string]string{"go.mod": "module std", "net/http/a.go": "package http\nimport \"io\"", "io/io.go": "package io"}, []string{"net/http/a.go → go:io/"}},
		"TypeScript": {map[string]string{
			"package.json": `{"name": "@my/root"}`, "lib/package.json": `{"name": "@my/lib"}`, "lib/src/index.ts": "", "lib/src/deep/x.ts": "",
			"web/src/top.ts": "", "web/src/react.ts": "", "other/d/e.js": "",
			"web/src/a.tsx": "import '../src/b'\nimport './c.js'\nimport '~/d/e'\nimport 'd'\nimport '~/top'\nimport 'react/top'\nimport '@my/lib'\nimport '@my/lib/deep/x'\nimport 'react'\nimport '../../../out'", "web/src/b/index.ts": "", "web/src/c.ts": "",
			"web/src/d/e.js": "const x = require('../c')", "web/src/d/index.mjs": "",
		}, []string{
			"web/src/a.tsx → lib/src/deep/x.ts", "web/src/a.tsx → lib/src/index.ts", "web/src/a.tsx → web/src/b/index.ts", "web/src/a.tsx → web/src/c.ts",
			"web/src/a.tsx → web/src/d/e.js", "web/src/a.tsx → web/src/top.ts", "web/src/d/e.js → web/src/c.ts",
		}},
		"Python": {map[string]string{
			"src/app/__init__.py": "from .core import run", "src/app/core.py": "import app.db.pool\nfrom app import util\nfrom ..other import x\nimport os", "src/app/db/__init__.py": "", "src/app/db/pool.py": "from ..util import a\nfrom . import conn\nfrom .. import core",
			"src/app/util.py": "", "src/app/db/conn.py": "", "tests/t.py": "from app.db import pool",
		}, []string{
			"src/app/__init__.py → src/app/core.py", "src/app/core.py → src/app/__init__.py", "src/app/core.py → src/app/db/pool.py", "src/app/core.py → src/app/util.py", "src/app/db/pool.py → src/app/__init__.py",
			"src/app/db/pool.py → src/app/core.py", "src/app/db/pool.py → src/app/db/__init__.py", "src/app/db/pool.py → src/app/db/conn.py", "src/app/db/pool.py → src/app/util.py", "tests/t.py → src/app/db/__init__.py", "tests/t.py → src/app/db/pool.py",
		}},
		"Rust": {map[string]string{
			"Cargo.toml": "[package]\nname = \"my-app\"\n", "src/lib.rs": "mod a;\npub mod b;", "src/a.rs": "use crate::b::c::Deep;\nuse std::fs;", "src/b/mod.rs": "mod c;", "src/b/c.rs": "use super::super::a::X;\nuse self::inner;", "src/main.rs": "use my_app::a::{Y, Z};",
		}, []string{"src/a.rs → src/b/c.rs", "src/b/c.rs → src/a.rs", "src/b/mod.rs → src/b/c.rs", "src/lib.rs → src/a.rs", "src/lib.rs → src/b/mod.rs", "src/main.rs → src/a.rs"}},
		"Java and Kotlin": {map[string]string{
			"src/com/x/A.java": "package com.x;\nimport com.y.B;\nimport com.y.B.Inner;\nimport static com.z.C.run;\nimport com.z.*;\nimport java.util.List;", "src/com/y/B.java": "package com.y;", "src/com/z/C.kt": "package com.z\nimport com.x.A",
		}, []string{"src/com/x/A.java → package:com/z", "src/com/x/A.java → src/com/y/B.java", "src/com/x/A.java → src/com/z/C.kt", "src/com/z/C.kt → src/com/x/A.java"}},
		"C": {map[string]string{
			"src/a.c": "#include \"a.h\"\n#include <lib/b.h>\n#include \"../inc/c.h\"\n#include <stdio.h>", "src/a.h": "", "include/lib/b.h": "", "inc/c.h": "", "other/a.h": "", "x/y.cpp": "#include \"deep/only.hpp\"", "far/deep/only.hpp": "",
		}, []string{"src/a.c → inc/c.h", "src/a.c → include/lib/b.h", "src/a.c → src/a.h", "x/y.cpp → far/deep/only.hpp"}},
		"C#":   {map[string]string{"A.cs": "using N.M;\nusing System;\nnamespace N;", "B.cs": "namespace N.M { class B {} }"}, []string{"A.cs → package:N/M"}},
		"Ruby": {map[string]string{"lib/a.rb": "require 'a/b'\nrequire_relative './c'\nrequire 'json'", "lib/a/b.rb": "", "lib/c.rb": ""}, []string{"lib/a.rb → lib/a/b.rb", "lib/a.rb → lib/c.rb"}},
		"PHP": {map[string]string{"src/A.php": "<?php namespace App;\nuse App\\Db\\Pool;\nrequire __DIR__ . '/b.php';", "src/Db/Pool.php": "<?php namespace App\\Db; class Pool {}", "src/b.php": "<?php"},
			[]string{"src/A.php → src/Db/Pool.php", "src/A.php → src/b.php"}},
	} {
		if d := cmp.Diff(c.want, joined(c.files)); d != "" {
			t.Errorf("%s: want -, got +\n%s", what, d)
		}
	}
}

func TestOddImportsEnd(t *testing.T) {
	var odd strings.Builder
	odd.WriteString("import (\n")
	for _, spec := range []string{"/", "//", "a//b", "../..", ".", "", "a/", strings.Repeat("a/", 300)} {
		odd.WriteString(fmt.Sprintf("%q\n", spec))
	}
	joined(map[string]string{
		"go.mod": "module a", "a.go": "package a\n" + odd.String() + ")", "b.py": "from ......... import x\nimport a..b\nfrom . import *", "c.rs": "use super::super::super::super::x;\nuse crate;\nmod x;\nuse ::a;",
		"d.ts": "import '/'\nimport '@'\nimport '@a'\nimport '../../../../..'\nimport ''", "e.c": "#include \"\"\n#include \"/\"\n#include <..>", "f.rb": "require ''\nrequire '/'", "g.php": "<?php\nuse \\;\nrequire '/';", "h.java": "import .;\nimport *;\nimport a.;",
	})
}
