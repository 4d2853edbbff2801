import { FairSlots } from '@automation/database'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { type InputOf, Judge, type JudgeLimits, type ResultOf, type Task } from '../judging/judge.js'
import { scans } from '../judging/scan-in-turns.js'
import { callerOf, limitReadPatience } from '../judging/take-turn.js'

declare module 'fastify' {
  interface FastifyInstance {
    judge: Judge
    scanPlaces: FairSlots
  }
  interface FastifyRequest {
    /** Evaluates, explains, renders or checks for the request's workspace, in the child process. */
    judge<Name extends Task>(name: Name, input: InputOf<Name>): Promise<ResultOf<Name>>
    /** Runs work that reads many or large rows and judges them: the workspace's turn comes before the reading. */
    readAndJudge<Result>(work: () => Promise<Result>): Promise<Result>
  }
}

export default fp<{ judging: JudgeLimits }>(
  async (app, { judging }) => {
    const judge = new Judge(judging, {
      noteRefusal: (reason) => app.metrics.judgingsRefused[reason].inc(),
      noteFault: (err) => app.log.error({ err }, 'the process that evaluates for callers ended'),
    })
    app.decorate('judge', judge)
    app.decorate('scanPlaces', new FairSlots(scans))
    app.decorateRequest('judge', function <
      Name extends Task,
    >(this: FastifyRequest, name: Name, input: InputOf<Name>) {
      return judge.run(callerOf(this), name, input)
    })
    app.decorateRequest('readAndJudge', function <Result>(this: FastifyRequest, work: () => Promise<Result>) {
      return judge.readAndAsk(callerOf(this), () => {
        limitReadPatience(this)
        return work()
      })
    })
    app.addHook('onClose', () => judge.close())
  },
  { name: 'judge', dependencies: ['metrics', 'deadline', 'identification'] },
)
