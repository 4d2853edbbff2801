import { type Declared, isLinkPath } from '../results/recorded.js'
import { cutText } from '../texts/cut-text.js'

/** Says that an action has the second decision of its rule: it would not be clear which of them the later actions read. Takes any shape. */
export function findSecondDecision(
  { decisions }: Declared,
  { type, config }: { type?: unknown; config?: object },
  index: number,
): string | undefined {
  const [first = index] = decisions
  const isSecond = type === 'WAIT' && config && 'decision' in config && first < index
  return isSecond ? `must be the only one of the rule: actions[${first}] has a decision` : undefined
}

/** Says that a link of a decision has filters: what they make of it, nothing would find in responses, to keep it out of results. */
export function findFilteredLink(
  declared: Declared,
  calls: readonly unknown[],
  reads: readonly string[],
): string | undefined {
  const link = calls.length > 0 && reads.find((path) => isLinkPath(declared, path))
  return link ? `has a filter beside {{${cutText(link, 60)}}}: a link has none` : undefined
}
