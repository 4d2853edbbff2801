/** What a person can choose, and how the links are opened. */
export interface LinksToMake {
  readonly options: readonly string[]
  /** Whether the person has to sign in: the decision is for roles. */
  readonly needsRole: boolean
}

/** The link of each option. */
export type DecisionLinks = Readonly<Record<string, string>>

/** The fields that a person reads, by the type of their action. Nothing else that is sent, stored or shown has a link. */
const linkFields: ReadonlyMap<unknown, string> = new Map([
  ['SEND_EMAIL', 'variables'],
  ['SEND_WEBHOOK', 'body'],
  ['SEND_NOTIFICATION', 'text'],
])

export function takesLinks(type: unknown, field: string): boolean {
  return linkFields.get(type) === field
}

/** What a rule, its explanations and its results show of the links. */
export function showLinks(options: readonly string[]): DecisionLinks {
  return Object.fromEntries(options.map((option) => [option, `{{decision.links.${option}}}`]))
}

/** Says why an action cannot read `decision.links.rest`; undefined if it can. @param first the index of the WAIT */
export function findLinkFault(
  options: readonly string[],
  rest: readonly string[],
  { before, first, isLinkField }: { before: number; first: number; isLinkField: boolean },
): string | undefined {
  const [option, ...deeper] = rest
  if (!isLinkField)
    return 'must not read decision.links: links stand in the variables of SEND_EMAIL, the body of SEND_WEBHOOK and the text of SEND_NOTIFICATION'
  if (option === undefined || !options.includes(option) || deeper.length > 0)
    return `must be the link of an option: ${options.map((one) => `decision.links.${one}`).join(' or ')}`
  return before < first ? undefined : `must read links before the decision: actions[${first}] waits for it`
}
