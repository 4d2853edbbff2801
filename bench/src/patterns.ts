import { compileRule, Evaluation, findRuleFaults, type RuleDefinition, ruleHolds } from '@automation/engine'

/**
 * Patterns on which backtracking engines take years, each with a text of 100,000 characters that almost matches.
 * Prints the slowest ones (ms), and how many the validation of a rule refuses.
 */
const length = 100_000
/** The repeated part of a pattern, and the repeated part of its text. */
const seeds = [
  { piece: 'a+', letter: 'a' },
  { piece: 'a*', letter: 'a' },
  { piece: 'a|aa', letter: 'a' },
  { piece: 'a|a?', letter: 'a' },
  { piece: '[a-z]+', letter: 'k' },
  { piece: '\\w+\\s?', letter: 'w' },
  { piece: '\\d+\\.?\\d*', letter: '7' },
  { piece: '.*x', letter: 'x' },
  { piece: '(?:ab|a)b?', letter: 'ab' },
  { piece: '\\pL+', letter: 'é' },
]
const shapes = [
  (piece: string) => `^(${piece})+$`,
  (piece: string) => `^((${piece})*)*$`,
  (piece: string) => `(${piece})*(${piece})*(${piece})*!$`,
  (piece: string) => `^(?:(${piece}){1,20})+!$`,
  (piece: string) => `(${piece}){30}!`,
  (piece: string) => `(?i)(${piece})+(${piece})+@(${piece})+`,
  (piece: string) => `(.*)(${piece})(.*)(${piece})(.*)!$`,
  (piece: string) => `^(?s:.*?)(?:${piece})*?!$`,
  (piece: string) => `(?:${piece}|.)*?(?:${piece}|.)*?!!$`,
  (piece: string) => `\\b(${piece})+\\b[^]]{0,10}!$`,
]

const cases = seeds.flatMap(({ piece, letter }) =>
  shapes.map((shape) => ({
    pattern: shape(piece),
    text: `${letter.repeat(length).slice(0, length - 2)}!?`,
  })),
)
const taken: { ms: number; pattern: string }[] = []
let refused = 0
for (const { pattern, text } of cases) {
  const definition = {
    conditions: [{ field: 'text', operator: 'matches', value: pattern }],
    actions: [{ type: 'CREATE_TASK', config: { title: 'Task' } }],
  } as RuleDefinition
  if (findRuleFaults(definition).length > 0) {
    refused++
    continue
  }
  const rule = compileRule(definition)
  ruleHolds(rule, { text: 'warm' }, new Evaluation(0))
  const started = performance.now()
  ruleHolds(rule, { text }, new Evaluation(0))
  taken.push({ ms: performance.now() - started, pattern })
}
taken.sort((one, other) => other.ms - one.ms)
console.log(`${cases.length} patterns on ${length} characters: ${refused} refused, ${taken.length} run`)
console.log(`median ${taken[taken.length >> 1]?.ms.toFixed(1)} ms; the slowest:`)
for (const { ms, pattern } of taken.slice(0, 10)) console.log(`${ms.toFixed(1).padStart(8)} ms  ${pattern}`)
