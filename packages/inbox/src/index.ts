export { type Inbox, openInbox } from './inbox.js'
export type { NewEvent } from './insert-events.js'
export { type EventQueue, openQueue } from './queue.js'
