import { mintToken, tokenParty } from '@automation/access'
import Fastify from 'fastify'
import t from 'tap'
import { cacheTokens } from '../src/yardsticks/cache-tokens.js'

const secret = 'a secret of at least 32 characters for this test'
const env = { JWT_SECRET: secret, JWT_ISSUER: tokenParty, JWT_AUDIENCE: tokenParty }

t.test('a yardstick verifies each of many tokens once, as the product does', async (t) => {
  const app = Fastify()
  const verify = await cacheTokens(app, env)
  const users = ['ada', 'grace', 'edith']
  const tokens = await Promise.all(users.map((userId) => mintToken({ secret, userId, expiresInSeconds: 60 })))
  const verified = t.capture(app.jwt, 'verify', app.jwt.verify.bind(app.jwt))
  for (let round = 0; round < 3; round++)
    t.same(
      tokens.map((token) => verify(`Bearer ${token}`)),
      users,
    )
  t.equal(verified().length, 3)
})

t.test('a yardstick refuses a forged token each time', async (t) => {
  const verify = await cacheTokens(Fastify(), env)
  const forged = await mintToken({
    secret: 'another secret of at least 32 characters!',
    userId: 'ada',
    expiresInSeconds: 60,
  })
  for (let attempt = 0; attempt < 2; attempt++) t.throws(() => verify(`Bearer ${forged}`))
  t.throws(() => verify(undefined))
})
