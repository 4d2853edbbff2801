import type { Fault } from '@automation/engine'
import { CommandError } from './command-error.js'
import { maskControls } from './format.js'
import type { RuleText } from './rule-text.js'

/** Lists one fault per line. */
export function createRuleFileError(path: string, source: RuleText, faults: Fault[]): CommandError {
  const lines = describeFaults(path, source, faults)
  const count = faults.length === 1 ? '1 error' : `${faults.length} errors`
  return new CommandError(`${path} has ${count}, and nothing was applied:\n${lines.join('\n')}`)
}

/** A line for each fault or warning, as compilers do: `rules.yaml:17: rule "Hot leads": conditions[0].operator: Unknown operator`. */
export function describeFaults(path: string, source: RuleText, faults: Fault[]): string[] {
  return faults.map(({ field, message }) => {
    const [, list = '', index = '', inside = ''] =
      /^(rules|emailTemplates|tests)\[(\d+)\]\.?(.*)$/s.exec(field) ?? []
    const { name } = (source.json as Record<string, { name?: unknown }[]>)?.[list]?.[Number(index)] ?? {}
    const noun = nouns[list]
    const location =
      list === '' ? [field] : [`${noun} ${JSON.stringify(name) ?? `${list}[${index}]`}`, inside]
    const text = [...location, message].filter((part) => part !== '').join(': ')
    return maskControls(`${path}:${source.findLine(field)}: ${text}`)
  })
}

const nouns: Record<string, string> = { rules: 'rule', emailTemplates: 'email template', tests: 'test' }
