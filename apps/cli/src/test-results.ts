import type { CheckedRule } from '@automation/engine'
import { type RuleTest, runTests, type TestResult } from '@automation/rule-tests'
import { CommandError } from './command-error.js'
import { maskControls } from './format.js'

/** Failures first, each with the reasons below. */
export function formatTestResults(results: readonly TestResult[]): string {
  const failed = results.filter(({ failures }) => failures.length > 0)
  const lines = failed.flatMap(({ name, failures }) => [
    `FAILED ${name}`,
    ...failures.map((failure) => `    ${failure}`),
  ])
  return [
    ...lines.map(maskControls),
    `Tests: ${results.length - failed.length} passed, ${failed.length} failed.`,
  ].join('\n')
}

/** @throws CommandError if a test fails, so that nothing is imported */
export function refuseFailingTests(rules: readonly CheckedRule[], tests: readonly RuleTest[]): void {
  const results = runTests(rules, tests)
  if (results.every(({ failures }) => failures.length === 0)) return
  throw new CommandError(
    `${formatTestResults(results)}\nNothing was applied (--skip-tests imports without them).`,
  )
}
