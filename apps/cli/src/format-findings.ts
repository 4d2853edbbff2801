import { type CheckResult, type Finding, type Severity, severities } from '@automation/check'
import { cutText } from '@automation/engine'
import { maskControls } from './format.js'

const maxWitnessLength = 300

/** Whether a severity is as high as another one, or higher. */
export function reaches(severity: Severity, least: Severity): boolean {
  return severities.indexOf(severity) >= severities.indexOf(least)
}

/** Findings for people: one paragraph each, the most severe first. */
export function formatFindings({ findings, notKnown }: CheckResult): string {
  const counts = severities.toReversed().map((severity) => {
    const count = findings.filter((finding) => finding.severity === severity).length
    return `${count} ${severity}${count === 1 || severity === 'info' ? '' : 's'}`
  })
  const open =
    notKnown.length === 0 ? '' : ` ${notKnown.length} questions could not be decided; --json lists them.`
  return [...findings.map(formatFinding), `Check: ${counts.join(', ')}.${open}`].join('\n')
}

function formatFinding({ code, severity, message, rule, path, witness }: Finding): string {
  const lines = [`${severity} ${code}: rule ${JSON.stringify(rule.name)}, ${path}`, `    ${message}`]
  if (witness !== null) {
    const shown = cutText(JSON.stringify(witness.data), maxWitnessLength, '…')
    lines.push(`    Example: ${witness.type} ${shown}`)
  }
  return lines.map(maskControls).join('\n')
}
