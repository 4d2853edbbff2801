import { FairSlots } from '@automation/admission'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { EvaluationTask } from '../evaluation/evaluation-tasks.js'
import { Evaluator, type EvaluatorLimits, type InputOf, type ResultOf } from '../evaluation/evaluator.js'
import { scans } from '../evaluation/scan-in-turns.js'
import { callerOf, limitReadPatience } from '../evaluation/take-turn.js'

declare module 'fastify' {
  interface FastifyInstance {
    evaluator: Evaluator
    scanPlaces: FairSlots
  }
  interface FastifyRequest {
    /** Evaluates, explains, renders or checks for the request's workspace, in the child process. */
    evaluate<Name extends EvaluationTask>(name: Name, input: InputOf<Name>): Promise<ResultOf<Name>>
    /** Runs work that reads many or large rows and evaluates them: the workspace's turn comes before the reading. */
    readAndEvaluate<Result>(work: () => Promise<Result>): Promise<Result>
  }
}

export default fp<{ evaluation: EvaluatorLimits }>(
  async (app, { evaluation }) => {
    const evaluator = new Evaluator(evaluation, {
      noteRefusal: (reason) => app.metrics.evaluationsRefused[reason].inc(),
      noteFault: (err) => app.log.error({ err }, 'the process that evaluates for callers ended'),
    })
    app.decorate('evaluator', evaluator)
    app.decorate('scanPlaces', new FairSlots(scans))
    app.decorateRequest('evaluate', function <
      Name extends EvaluationTask,
    >(this: FastifyRequest, name: Name, input: InputOf<Name>) {
      return evaluator.run(callerOf(this), name, input)
    })
    app.decorateRequest('readAndEvaluate', function <
      Result,
    >(this: FastifyRequest, work: () => Promise<Result>) {
      return evaluator.readAndAsk(callerOf(this), () => {
        limitReadPatience(this)
        return work()
      })
    })
    app.addHook('onClose', () => evaluator.close())
  },
  { name: 'evaluator', dependencies: ['metrics', 'deadline', 'identification'] },
)
