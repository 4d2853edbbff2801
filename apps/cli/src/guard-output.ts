import { exitCodes } from './exit-codes.js'

/**
 * Handles errors of standard output and standard error, which console.log does not report.
 *
 * A reader that has closed the pipe (`| head -1`) has read enough: the command finishes its work, prints nothing more, and ends as it
 * would have ended. To end at once would stop a change half-way, and another exit code would make npm print ten lines. Any other
 * error, such as a full disk behind `> rules.yaml`, ends with a sentence and the code for a failure.
 */
export function guardOutput(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE' || hasFailed) return
    hasFailed = true
    console.error(`The output cannot be written: ${error.message}.`)
    process.on('exit', () => {
      process.exitCode = exitCodes.failed
    })
  })
  process.stderr.on('error', () => {})
}

let hasFailed = false
