import type { CheckedRule } from '@automation/engine'
import { measureCoverage, runTests } from '@automation/rule-tests'
import { checkRuleFile } from '@automation/rules/rule-file'
import type { Schema } from '../api-document.js'
import { CommandError } from '../command-error.js'
import { readDocument } from '../read-document.js'
import { refuseUnknown, type Tool } from './tool.js'

/** The schema is that of files of rules, which editors use. */
export const ruleSchema = (): Tool => ({
  name: 'rule_schema',
  description: 'Returns the JSON schema of rules and their tests: conditions, actions and all their fields.',
  inputSchema: none,
  isReading: true,
  call: async (_, input) => {
    refuseUnknown(none, input)
    return readDocument<Schema>('rules.schema.json')
  },
})

const none: Schema = { type: 'object', properties: {}, additionalProperties: false }

/** Works without the API. */
export const testRules = (): Tool => ({
  name: 'test_rules',
  description:
    'Runs tests of rules by simulation, and lists the conditions that no test has seen true, or false. Calls nobody, and stores nothing.',
  inputSchema: file,
  isReading: true,
  call: async (_, input) => {
    refuseUnknown(file, input)
    const checked = checkRuleFile({ version: 1, ...input })
    if ('faults' in checked)
      throw new CommandError(checked.faults.map(({ field, message }) => `${field}: ${message}`).join('\n'))
    const rules = checked.file.rules as unknown as CheckedRule[]
    const { tests = [] } = checked.file
    return { results: runTests(rules, tests), coverage: measureCoverage(rules, tests) }
  },
})

const items = (description: string): Schema => ({ type: 'array', items: { type: 'object' }, description })

const file: Schema = {
  type: 'object',
  properties: {
    rules: items('Rules, in the form that rule_schema describes'),
    tests: items('Their tests, in the form that rule_schema describes'),
  },
  required: ['rules', 'tests'],
  additionalProperties: false,
}
