export {
  ExecutionResult,
  executionResultOf,
  type Run,
  RunStatus,
  TriggerResult,
  triggerResultOf,
} from './answer.js'
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
} from './queue.js'
export { listRuns, type MatchedRun, type Reply, replyChannel } from './reply.js'
