// Made by `lean-ctx connect amp`, removed by `lean-ctx disconnect amp`.
import type { PluginAPI } from "@ampcode/plugin"

export const description = "Project memory: the briefing, and what a prompt has to do with"

export default function (amp: PluginAPI) {
  const command = COMMAND
  const briefed = new Set<string>()
  const hook = async (event: string, input: Record<string, unknown>): Promise<string> => {
    try {
      const root = amp.system.workspaceRoot
      const cwd = root ? amp.helpers.filePathFromURI(root) : process.cwd()
      const child = Bun.spawn([command, "hook", "amp", event], {
        cwd,
        stdin: new Blob([JSON.stringify({ cwd, ...input })]),
        stdout: "pipe",
        stderr: "ignore",
      })
      return JSON.parse((await new Response(child.stdout).text()) || "{}").additionalContext || ""
    } catch {
      return ""
    }
  }
  amp.on("agent.start", async (event) => {
    const session_id = event.thread.id
    const texts: string[] = []
    if (!briefed.has(session_id)) {
      briefed.add(session_id)
      texts.push(await hook("session-start", { session_id, source: "startup" }))
    }
    texts.push(await hook("user-prompt", { session_id, prompt: event.message }))
    const content = texts.filter(Boolean).join("\n\n")
    return content ? { message: { content, display: false } } : {}
  })
  amp.on("agent.end", async (event) => {
    await hook("stop", { session_id: event.thread.id })
  })
}
