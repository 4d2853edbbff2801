import type { ActionResult } from '@automation/client'
import { redact } from '../logic/history/redact.js'
import { curlOfCall } from '../logic/history/write-curl.js'
import { CopyButton, JsonView } from './json-view.js'

/** What an action was done with and what came of it, without what is secret, and as a command where it was a call. */
export function InputAndOutput({
  result: { action, output, attempts = [] },
  config,
}: {
  result: ActionResult
  config: unknown
}) {
  const last = output ?? attempts.at(-1)?.output
  const command = action === 'SEND_WEBHOOK' ? curlOfCall(config) : undefined
  return (
    <>
      {config !== undefined && (
        <details>
          <summary>Input</summary>
          <JsonView value={redact(config)} label={`Input of ${action}`} />
          {command && <CopyButton text={command} label="Copy as curl" />}
        </details>
      )}
      {last !== undefined && last !== null && (
        <details>
          <summary>Output</summary>
          <JsonView value={redact(last)} label={`Output of ${action}`} />
        </details>
      )}
    </>
  )
}
