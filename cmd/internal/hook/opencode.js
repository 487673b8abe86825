// Made by `lean-ctx connect opencode`, removed by `lean-ctx disconnect opencode`.
// What it says is kept for the session: a text that changes would cost the prompt cache.
export const LeanCtx = async ({ directory }) => {
  const command = COMMAND
  const briefings = new Map()
  const hook = async (event, input) => {
    try {
      const child = Bun.spawn([command, "hook", "opencode", event], {
        cwd: directory,
        stdin: new Blob([JSON.stringify({ cwd: directory, ...input })]),
        stdout: "pipe",
        stderr: "ignore",
      })
      return JSON.parse((await new Response(child.stdout).text()) || "{}").additionalContext || ""
    } catch {
      return ""
    }
  }
  return {
    "experimental.chat.system.transform": async (input, output) => {
      const session = input?.sessionID || ""
      if (!briefings.has(session)) briefings.set(session, await hook("session-start", { session_id: session, source: "startup" }))
      if (briefings.get(session)) output.system.push(briefings.get(session))
    },
    "experimental.session.compacting": async (input) => {
      await hook("pre-compact", { session_id: input?.sessionID || "" })
    },
    event: async ({ event }) => {
      if (event.type === "session.idle") await hook("stop", { session_id: event.properties?.sessionID || "" })
    },
  }
}
