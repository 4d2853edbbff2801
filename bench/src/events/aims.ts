import { type Aim, createAim, ratiosOf } from '../aims.js'
import type { Figures } from '../measure.js'
import { type Result, sumCpu } from '../report.js'

/** The aims for synchronous, asynchronous and batched events, as far as they were measured. */
export function listAims(results: Result[]): Aim[] {
  const find = (label: string) =>
    results.find(({ scenario, connections }) => `${scenario} @${connections}` === label)
  const usual = '10 rules, 1 matches, 1 task'
  const done = (figures: Figures) => figures.donePerSecond ?? Number.NaN
  const accepted = (figures: Figures) => figures.acceptedPerSecond

  return [
    ...share('sync, 10 matching rules: events/s of inline', '10 matching rules @128', done, 0.8),
    ...share('sync, 1 of 10 matches: events/s of inline', `${usual} @128`, done, 0.75),
    ...most('sync, 10 matching rules: CPU µs an event', find('10 matching rules @128'), sumCpu, 450),
    ...most('sync, 1 of 10 matches: CPU µs an event', find(`${usual} @128`), sumCpu, 280),
    ...atMost(
      'sync, 100 drafts and shadows: CPU an event, of none',
      find(`${usual}, 100 drafts and shadows @128`),
      find(`${usual} @128`),
      1.01,
    ),
    ...compare(
      'async, worker stopped: requests/s of a bare route',
      find('async in two phases @128'),
      find('bare route @128'),
      accepted,
      0.65,
    ),
    ...least(
      'async: backlog done a second, one worker, API idle',
      find('async in two phases @128'),
      done,
      2_500,
    ),
    ...compare(
      'batches, worker stopped: accepted events/s of single posts',
      find('batches of 100, worker stopped @16'),
      find('async in two phases @128'),
      accepted,
      3,
    ),
    ...most('sync, one connection: p50 ms', find(`${usual} @1`), ({ p50Ms }) => p50Ms, 4, 1),
    ...most('sync, one connection: p99 ms', find(`${usual} @1`), ({ p99Ms }) => p99Ms, 12, 1),
    ...times('sync, one connection: p50 of inline', `${usual} @1`, ({ p50Ms }) => p50Ms, 2.2),
  ]

  function share(title: string, label: string, read: (figures: Figures) => number, atLeast: number): Aim[] {
    return compare(title, find(label), find(`inline: ${label}`), read, atLeast)
  }

  function times(title: string, label: string, read: (figures: Figures) => number, atMost: number): Aim[] {
    const [ours, inline] = [find(label), find(`inline: ${label}`)]
    if (ours === undefined || inline === undefined) return []
    const rounds = ratiosOf(ours.rounds.map(read), inline.rounds.map(read))
    return [createAim({ title, rounds, atMost, digits: 1 })]
  }
}

/** The CPU of an event, beside the same without something. */
function atMost(title: string, ours: Result | undefined, other: Result | undefined, most: number): Aim[] {
  if (ours === undefined || other === undefined) return []
  const rounds = ratiosOf(ours.rounds.map(sumCpu), other.rounds.map(sumCpu))
  return [createAim({ title, rounds, atMost: most, digits: 3 })]
}

function compare(
  title: string,
  ours: Result | undefined,
  other: Result | undefined,
  read: (figures: Figures) => number,
  atLeast: number,
): Aim[] {
  if (ours === undefined || other === undefined) return []
  const rounds = ratiosOf(ours.rounds.map(read), other.rounds.map(read))
  return [createAim({ title, rounds, atLeast, digits: 2 })]
}

function least(
  title: string,
  ours: Result | undefined,
  read: (figures: Figures) => number,
  atLeast: number,
): Aim[] {
  return ours === undefined ? [] : [createAim({ title, rounds: ours.rounds.map(read), atLeast, digits: 0 })]
}

function most(
  title: string,
  ours: Result | undefined,
  read: (figures: Figures) => number,
  atMost: number,
  digits = 0,
): Aim[] {
  return ours === undefined ? [] : [createAim({ title, rounds: ours.rounds.map(read), atMost, digits })]
}
