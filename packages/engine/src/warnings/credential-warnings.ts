import { isCallType } from '../actions/index.js'
import { type CredentialUse, listCredentialUses } from '../configs/config-uses.js'
import type { Fault } from '../fault.js'
import type { Action } from '../rule.js'
import { wholeCredential } from '../templates/credential.js'
import { findSimilar } from '../texts/nearest.js'

/** What a workspace says of its credentials. */
export interface KnownCredential {
  readonly name: string
  readonly kind: string
  readonly hosts: readonly string[]
}

/** Finds the credentials with which a call would fail. Takes actions without faults. */
export function findCredentialWarnings(
  actions: readonly Action[],
  known: readonly KnownCredential[],
): Fault[] {
  return actions.flatMap(({ type, config }, index) => {
    if (!isCallType(type)) return []
    const host = 'url' in config ? hostOf(config.url) : undefined
    return listCredentialUses(config, `actions[${index}]`).flatMap((use) => {
      const message = describe(use, known, host)
      return message === undefined ? [] : [{ field: use.place, message }]
    })
  })
}

function describe(
  { name, field, isWhole }: CredentialUse,
  known: readonly KnownCredential[],
  host: string | undefined,
): string | undefined {
  const found = known.find((one) => one.name === name)
  if (found === undefined) {
    const meant = findSimilar(
      name,
      known.map((one) => one.name),
    )
    return `No credential named ${name}, so the call fails.${meant === undefined ? '' : ` Did you mean ${meant}?`}`
  }
  if (found.kind !== 'text' && !(field === 'headers' && isWhole))
    return `The credential ${name} is of kind ${found.kind}: it has to be the whole value of a header`
  if (host !== undefined && !found.hosts.includes(host))
    return `The credential ${name} may not be sent to ${host}, so the call fails. Its hosts: ${found.hosts.join(', ')}`
  return undefined
}

/** Undefined for a URL that is a credential: nobody but the worker knows it. */
function hostOf(url: string): string | undefined {
  const [start = ''] = /^[^/]*\/\/[^/\\?#]*/.exec(url) ?? []
  if (wholeCredential(url) !== undefined || !URL.canParse(start)) return undefined
  return new URL(start).hostname.replace(/\.$/, '')
}
