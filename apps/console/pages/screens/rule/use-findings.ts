import type { Rule } from '@automation/client'
import { useEffect, useState } from 'preact/hooks'
import type { Finding } from '../../logic/check-definition.js'
import type { Definition } from '../../logic/rule-definition.js'
import type { Fields } from './use-fields.js'

/** So long after the last key, so that a half-typed value is not evaluated. */
const pauseMs = 300

/**
 * What the check of the service finds in what is typed, without a request: it runs in this page, in slices. Its code comes when the
 * editor is first used.
 */
export function useFindings(
  id: string,
  definition: Definition,
  others: readonly Rule[] | undefined,
  fields: Fields | undefined,
): Finding[] | undefined {
  const [findings, setFindings] = useState<Finding[]>()
  useEffect(() => {
    let isWanted = true
    const turn = async () => {
      await new Promise((resolve) => setTimeout(resolve))
      return isWanted
    }
    const timer = setTimeout(async () => {
      const { checkDefinition } = await import('../../logic/check-definition.js')
      const found = await checkDefinition(definition, {
        now: Date.now(),
        observed: fields?.observed,
        others: (others ?? []).filter((rule) => rule.id !== id) as never,
        turn,
      })
      if (isWanted && found !== undefined) setFindings(found)
    }, pauseMs)
    return () => {
      isWanted = false
      clearTimeout(timer)
    }
  }, [definition, others, fields])
  return findings
}
