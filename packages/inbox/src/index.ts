export type { NewEvent, NewReceipt } from './commit-acceptances.js'
export type { StoredReceipt } from './find-receipts.js'
export { type Inbox, openInbox } from './inbox.js'
export { type EventQueue, openQueue } from './queue.js'
