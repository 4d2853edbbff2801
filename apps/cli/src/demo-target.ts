import { readFileSync } from 'node:fs'
import { Type } from 'typebox'
import { Check } from 'typebox/value'
import { CommandFault } from './command-fault.js'
import type { Target } from './delivery.js'

/** Written by `npm start`. */
const demoFile = '.data/demo.json'

/** What of it is needed here. */
const Demo = Type.Object({
  baseUrl: Type.String(),
  workspaceId: Type.String(),
  webhook: Type.Object({ provider: Type.String(), secretId: Type.String(), secret: Type.String() }),
})

/** What is not given is taken from the demo. @throws CommandFault where there is none */
export function completeTarget(given: Partial<Target>): Target {
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
    // Told below, like a file of a version that had no webhooks.
  }
  if (Check(Demo, demo)) return demo
  throw new CommandFault(
    `Run npm start first, which makes ${demoFile}, or say all of --url, --workspace, --provider, --secret-id and --secret.`,
  )
}
