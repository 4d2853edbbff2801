import { randomUUID } from 'node:crypto'
import { createBox } from './sealed-box.js'

/** What a sign-in link carries. */
export interface LinkContent {
  /** Identifies the link, which works once. */
  id: string
  /** The token that the session will use. */
  bearer: string
  /** ms since 1970 */
  madeAt: number
}

/** A session lasts a working day at most, with its overtime: then its user signs in again. So does the token of a link. */
export const sessionHours = 12

const linkBox = (secret: string) => createBox<LinkContent>(secret, 'link')

/** Seals the key of a link. @param lifetimeSeconds how long the link works */
export function sealLink(secret: string, bearer: string, lifetimeSeconds: number): Promise<string> {
  const madeAt = Date.now()
  const expiresAt = Math.floor(madeAt / 1_000) + lifetimeSeconds
  return linkBox(secret).seal({ id: randomUUID(), bearer, madeAt }, expiresAt)
}

export function openLink(secret: string, key: string): Promise<(LinkContent & { exp: number }) | undefined> {
  return linkBox(secret).open(key)
}

/**
 * Makes a link that signs in to the console. The key is in the fragment, which browsers send to no server: it is in no access log and
 * no Referer.
 */
export async function mintLink(options: {
  consoleUrl: string
  secret: string
  bearer: string
  lifetimeSeconds: number
}): Promise<string> {
  const key = await sealLink(options.secret, options.bearer, options.lifetimeSeconds)
  return `${options.consoleUrl.replace(/\/+$/, '')}/enter#${key}`
}
