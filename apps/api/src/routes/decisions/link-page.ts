import { escapeHtml, maxReasonLength } from '@automation/engine'
import type { DecisionRow } from '@automation/history'
import { writePage } from '@automation/process/server'

/** What a page asks, or says. */
export type LinkPage =
  | { kind: 'ask'; row: DecisionRow; choice: string; pageToken: string; fault?: string }
  | { kind: 'made'; choice: string }
  | { kind: 'over'; row: DecisionRow }
  | { kind: 'unknown' }
  | { kind: 'suspended' }
  | { kind: 'later'; message: string }

/** Writes a page that works without scripts. Names of rules and options are texts of strangers, and escaped. */
export function writeLinkPage(page: LinkPage): string {
  const { title, lines } = describePage(page)
  return writePage(escapeHtml(title), lines)
}

function describePage(page: LinkPage): { title: string; lines: string[] } {
  if (page.kind === 'ask') return { title: page.row.ruleName ?? 'Your decision', lines: writeForm(page) }
  if (page.kind === 'made')
    return { title: 'Thank you', lines: [say('good', `You have decided: ${page.choice}`), closeHint] }
  if (page.kind === 'later') return { title: 'Try again', lines: [say('wait', page.message)] }
  if (page.kind === 'suspended')
    return {
      title: 'Not at present',
      lines: [
        say('wait', 'The workspace of this decision is suspended, so nobody can decide. The link stays.'),
      ],
    }
  if (page.kind === 'unknown')
    return { title: 'Unknown link', lines: [say('bad', 'This link is not complete, or leads to nothing.')] }
  return describeEnd(page.row)
}

const closeHint = '<p>You can close this page.</p>'

function describeEnd({ status, decision, until }: DecisionRow): { title: string; lines: string[] } {
  if (status === 'decided' && decision) {
    const { choice, by, at } = decision
    // A holder of the link learns no name: with many providers it is an address.
    const who = by === 'link' ? 'by link' : 'by a member'
    return {
      title: 'This was decided before',
      lines: [say('wait', `It was decided ${who} at ${writeTime(new Date(at))}: ${choice}`), closeHint],
    }
  }
  if (status === 'expired')
    return {
      title: 'The time is over',
      lines: [say('wait', `Nobody can decide any more${until ? ` since ${writeTime(until)}` : ''}.`)],
    }
  return {
    title: 'No longer needed',
    lines: [say('wait', 'This decision is no longer needed: its work has ended.')],
  }
}

function say(kind: 'good' | 'wait' | 'bad', text: string): string {
  return `<p class="${kind}" role="status">${escapeHtml(text)}</p>`
}

function writeForm({ row, choice, pageToken, fault }: Extract<LinkPage, { kind: 'ask' }>): string[] {
  const { options, ask } = row.asked ?? { options: [] }
  // The option of the link comes first.
  const ordered = [...options].sort((one, other) => Number(other === choice) - Number(one === choice))
  const needsReason = ask?.includes('reason')
  return [
    ...(fault === undefined ? [] : [say('bad', fault)]),
    `<p>Choose one. The first decision counts${row.until ? `, until ${writeTime(row.until)}` : ''}.</p>`,
    '<form method="post">',
    `<input type="hidden" name="page" value="${escapeHtml(pageToken)}">`,
    `<label for="reason">Reason${needsReason ? '' : ' (optional)'}</label>`,
    `<textarea id="reason" name="reason" rows="3" maxlength="${maxReasonLength}"${needsReason ? ' required' : ''}></textarea>`,
    '<div class="options">',
    ...ordered.map(
      (option) =>
        `<button name="choice" value="${escapeHtml(option)}"${option === choice ? ' class="first"' : ''}>${escapeHtml(option)}</button>`,
    ),
    '</div>',
    '</form>',
  ]
}

function writeTime(time: Date): string {
  return time
    .toISOString()
    .replace('T', ' ')
    .replace(/:\d\d\.\d+Z$/, ' UTC')
}

/** The colours and sizes of the console. */
export const linkStyles = `:root { color-scheme: light dark; --ink: light-dark(#17181d, #f0f1f4); --paper: light-dark(#f8f8fa, #101114);
  --card: light-dark(#ffffff, #16171b); --line: light-dark(#e8e8ed, #26282e); --edge: light-dark(#82869a, #767b88);
  --accent: light-dark(#3a55cf, #9db0ff); --on-accent: light-dark(#ffffff, #10142b);
  --bad: light-dark(#c0262d, #ff9a93); --bad-soft: light-dark(#fdefef, #3a1f20);
  --wait: light-dark(#855300, #f0bd62); --wait-soft: light-dark(#fdf3dd, #35290f);
  --good: light-dark(#136c3d, #6fd09a); --good-soft: light-dark(#e7f6ed, #143021); }
body { margin: 0; background: var(--paper); color: var(--ink); font: 400 1rem/1.5 Inter, ui-sans-serif, system-ui, sans-serif; }
main { max-width: 32rem; margin: 12vh auto 2rem; padding: 1.5rem; background: var(--card); border: 1px solid var(--line); border-radius: 12px; }
h1 { margin: 0 0 1rem; font-size: 1.25rem; overflow-wrap: anywhere; }
p { margin: 0 0 1rem; overflow-wrap: anywhere; }
label { display: block; margin-bottom: 0.25rem; font-size: 0.875rem; }
textarea { box-sizing: border-box; width: 100%; padding: 0.5rem; font: inherit; color: inherit; background: transparent; border: 1px solid var(--edge); border-radius: 8px; }
.options { display: flex; flex-wrap: wrap; gap: 0.5rem; margin-top: 1rem; }
button { padding: 0.5rem 1rem; font: inherit; font-weight: 600; color: inherit; background: transparent; border: 1px solid var(--edge); border-radius: 8px; cursor: pointer; }
button.first { color: var(--on-accent); background: var(--accent); border-color: var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.good, .wait, .bad { padding: 0.5rem 0.75rem; border-radius: 8px; }
.good { color: var(--good); background: var(--good-soft); }
.wait { color: var(--wait); background: var(--wait-soft); }
.bad { color: var(--bad); background: var(--bad-soft); }
`
