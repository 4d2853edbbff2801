import { CommandError } from './command-error.js'
import type { Target } from './delivery.js'
import { demoFile, readDemo } from './read-demo.js'

/** Takes missing options from the demo. @throws CommandError if there is no demo */
export function completeTarget(given: { [Field in keyof Target]?: Target[Field] | undefined }): Target {
  const { url, workspace, provider, secretId, secret } = given
  if (url && workspace && provider && secretId && secret)
    return { url, workspace, provider, secretId, secret }
  const demo = readDemo()
  if (demo === undefined)
    throw new CommandError(
      `Run npm start first, which writes ${demoFile}, or set all of --url, --workspace, --provider, --secret-id and WEBHOOK_SECRET.`,
    )
  return {
    url: url ?? demo.baseUrl,
    workspace: workspace ?? demo.workspaceId,
    provider: provider ?? demo.webhook.provider,
    secretId: secretId ?? demo.webhook.secretId,
    secret: secret ?? demo.webhook.secret,
  }
}
