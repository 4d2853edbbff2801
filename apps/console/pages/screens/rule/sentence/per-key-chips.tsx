import { PerKey as PerKeySchema } from '@automation/engine'
import { replaceLimit } from '../../../logic/editing/add-field.js'
import type { PerKey } from '../../../logic/editing/describe-per-key.js'
import { emptyOfField, type FieldSchema } from '../../../logic/editing/schema-kind.js'
import type { Definition } from '../../../logic/rule-definition.js'
import { RemoveButton } from '../../../parts/remove-button.js'
import { AddChip } from './add-chip.js'
import { ConfigChip } from './config-chip.js'
import { useEditing } from './editing.js'
import { FaultOf } from './faults.js'

interface Props {
  definition: Definition
  set: (changes: Partial<Definition>) => void
}

const schema = PerKeySchema as unknown as FieldSchema
const atMost = emptyOfField(schema.properties?.atMost ?? {}) as object

/** How often the rule runs for each customer, order or other key: *at most* 1 *run per* 7d *for each* {{lead.id}}. */
export function PerKeyChips({ definition: { perKey = null }, set }: Props) {
  const { removes } = useEditing()
  return (
    <div class="line">
      <span class="joint">{perKey === null ? '' : 'but'}</span>
      <div class="chips">
        {perKey === null ? (
          <AddChip
            words="limit"
            title="Limits how often the rule runs for each customer, order or other key"
            path="perKey.key"
            add={() => set({ perKey: { key: '', atMost: { ...atMost, per: '7d' } } as PerKey })}
          />
        ) : (
          <ConfigChip
            name="perKey"
            words=""
            schema={schema}
            path="perKey"
            value={perKey}
            change={(next) => set({ perKey: replaceLimit(perKey, next as PerKey) })}
          />
        )}
        <FaultOf path="perKey" />
      </div>
      <span class="line-end">
        {perKey !== null && (
          <RemoveButton
            what="the limit"
            remove={() => {
              removes('the limit')
              set({ perKey: null })
            }}
          />
        )}
      </span>
    </div>
  )
}
