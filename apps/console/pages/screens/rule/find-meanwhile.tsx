import type { Rule } from '@automation/client'
import { nameActor } from '../../logic/name-actor.js'
import { type Definition, definitionOf } from '../../logic/rule-definition.js'
import { When } from '../../parts/when.js'
import { api } from '../../state/session.js'
import type { Meanwhile } from './conflict.js'
import { readDraft } from './read-draft.js'

/** What a new rule begins as, and what a change of another one becomes. */
export type SavedAs = 'on' | 'off' | 'shadow' | 'draft'

/** What is replaced: the version, and of a draft its mark. */
export interface Over {
  version: number
  etag?: string | undefined
}

export interface FoundMeanwhile extends Meanwhile {
  as: SavedAs
  over: Over
}

/** What stands there in place of what the changes began with. @returns undefined: it cannot be read */
export async function findMeanwhile({
  id,
  as,
  unsaved,
  reload,
}: {
  id: string
  as: SavedAs
  unsaved: { baseVersion: number; etag: string | undefined }
  reload: () => Promise<Rule | undefined>
}): Promise<FoundMeanwhile | undefined> {
  const [other, base] = await Promise.all([
    as === 'draft' ? readDraft(id) : null,
    api()
      .rules.versions.get(id, unsaved.baseVersion)
      .then((version) => definitionOf(version as never))
      .catch(() => undefined),
  ])
  if (other) {
    const { savedBy, savedAt, isStale, etag } = other
    return {
      title: 'The rule has another draft',
      text: (
        <>
          {nameActor(savedBy)} saved it at <When at={savedAt} />
          {isStale && ', and the rule has changed since'}. Your changes are kept.
        </>
      ),
      name: 'the other draft',
      // The earlier draft is not kept.
      base: unsaved.etag === undefined ? base : undefined,
      theirs: definitionOf(other as Definition),
      as,
      over: { version: unsaved.baseVersion, etag },
    }
  }
  const theirs = await reload()
  if (theirs === undefined) return undefined
  const { version } = theirs
  return {
    title: 'The rule has changed in the meantime',
    text: `It is at v${version} now.`,
    name: `v${version}`,
    base,
    theirs: definitionOf(theirs),
    as,
    over: { version },
  }
}
