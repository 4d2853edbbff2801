import type { TestResult } from './run-tests.js'

/** The report of a run as JUnit XML, which CI servers read. */
export function writeJunit(file: string, results: readonly TestResult[]): string {
  const failed = results.filter(({ failures }) => failures.length > 0).length
  const cases = results.map(({ name, failures }) => {
    const open = `    <testcase classname="${escapeXml(file)}" name="${escapeXml(name)}"`
    if (failures.length === 0) return `${open}/>`
    const text = escapeXml(failures.join('\n'))
    return `${open}>\n      <failure message="${escapeXml(failures[0] ?? '')}">${text}</failure>\n    </testcase>`
  })
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="${results.length}" failures="${failed}">
  <testsuite name="${escapeXml(file)}" tests="${results.length}" failures="${failed}">
${cases.join('\n')}
  </testsuite>
</testsuites>
`
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** XML has no control characters, in any notation. */
function escapeXml(text: string): string {
  return text
    .replace(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, '\u{fffd}')
    .replace(/[&<>"]/g, (character) => entities[character] ?? character)
}
