import { createSealer, type Resealing, resealSecrets } from '@automation/access'
import type { Command } from 'commander'
import { readEncryptionKey } from '../config.js'
import { exitCodes } from '../exit-codes.js'
import { addCommand, print } from '../program.js'
import { useDatabase } from '../use-database.js'

export function addReseal(secrets: Command): void {
  addCommand(secrets, {
    name: 'reseal',
    description:
      'Encrypt all signing secrets and credentials of all workspaces again, with the first key of ENCRYPTION_KEY, without downtime. The secrets themselves stay the same.',
    example: '--plan',
    reads: ['DATABASE_URL', 'ENCRYPTION_KEY'],
    exits: {
      failed: 'failed, or some secrets cannot be decrypted with any of the keys; the others are done',
      changes: 'with --plan: there are secrets to encrypt again',
    },
  })
    .option('--plan', 'only count them')
    .action(reseal)
}

async function reseal({ plan: isPlan = false }: { plan?: boolean }, command: Command): Promise<void> {
  const sealer = createSealer(readEncryptionKey())
  const resealing = await useDatabase('change', ({ database }) => resealSecrets(database, sealer, isPlan))
  if (resealing.unopened.length > 0 || resealing.changed > 0) process.exitCode = exitCodes.failed
  else if (isPlan && resealing.resealed > 0) process.exitCode = exitCodes.changes
  print(command, { applied: !isPlan, ...resealing }, formatResealing(resealing, isPlan))
}

function formatResealing({ secrets, resealed, changed, unopened }: Resealing, isPlan: boolean): string {
  const lines = [
    isPlan
      ? `${resealed} of ${secrets} secrets would be encrypted again with the first key of ENCRYPTION_KEY.`
      : `Encrypted ${resealed} of ${secrets} secrets again with the first key of ENCRYPTION_KEY.`,
  ]
  if (changed > 0)
    lines.push(`${changed} were changed by somebody else in the meantime. Run the command again.`)
  if (unopened.length > 0)
    lines.push(`${unopened.length} cannot be decrypted with any key of ENCRYPTION_KEY:`, ...unopened)
  return lines.join('\n')
}
