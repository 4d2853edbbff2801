const shownLines = 40
const shownOfDifference = 12
const shownOfLine = 240

/**
 * The last lines of a report: each assertion that failed with its place, what it found and what it wanted, then the test that it failed. Names
 * and places come first where the lines do not suffice for all of it.
 *
 * @param lines of failures with their diagnostics, each test after its assertions
 */
export function shortenFaults(lines) {
  const faults = readFaults(lines)
  const named = faults.flatMap(({ name, place }) => [name, ...place])
  const asserted = faults.filter(({ details }) => details.length > 0).length
  const each = Math.min(
    shownOfDifference,
    Math.max(0, Math.floor((shownLines - named.length) / Math.max(1, asserted))),
  )
  const shown = faults.flatMap(({ name, place, details }) => [name, ...place, ...details.slice(0, each)])
  const left = shown.length - shownLines
  return left <= 0 ? shown : [...shown.slice(0, shownLines - 1), `… and ${left + 1} lines more, above`]
}

/** A test says nothing by itself where one of its assertions has said it, nor does a file. */
function readFaults(lines) {
  const faults = []
  for (const line of lines) {
    if (/^\s*(not ok |\S+ has no tests$)/.test(line))
      faults.push({ name: cut(line), indent: indentOf(line), diagnostics: [] })
    else faults.at(-1)?.diagnostics.push(line)
  }
  return faults.map(({ name, indent, diagnostics }, index) => {
    const within = faults[indent === 0 ? index + 1 : index - 1]?.indent ?? 0
    return within > indent
      ? { name, place: [], details: [] }
      : { name, ...readDiagnostics(diagnostics, `${' '.repeat(indent)}    `) }
  })
}

const told = /^(diff|found|wanted|doNotWant|message|exitCode|signal):/

/** @returns of YAML where it was, and the lines of what tells found from wanted */
function readDiagnostics(lines, margin) {
  const [, file, line] = /\n *at:\n *fileName: (.*)\n *lineNumber: (\d+)/.exec(`\n${lines.join('\n')}`) ?? []
  const place = file === undefined ? [] : [`${margin}at ${file}:${line}`]
  const first = lines.find((one) => /^\s*\w+:/.test(one)) ?? ''
  const details = []
  let isTold = false
  for (const one of lines) {
    const text = one.trim()
    if (indentOf(one) === indentOf(first) && /^\w+:/.test(text)) {
      isTold = told.test(text)
      // The lines of a difference follow it.
      if (isTold && !/: [|>][-\d]*$/.test(text)) details.push(cut(margin + text))
    } else if (isTold && text !== '' && text !== '...' && !/^(---|\+\+\+|@@) /.test(text))
      details.push(cut(`${margin}${one.slice(indentOf(first) + 2)}`))
  }
  return { place, details }
}

function indentOf(line) {
  return line.length - line.trimStart().length
}

function cut(line) {
  return line.length > shownOfLine ? `${line.slice(0, shownOfLine)}…` : line
}
