import { readFileSync } from 'node:fs'
import { Type } from 'typebox'
import { Check } from 'typebox/value'
import { CommandError } from './command-error.js'
import type { Target } from './delivery.js'

/** Written by `npm start`. */
const demoFile = '.data/demo.json'

/** The fields of the file that are needed here. */
const Demo = Type.Object({
  baseUrl: Type.String(),
  workspaceId: Type.String(),
  webhook: Type.Object({ provider: Type.String(), secretId: Type.String(), secret: Type.String() }),
})

/** Takes missing options from the demo. @throws CommandError if there is no demo */
export function completeTarget(given: { [Field in keyof Target]?: Target[Field] | undefined }): Target {
  const { url, workspace, provider, secretId, secret } = given
  if (url && workspace && provider && secretId && secret)
    return { url, workspace, provider, secretId, secret }
  const demo = readDemo()
  return {
    url: url ?? demo.baseUrl,
    workspace: workspace ?? demo.workspaceId,
    provider: provider ?? demo.webhook.provider,
    secretId: secretId ?? demo.webhook.secretId,
    secret: secret ?? demo.webhook.secret,
  }
}

function readDemo(): Type.Static<typeof Demo> {
  let demo: unknown
  try {
    demo = JSON.parse(readFileSync(demoFile, 'utf8'))
  } catch {
    // Reported below, like a file of a version without webhooks.
  }
  if (Check(Demo, demo)) return demo
  throw new CommandError(
    `Run npm start first, which writes ${demoFile}, or set all of --url, --workspace, --provider, --secret-id and WEBHOOK_SECRET.`,
  )
}
