// Written by `gitmem @VERB@ opencode`.
// It tells gitmem's doorbell when a turn ended, and hands on what the doorbell says at a prompt. Whatever goes wrong
// in it is silence: an exception would break the turn.
import { spawn } from "node:child_process"

const DOORBELL = @DOORBELL@
const INJECT = @INJECT@
const WAIT = 15000 // milliseconds
const SESSIONS = 64 // whose blocks are kept, the newest
const BLOCKS = 24 // of one session; then it is told anew

const told = new Map() // session -> what stands in its system prompt: the same at each call, for the host's cache

function ring(folder, said, event) {
  return new Promise((resolve) => {
    try {
      const child = spawn(DOORBELL, event ? ["opencode", event] : ["opencode"], {
        cwd: folder,
        stdio: ["pipe", "pipe", "ignore"],
        timeout: WAIT,
      })
      let out = ""
      child.on("error", () => resolve(""))
      child.on("close", () => resolve(out))
      child.stdin.on("error", () => {})
      child.stdout.setEncoding("utf8")
      child.stdout.on("data", (part) => { out += part })
      child.stdin.end(JSON.stringify({ ...said, cwd: folder }))
    } catch {
      resolve("")
    }
  })
}

async function hear(folder, session, prompt) {
  try {
    if (!INJECT || !session || !folder) return
    const held = told.get(session)
    // What a session was told before this process began, or before too much was told, is in no prompt any more.
    if (!held || held.length >= BLOCKS) await forget(folder, session)
    const answer = await ring(folder, { session_id: session, prompt }, "prompt")
    const text = answer ? JSON.parse(answer).additionalContext : ""
    if (typeof text === "string" && text) told.get(session)?.push(text)
  } catch {}
}

async function forget(folder, session) {
  told.delete(session)
  told.set(session, [])
  if (told.size > SESSIONS) told.delete(told.keys().next().value)
  await ring(folder, { session_id: session }, "compact")
}

function texts(parts) {
  return (Array.isArray(parts) ? parts : [])
    .filter((part) => part?.type === "text" && !part.synthetic && typeof part.text === "string")
    .map((part) => part.text)
    .join("\n")
}

export default {
  id: "gitmem",

  // OpenCode 1, from 1.3.4.
  async server({ directory, worktree }) {
    const folder = directory || worktree
    return {
      event: async ({ event }) => {
        const session = event?.properties?.sessionID
        if (event?.type === "session.idle") await ring(folder, { session_id: session ?? "" })
        if (event?.type === "session.compacted" && INJECT && session) await forget(folder, session)
      },
      "chat.message": async (input, output) => hear(folder, input?.sessionID, texts(output?.parts)),
      "experimental.chat.system.transform": async (input, output) => {
        for (const text of told.get(input?.sessionID) ?? []) output.system.push(text)
      },
    }
  },

  // OpenCode 2.
  async setup(ctx) {
    try {
      const folder = ctx.location.directory
      ctx.session.hook("prompt", async (said) => {
        const prompt = said?.prompt?.text ?? said?.text ?? texts(said?.parts ?? said?.prompt?.parts)
        await ring(folder, { session_id: said?.sessionID ?? "" }) // for the turns before it
        await hear(folder, said?.sessionID, typeof prompt === "string" ? prompt : "")
      })
      ctx.session.hook("context", (context) => {
        for (const text of told.get(context?.sessionID) ?? []) context.system.push({ type: "text", text })
      })
    } catch {}
  },
}
