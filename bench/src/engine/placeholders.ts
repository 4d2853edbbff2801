import { compileMailTemplate, compileTemplate, Evaluation, type Template } from '@automation/engine'
import Handlebars from 'handlebars'
import type { Contest } from './contest.js'
import { proveEqual } from './prove-equal.js'

const texts = {
  '1 placeholder': 'Call {{name}}',
  '3 placeholders': '{{name}} of {{company}} has a score of {{score}}',
  '5 placeholders, 4 of them on paths':
    'Dear {{name}}, your deal {{deal.title}} of {{deal.amount}} EUR ({{deal.stage}}) is looked after by {{owner.name}}.',
}
/** The texts of a task, a mail and a call, as in real rules. */
const ofRule = [
  'Call {{name}}',
  '{{company}} has a score of {{score}}; looked after by {{owner.name}}',
  '{{email}}',
  'Welcome, {{name}}',
  'https://example.com/leads/{{id}}',
]
const mail =
  '<p>Dear {{name}},</p><p>your deal <b>{{deal.title}}</b> of {{deal.amount}} EUR is looked after by {{owner.name}}.</p><p><a href="{{link}}">{{link}}</a></p>'

const lead = {
  id: 'lead-1',
  name: 'Ada',
  email: 'ada@example.com',
  company: 'Analytical Engines & Co',
  score: 95,
  link: 'https://example.com/leads/1?mail&deal',
  deal: { title: 'Engine <No. 2>', amount: 1200.5, stage: 'won' },
  owner: { name: 'Charles' },
}
const leads = Array.from({ length: 64 }, (_, n) => ({ ...lead, name: `Ada ${n}`, score: n }))
const gaps = [
  { ...lead, name: null },
  { ...lead, company: undefined },
  { ...lead, deal: {} },
  { owner: lead.owner },
  {},
]

/** The first thing that a user of Handlebars tunes. Every placeholder is a field, and none is a helper. */
const tuned = { knownHelpersOnly: true }
const withoutEscaping = { ...tuned, noEscape: true }

export async function planPlaceholders(): Promise<Contest[]> {
  const contests = [await contest("a rule's texts, 7 placeholders", ofRule)]
  for (const [name, text] of Object.entries(texts)) contests.push(await contest(name, [text]))
  const template = compileMailTemplate({ html: mail })
  const render = (data: object) => (template.render(data, {}, new Evaluation(0)) as { html: string }).html
  const peers = [Handlebars.compile(mail, { ...tuned, assumeObjects: true }), Handlebars.compile(mail, tuned)]
  return [...contests, await prove('HTML mail, 6 placeholders, escaped', render, peers)]
}

/** No HTML, so neither side escapes. */
function contest(name: string, texts: string[]): Promise<Contest> {
  const templates = texts.map(compileOrThrow)
  const peers = [{ ...withoutEscaping, assumeObjects: true }, withoutEscaping].map((options) => {
    const compiled = texts.map((text) => Handlebars.compile(text, options))
    return (data: object) => {
      let all = ''
      for (const peer of compiled) all += peer(data)
      return all
    }
  })
  return prove(
    name,
    (data) => {
      let all = ''
      for (const template of templates) all += template.render(data, { warnings: [], size: 0 })
      return all
    },
    peers,
  )
}

function compileOrThrow(text: string): Template {
  const template = compileTemplate(text)
  if (typeof template === 'string') throw new Error(template)
  return template
}

/** @param assuming ends with an exception where an object is missing, so it does less. @param peer renders nothing there, as we do. */
async function prove(
  name: string,
  render: (data: object) => string,
  [assuming, peer]: ((data: object) => string)[],
): Promise<Contest> {
  if (assuming === undefined || peer === undefined) throw new Error('There is nothing to compare with')
  await proveEqual(name, leads, render, assuming)
  await proveEqual(name, [...leads, ...gaps], render, peer)
  return {
    label: name,
    aims: [{ ours: 'engine', atLeast: 5 }],
    sides: [
      renderer('engine', render),
      renderer('handlebars, objects assumed', assuming),
      renderer('handlebars', peer),
    ],
  }
}

function renderer(name: string, render: (data: object) => string) {
  return {
    name,
    run(times: number) {
      let length = 0
      for (let n = 0; n < times; n++) length += render(leads[n % 64] as object).length
      if (length === 0) throw new Error('Nothing was rendered')
    },
  }
}
