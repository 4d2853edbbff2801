import type { createCompiledRules } from './compiled-rules.js'
import type { Perform } from './effects/index.js'
import type { LoadedEvent } from './load-events.js'
import { type RuleRun, runRule } from './run-rule.js'

/** Runs every active rule of an event's type. The rules know nothing of one another, so none waits for another's calls. */
export async function runTrigger(
  event: LoadedEvent,
  findRules: ReturnType<typeof createCompiledRules>,
  perform: Perform,
): Promise<RuleRun[]> {
  const rules = await findRules(event)
  return Promise.all(rules.map((rule) => runRule(rule, event, perform)))
}
