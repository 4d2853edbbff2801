import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { EvaluationTask } from '../evaluation/evaluation-tasks.js'
import { type Evaluate, Evaluator, type EvaluatorLimits, type InputOf } from '../evaluation/evaluator.js'

declare module 'fastify' {
  interface FastifyInstance {
    evaluator: Evaluator
  }
  interface FastifyRequest {
    /** When it is the request's turn. */
    evaluate: Evaluate
    /** Runs work that reads many or large rows and evaluates them: its turn comes before the reading. */
    readAndEvaluate<Result>(work: (evaluate: Evaluate) => Promise<Result>): Promise<Result>
  }
}

export default fp<{ evaluation: EvaluatorLimits }>(
  async (app, { evaluation }) => {
    const evaluator = new Evaluator(evaluation, {
      noteRefusal: (reason) => app.metrics.evaluationsRefused[reason].inc(),
      noteFault: (err) => app.log.error({ err }, 'the process that evaluates for callers has ended'),
    })
    app.decorate('evaluator', evaluator)
    app.decorateRequest('evaluate', function <
      Name extends EvaluationTask,
    >(this: FastifyRequest, name: Name, input: InputOf<Name>) {
      return this.readAndEvaluate((evaluate) => evaluate(name, input))
    })
    app.decorateRequest('readAndEvaluate', async function <
      Result,
    >(this: FastifyRequest, work: (evaluate: Evaluate) => Promise<Result>) {
      const entry = await evaluator.enter(this)
      try {
        return await work((name, input) => evaluator.run(name, input))
      } finally {
        entry.leave()
      }
    })
    app.addHook('onClose', () => evaluator.close())
  },
  { name: 'evaluator', dependencies: ['admission', 'identification'] },
)
