import { createHmac, timingSafeEqual } from 'node:crypto'
import { readKeyList } from './key-list.js'

/** The execution that a decision is for. */
export interface DecisionOf {
  workspaceId: string
  executionId: string
}

/** The tokens in the links of decisions: its holder may decide. They follow from the keys, so that none is stored. */
export interface DecisionTokens {
  make(of: DecisionOf): string
  /** Of the page that the link shows: without it nothing is decided, so nobody decides by opening a link. */
  ofPage(token: string): string
  isToken(of: DecisionOf, token: string): boolean
  isOfPage(token: string, given: string): boolean
}

/** @param encryptionKey the value of ENCRYPTION_KEY: the first key makes tokens, and those of all keys are known */
export function createDecisionTokens(encryptionKey: string): DecisionTokens {
  const keys = readKeyList(encryptionKey).map((key) => hmac(Buffer.from(key, 'base64'), 'links of decisions'))
  const tokensOf = ({ workspaceId, executionId }: DecisionOf) =>
    keys.map((key) => hmac(key, `${workspaceId} ${executionId}`).toString('hex'))
  const ofPage = (token: string) => hmac(Buffer.from(token), 'page of a decision').toString('hex')
  return {
    make: (of) => tokensOf(of)[0] as string,
    ofPage,
    // All of them are compared, so that the time tells nothing.
    isToken: (of, token) => tokensOf(of).filter((one) => isSame(one, token)).length > 0,
    isOfPage: (token, given) => isSame(ofPage(token), given),
  }
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}
