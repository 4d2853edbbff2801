import type { WorkspaceTransaction } from '@automation/database'
import { isEventType, parsePath } from '@automation/engine'
import {
  findSettingsFaults,
  payloadPath,
  readSchemeKey,
  readSigningKey,
  type SchemeSettings,
  useScheme,
} from '@automation/webhooks'
import type { Type } from 'typebox'
import { Refused } from './refused.js'
import { isProvider, type SigningSecretToCreate } from './signing-secret-schemas.js'

interface SecretFault {
  field: string
  message: string
}

/** A workspace may have thousands of secrets, and each webhook reads the settings of its provider. */
const maxSettings = 8_192

/** What its schema cannot say about a secret that is to be stored. */
export function findSecretFaults(input: Type.Static<typeof SigningSecretToCreate>): SecretFault[] {
  const { provider, direction = 'incoming', scheme = 'automation', settings = {}, secret } = input
  if (direction === 'outgoing') {
    const given = (['scheme', 'settings', 'secret'] as const).filter((field) => input[field] !== undefined)
    return given.map((field) => ({ field, message: 'Must be omitted for an outgoing secret' }))
  }
  const faults: SecretFault[] = []
  if (!isProvider(provider))
    faults.push({
      field: 'provider',
      message: 'Must be the name of a provider, as in the path of its webhooks',
    })
  faults.push(...findSettingsFaults(scheme, settings))
  if (JSON.stringify(settings).length > maxSettings)
    faults.push({ field: 'settings', message: `Must be at most ${maxSettings} characters of JSON` })
  for (const setting of ['dataFrom', 'idPath', 'typePath'] as const) {
    const path = settings[setting]
    if (path !== undefined && parsePath(payloadPath(path)) === undefined)
      faults.push({ field: `settings.${setting}`, message: 'Must be a path, such as data.object or [0].id' })
  }
  if (secret !== undefined && !isSecretOf({ scheme, settings, secret }))
    faults.push({
      field: 'secret',
      message: 'Must be the secret as the provider shows it, in the notation of the scheme',
    })
  return faults
}

/** @throws Refused where there is a fault */
export function refuseFirst([first]: readonly SecretFault[]): void {
  if (first !== undefined) throw new Refused('validation_failed', first.message, first.field)
}

/** @throws Refused where a type of the provider would become one that the workspace does not have */
export async function refuseUnknownTypes(
  { ownEventType }: Pick<WorkspaceTransaction, 'ownEventType'>,
  { types = {} }: SchemeSettings = {},
): Promise<void> {
  const foreign = Object.values(types).filter((name) => !isEventType(name))
  const own = await ownEventType.findMany({ where: { name: { in: foreign } }, select: { name: true } })
  const known = new Set(own.map(({ name }) => name))
  for (const [type, name] of Object.entries(types))
    if (name === 'WEBHOOK_RECEIVED' || (foreign.includes(name) && !known.has(name)))
      throw new Refused(
        'validation_failed',
        `Must become an event type of the workspace, other than WEBHOOK_RECEIVED: ${name} is none`,
        `settings.types.${type}`,
      )
}

function isSecretOf({
  scheme,
  settings,
  secret,
}: Required<Pick<Secret, 'scheme' | 'settings' | 'secret'>>): boolean {
  // At GitHub a person chooses the text. Those that a provider makes have no space, so one came with a copy.
  if (scheme !== 'github' && scheme !== 'generic' && !/^[!-~]+$/.test(secret)) return false
  if (scheme !== 'automation') return readSchemeKey(useScheme(scheme, settings).scheme, secret) !== undefined
  try {
    return readSigningKey(secret).length > 0
  } catch {
    return false
  }
}

type Secret = Type.Static<typeof SigningSecretToCreate>
