import type { Database } from '@automation/database'
import { readRule } from './compiled-rules.js'
import type { Perform } from './effects/index.js'
import type { LoadedEvent } from './load-events.js'
import { type RuleRun, runRule } from './run-rule.js'

/** Runs the one rule that was asked for by hand; no run where it was deleted since. */
export async function runExecute(
  event: LoadedEvent,
  ruleId: string,
  database: Database,
  perform: Perform,
): Promise<RuleRun[]> {
  const rules = await readRule(database, event.workspaceId, ruleId)
  return Promise.all(rules.map((rule) => runRule(rule, event, perform)))
}
