import type { Me } from '@automation/client'
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { allows, type NamedParts } from '../logic/allows.js'

export type EmbedGrant = NonNullable<Me['embed']>

/** The embed session of a page in a frame. Its token is here alone: no storage and no address has it. */
export interface Frame {
  /** Of the session; it names the addresses of the page, too. */
  id: string
  token: string
  grant: EmbedGrant
}

/**
 * undefined until the session is open, and always on the console's own page: that is built with `inFrame` false, so nothing that only a frame
 * needs is in its files.
 */
export const frame = /* @__PURE__ */ signal<Frame | undefined>(undefined)

/** The saved rule that is open: one with anything that is not allowed can be read only. */
export const openedRule = /* @__PURE__ */ signal<NamedParts | undefined>(undefined)

/** What only some sessions may. All of it is usual on the console's own page, with the role. */
export type Limited = keyof typeof limits

const limits = {
  /** To change what runs. */
  publish: ({ publish }: EmbedGrant) => publish,
  /** To switch rules, of which the list knows no actions. */
  switch: ({ publish, allow }: EmbedGrant) =>
    publish && (allow === undefined || openedRule.value !== undefined),
  /** To change many rows at once, and what rules share. */
  bulk: () => false,
  settings: () => false,
  'read credentials': () => false,
  /** Both say first what would run, of all rules. */
  send: ({ pages, rule }: EmbedGrant) => pages.includes('events') && rule === undefined,
  replay: ({ pages, rule }: EmbedGrant) => hasBoth(pages) && rule === undefined,
  /** To create rules. */
  create: ({ pages, rule }: EmbedGrant) => pages.includes('rules') && rule === undefined,
  'read all rules': ({ pages, rule }: EmbedGrant) => pages.includes('rules') && rule === undefined,
  'read rules': ({ pages }: EmbedGrant) => pages.includes('rules'),
  'read executions': ({ pages }: EmbedGrant) => pages.includes('executions'),
  'read events': ({ pages }: EmbedGrant) => pages.includes('events'),
  'read all events': ({ pages, rule }: EmbedGrant) => pages.includes('events') && rule === undefined,
  'read counts': ({ pages, rule }: EmbedGrant) =>
    rule === undefined && (pages.includes('executions') || pages.includes('events')),
}

const hasBoth = (pages: EmbedGrant['pages']) => pages.includes('events') && pages.includes('rules')
const isLimited = (need: string): need is Limited => Object.hasOwn(limits, need)
const writes: ReadonlySet<string> = new Set(['editor', 'create', 'publish', 'switch'])

/** Whether the session of the frame includes it, whatever its role. The API refuses the rest; here it is not shown, and not asked for. */
export function includes(need: string): boolean {
  const { grant } = frame.value ?? {}
  if (grant === undefined || (isLimited(need) && !limits[need](grant))) return false
  return !writes.has(need) || openedRule.value === undefined || allows(grant.allow, openedRule.value)
}

/** Whether an address below that of the session is one of its pages. */
export function isGranted(screen: string): boolean {
  const [page, row] = screen.split('/')
  const { pages = [], rule } = frame.value?.grant ?? {}
  return pages.some((one) => one === page) && (page !== 'rules' || rule === undefined || row === rule)
}

/** Says which rule is open, before its editor is drawn. */
export function useOpenedRule(rule: NamedParts | undefined): void {
  if (openedRule.peek() !== rule) openedRule.value = rule
  useEffect(
    () => () => {
      openedRule.value = undefined
    },
    [],
  )
}

/** Whether a rule that is written in the frame may name it: not what `allow` leaves out, and in a session of one rule no further types of events. */
export function offers(kind: 'triggers' | 'actions', name: string): boolean {
  const { allow, rule } = frame.value?.grant ?? {}
  return allow?.[kind]?.some((one) => one === name) ?? (kind === 'actions' || rule === undefined)
}
