export { type ClockState, ClockWatch } from './clock-watch.js'
export { type DueExecution, EventQueue, openQueue } from './event-queue.js'
export { findKeys } from './find-keys.js'
export { neededCommands } from './find-missing-commands.js'
export { BatchingInbox, type Inbox } from './inbox.js'
export {
  type EventPointer,
  type EventsJobData,
  JobData,
  JobName,
  jobOptions,
  jobStates,
  maxEventsPerJob,
  queueName,
  type ResumeJobData,
  stallOptions,
} from './jobs.js'
export { countJobs, type JobQueue } from './open-queue.js'
export { describeAway, logOutages, openRedis } from './open-redis.js'
export { prefixOf } from './queue-names.js'
export { openQueueReader, type QueueReader } from './queue-reader.js'
export { type Reply, replyChannel } from './reply.js'
