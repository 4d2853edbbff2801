import type { Fault } from '@automation/engine'
import { CommandFault } from './command-fault.js'
import { maskControls } from './format.js'
import type { RuleText } from './rule-text.js'

/** A line for each, as compilers tell them: `rules.yaml:17: rule "Hot leads": conditions[0].operator: Unknown operator`. */
export function tellRuleFaults(path: string, source: RuleText, faults: Fault[]): CommandFault {
  const lines = faults.map(({ field, message }) => {
    const [, list = '', index = '', inside = ''] =
      /^(rules|emailTemplates)\[(\d+)\]\.?(.*)$/s.exec(field) ?? []
    const { name } = (source.json as Record<string, { name?: unknown }[]>)?.[list]?.[Number(index)] ?? {}
    const noun = list === 'rules' ? 'rule' : 'email template'
    const places = list === '' ? [field] : [`${noun} ${JSON.stringify(name) ?? `${list}[${index}]`}`, inside]
    const words = [...places, message].filter((word) => word !== '').join(': ')
    return maskControls(`${path}:${source.findLine(field)}: ${words}`)
  })
  const count = faults.length === 1 ? 'one fault' : `${faults.length} faults`
  return new CommandFault(`${path} has ${count}, and nothing was applied:\n${lines.join('\n')}`)
}
