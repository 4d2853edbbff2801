import { createDecisionTokens } from '@automation/access'
import type { DecisionLinks, LinksToMake } from '@automation/engine'
import type { CallContext } from './effect.js'

/** The links of a decision, and what of them must be seen by their recipient alone. */
export type MadeLinks = { links: DecisionLinks; token?: string } | { fault: string }

export type MakeLinks = (asked: LinksToMake, context: Pick<CallContext, 'executionId' | 'event'>) => MadeLinks

/**
 * Creates the maker of the links with which people decide. A link opens a page, and does nothing by itself. Its holder may decide, unless the decision
 * is for roles: then it leads to the console, where one has to sign in. The links of an execution are always the same.
 */
export function createLinkMaker(encryptionKey: string, consoleUrl: string | undefined): MakeLinks {
  const tokens = createDecisionTokens(encryptionKey)
  const base = consoleUrl?.replace(/\/$/, '')
  return ({ options, needsRole }, { executionId, event: { workspaceId } }) => {
    if (base === undefined)
      return { fault: 'The links of a decision cannot be made: CONSOLE_URL of the workers is not set' }
    const linkAll = (link: (option: string) => string) =>
      Object.fromEntries(options.map((option) => [option, link(option)]))
    if (needsRole) return { links: linkAll(() => `${base}/w/${workspaceId}/decisions?id=${executionId}`) }
    const token = tokens.make({ workspaceId, executionId })
    return {
      links: linkAll((option) => `${base}/decide/${workspaceId}/${executionId}/${token}/${option}`),
      token,
    }
  }
}
