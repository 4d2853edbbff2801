import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { type InputOf, Judge, type JudgeLimits, type ResultOf, type Task } from '../judging/judge.js'

declare module 'fastify' {
  interface FastifyInstance {
    judge: Judge
  }
  interface FastifyRequest {
    /** Judges, explains, renders or checks for the request's workspace, in another thread. */
    judge<Name extends Task>(name: Name, input: InputOf<Name>): Promise<ResultOf<Name>>
  }
}

export default fp<{ judging: JudgeLimits }>(
  async (app, { judging }) => {
    const judge = new Judge(judging, {
      noteRefusal: (reason) => app.metrics.judgingsRefused[reason].inc(),
      noteFault: (err) => app.log.error({ err }, 'the thread of the judge ended'),
    })
    app.decorate('judge', judge)
    app.decorateRequest('judge', function <
      Name extends Task,
    >(this: FastifyRequest, name: Name, input: InputOf<Name>) {
      const isGone = () => this.raw.socket.destroyed
      return judge.run({ workspaceId: this.workspace.id, dueAt: this.dueAt, isGone }, name, input)
    })
    app.addHook('onClose', () => judge.close())
  },
  { name: 'judge', dependencies: ['metrics', 'deadline', 'identification'] },
)
