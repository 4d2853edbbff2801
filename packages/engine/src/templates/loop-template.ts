import { type Rendering, warnOnce, writeText } from './fill-placeholder.js'
import { findItems, forEachItem } from './item-scope.js'
import { type Loop, type LoopText, type SplitText, splitLoops } from './split-template.js'
import { joinParts, type Quote, type TextTemplate } from './template.js'

/** The items of a list that a text prints. */
export const maxRounds = 100

/** What is around a part of a text. */
export interface Neighbours {
  /** Whether the text of an item may stand right before it, or right behind it. */
  readonly before: boolean
  readonly after: boolean
}

export type CompilePart = (part: SplitText, neighbours: Neighbours) => TextTemplate | string

/** Like compileText, for a text that may print lists: `{{#each items}}{{item.sku}}{{/each}}`. */
export function compileLoopText(text: string, quote: Quote): TextTemplate | string {
  const split = splitLoops(text)
  if (typeof split === 'string') return split
  return joinLoops(split, (part) => joinParts(part, () => (value) => quote(writeText(value))))
}

/** Joins the parts of a text with lists. */
export function joinLoops({ head, loops }: LoopText, compilePart: CompilePart): TextTemplate | string {
  const first = compilePart(head, { before: false, after: loops.length > 0 })
  if (loops.length === 0 || typeof first === 'string') return first
  const rounds: CompiledLoop[] = []
  for (const [index, loop] of loops.entries()) {
    const body = compilePart(loop.body, { before: true, after: true })
    const tail = compilePart(loop.tail, { before: true, after: index + 1 < loops.length })
    if (typeof body === 'string') return body
    if (typeof tail === 'string') return tail
    rounds.push({ ...loop, template: body, rest: tail })
  }
  const outer = [first, ...rounds.map(({ rest }) => rest)]
  const inner = rounds.map(({ template }) => template)
  return {
    placeholders: [...outer, ...inner].reduce((sum, { placeholders }) => sum + placeholders, loops.length),
    parts: outer.flatMap(({ parts = [] }) => parts),
    itemParts: inner.flatMap(({ parts = [] }) => parts),
    lists: loops.map(({ name }) => name),
    render(data, rendering) {
      let rendered = first.render(data, rendering)
      for (const loop of rounds)
        rendered += renderLoop(loop, data, rendering) + loop.rest.render(data, rendering)
      return rendered
    },
  }
}

interface CompiledLoop extends Loop {
  readonly template: TextTemplate
  readonly rest: TextTemplate
}

function renderLoop(loop: CompiledLoop, data: unknown, rendering: Rendering): string {
  const { name, template, body } = loop
  const items = findItems(loop, data, rendering, '{{#each}}')
  if (items.length > maxRounds)
    warnOnce(rendering, `${name} has ${items.length} items: {{#each}} prints the first ${maxRounds}`)
  const length = body.literals.reduce((sum, literal) => sum + literal.length, 0)
  const round = { placeholders: template.placeholders, length }
  let rendered = ''
  forEachItem(items.slice(0, maxRounds), round, data, rendering, (scope) => {
    rendered += template.render(scope, rendering)
  })
  return rendered
}
