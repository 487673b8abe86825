#!/usr/bin/env node
// Starts the program that came with the package for this platform, as if it
// had been started itself: the same input and output, signals, exit code.
"use strict";
const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const platform = `${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "lean-ctx.exe" : "lean-ctx";

function fail(problem, hint) {
  process.stderr.write(`lean-ctx: error: ${problem}\nlean-ctx: hint: ${hint}\n`);
  process.exit(1);
}

let program;
try {
  program = require.resolve(`@lean-ctx/${platform}/bin/${file}`);
} catch {
  fail(`the package @lean-ctx/${platform} is not installed`,
    "install lean-ctx again without --omit=optional; if there is no package for this platform, build the program from its source");
}

// A terminal sends its signals to the program too, and a second one ends it at
// once; so what comes from a terminal is not passed on.
const passed = process.platform === "win32" ? ["SIGTERM"] : ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"];
const terminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
for (const signal of passed) {
  process.on(signal, () => {
    if (!(terminal && (signal === "SIGINT" || signal === "SIGQUIT"))) child.kill(signal);
  });
}
if (process.platform === "win32") process.on("SIGINT", () => {});

// Started last: a signal that comes at once finds its handler.
const child = spawn(program, process.argv.slice(2), { stdio: "inherit", windowsHide: true });
child.on("error", (err) => fail(`${program}: ${err.message}`, "install lean-ctx again"));

child.on("exit", (code, signal) => {
  if (!signal) process.exit(code);
  // Ended by a signal: end the same way, so that whoever waits sees it.
  for (const s of passed) process.removeAllListeners(s);
  process.kill(process.pid, signal);
  setTimeout(() => process.exit(128 + (constants.signals[signal] || 0)), 1000);
});
