import { postgresNow } from '@automation/database'
import type { Type } from 'typebox'
import { type Administrator, changeWorkspace } from './change-workspace.js'
import { Refused } from './refused.js'
import type { Sealer } from './sealing.js'
import { findSecretFaults, refuseFirst, refuseUnknownTypes } from './signing-secret-faults.js'
import type { SigningSecret, SigningSecretToPut } from './signing-secret-schemas.js'
import {
  findSecret,
  presentSigningSecret,
  sealingContext,
  signingSecretState,
  writeKey,
} from './signing-secrets.js'

/**
 * Stores the text that a provider has made, or other settings. What is omitted stays.
 *
 * @throws Refused where there is no such secret, it is not in use, or it is outgoing: the receivers of our webhooks know those
 */
export function putSigningSecret(
  administrator: Administrator,
  sealer: Sealer,
  id: string,
  { secret, settings }: Type.Static<typeof SigningSecretToPut>,
): Promise<SigningSecret> {
  return changeWorkspace(administrator, async (transaction) => {
    const found = await findSecret(transaction, id)
    const state = signingSecretState(found, postgresNow())
    if (state === 'revoked') throw new Refused('signing_secret_revoked', 'The signing secret was revoked')
    if (state === 'retired')
      throw new Refused('signing_secret_retired', 'The signing secret has retired: create a new one')
    const { provider, direction, scheme, settings: kept } = presentSigningSecret(found)
    const given = listGiven({ secret, settings })
    if (direction === 'outgoing')
      refuseFirst(given.map((field) => ({ field, message: 'Must be omitted for an outgoing secret' })))
    // Other settings may read the same text in another way.
    const isReadAnew = scheme === 'generic' && secret === undefined
    const text = isReadAnew ? openText(sealer, found) : secret
    refuseFirst(
      findSecretFaults({
        provider,
        scheme,
        settings: settings ?? kept ?? {},
        ...(text !== undefined && { secret: text }),
      }),
    )
    await refuseUnknownTypes(transaction, settings)
    const row = await transaction.signingSecret.update({
      where: { id },
      data: {
        ...(settings !== undefined && { settings }),
        ...(secret !== undefined && { sealed: sealer.seal(writeKey(scheme, secret), sealingContext(found)) }),
      },
    })
    return {
      result: presentSigningSecret(row),
      entry: {
        action: 'signing_secret.updated',
        subject: id,
        details: { provider, changed: given },
      },
    }
  })
}

/** @throws Refused where ENCRYPTION_KEY does not have the key any more */
function openText(sealer: Sealer, found: { id: string; workspaceId: string; sealed: Uint8Array }): string {
  try {
    return sealer.open(found.sealed, sealingContext(found)).toString()
  } catch {
    const message = 'Must be sent, too: the stored secret cannot be decrypted with ENCRYPTION_KEY'
    throw new Refused('validation_failed', message, 'secret')
  }
}

function listGiven(fields: object): string[] {
  return Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [name]))
}
