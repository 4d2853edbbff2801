import { may } from '../state/session.js'
import type { BulkProps } from './bulk-dialog.js'
import { laterDialog } from './later.js'
import { Opener } from './opener.js'

// It comes with the first click.
const BulkDialog = laterDialog(
  ({ verb, one }: BulkProps) => `${verb} ${one}s`,
  () => import('./bulk-dialog.js').then(({ BulkDialog }) => BulkDialog),
)

/** The button of what is done for many at once. */
export function Bulk<Filter extends { ids?: string[] }>(props: BulkProps<Filter> & { label: string }) {
  if (!may('bulk')) return null
  return (
    <Opener label={props.label}>
      <BulkDialog {...props} />
    </Opener>
  )
}
