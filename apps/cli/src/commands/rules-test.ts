import { writeFile } from 'node:fs/promises'
import type { CheckedRule } from '@automation/engine'
import { type Coverage, measureCoverage, mutateClauses, runTests, writeJunit } from '@automation/rule-tests'
import { checkRuleFile } from '@automation/rules/rule-file'
import type { Command } from 'commander'
import { apiVariables, useApi } from '../client/use-api.js'
import { CommandError } from '../command-error.js'
import { exitCodes } from '../exit-codes.js'
import { maskControls } from '../format.js'
import { readId } from '../option-readers.js'
import { addCommand, print } from '../program.js'
import { readRuleFile } from '../read-rule-file.js'
import { recordTest } from '../record-test.js'
import { createRuleFileError } from '../rule-file-error.js'
import { writeYaml } from '../rule-text.js'
import { formatTestResults } from '../test-results.js'

export function addRulesTest(rules: Command): void {
  addCommand(rules, {
    name: 'test',
    description:
      'Run the tests in a file of rules by simulation, without server and database. Clock, WAIT and EMIT_EVENT are simulated, and every call succeeds. With --record, print a test of what happened instead.',
    example: 'rules.yaml --coverage',
    reads: apiVariables,
    exits: { failed: 'failed, or a test failed' },
  })
    .argument('[file]', 'file in the format of rules export; - reads standard input')
    .option('--coverage', 'list the conditions that no test has seen true, or false')
    .option('--mutate', 'change each condition once, and list the changes that no test notices')
    .option('--junit <file>', 'write the results as JUnit XML')
    .option('--record <event>', 'print a test of a stored event, and of what the rules did for it', readId)
    .action(testFile)
}

interface TestOptions {
  coverage?: true
  mutate?: true
  junit?: string
  record?: string
}

async function testFile(path: string | undefined, options: TestOptions, command: Command): Promise<void> {
  if (options.record !== undefined) return record(options.record, command)
  if (path === undefined) throw new CommandError('Name a file.', { exitCode: exitCodes.usage })
  const source = await readRuleFile(path)
  const checked = checkRuleFile(source.json)
  if ('faults' in checked) throw createRuleFileError(path, source, checked.faults)
  const rules = checked.file.rules as unknown as CheckedRule[]
  const { tests = [] } = checked.file
  const results = runTests(rules, tests)
  const coverage = options.coverage && measureCoverage(rules, tests)
  const mutation = options.mutate && mutateClauses(rules, tests)
  if (options.junit !== undefined) await writeFile(options.junit, writeJunit(path, results))
  if (results.some(({ failures }) => failures.length > 0)) process.exitCode = exitCodes.failed
  const text = [
    formatTestResults(results),
    ...(coverage ? [formatCoverage(coverage)] : []),
    ...(mutation ? [formatMutation(mutation)] : []),
  ].join('\n')
  print(command, { results, ...(coverage && { coverage }), ...(mutation && { mutation }) }, text)
}

function formatCoverage({ verdicts, seen, uncovered }: Coverage): string {
  const lines = uncovered.map(
    ({ rule, path, clause, never }) => `    ${JSON.stringify(rule)} ${path}: ${clause}: never ${never}`,
  )
  return [`Coverage: ${seen} of ${verdicts} results of conditions.`, ...lines.map(maskControls)].join('\n')
}

function formatMutation({ changes, survivors }: ReturnType<typeof mutateClauses>): string {
  const lines = survivors.map(
    ({ rule, path, before, after }) => `    ${JSON.stringify(rule)} ${path}: ${before} could be ${after}`,
  )
  return [
    `Changes: ${changes - survivors.length} of ${changes} are noticed.`,
    ...lines.map(maskControls),
  ].join('\n')
}

async function record(eventId: string, command: Command): Promise<void> {
  const test = await useApi('read', (client) => recordTest(client, eventId))
  print(command, test, writeYaml({ tests: [test] }).trimEnd())
}
