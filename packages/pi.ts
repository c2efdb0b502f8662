// Written by `gitmem @VERB@ pi`.
// It tells gitmem's doorbell when a turn ended, and hands on what the doorbell says at a prompt. Whatever goes wrong
// in it is silence.
import { spawn } from "node:child_process";

const DOORBELL: string = @DOORBELL@;
const INJECT: boolean = @INJECT@;
const WAIT = 15000; // milliseconds

function ring(ctx: any, said: Record<string, string>, event?: string): Promise<string> {
  return new Promise((resolve) => {
    try {
      const folder = ctx.cwd || process.cwd();
      const session = {
        session_id: String(ctx.sessionManager?.getSessionId?.() ?? ""),
        transcript_path: String(ctx.sessionManager?.getSessionFile?.() ?? ""),
      };
      const child = spawn(DOORBELL, event ? ["pi", event] : ["pi"], {
        cwd: folder,
        stdio: ["pipe", "pipe", "ignore"],
        timeout: WAIT,
      });
      let out = "";
      child.on("error", () => resolve(""));
      child.on("close", () => resolve(out));
      child.stdin.on("error", () => {});
      child.stdout.setEncoding("utf8");
      child.stdout.on("data", (part: string) => {
        out += part;
      });
      child.stdin.end(JSON.stringify({ ...session, ...said, cwd: folder }));
    } catch {
      resolve("");
    }
  });
}

export default function (pi: any) {
  pi.on("agent_settled", async (_event: any, ctx: any) => {
    await ring(ctx, {});
  });
  if (!INJECT) return;
  pi.on("before_agent_start", async (event: any, ctx: any) => {
    try {
      const answer = await ring(ctx, { prompt: String(event?.prompt ?? "") }, "prompt");
      const content = answer ? JSON.parse(answer).additionalContext : "";
      if (content) return { message: { customType: "gitmem", content, display: false } };
    } catch {}
  });
  pi.on("session_compact", async (_event: any, ctx: any) => {
    await ring(ctx, {}, "compact");
  });
}
