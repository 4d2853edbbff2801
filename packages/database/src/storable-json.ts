import type { PrismaPg } from '@prisma/adapter-pg'
import { makeStorable } from './write-json.js'

type Adapter = Awaited<ReturnType<PrismaPg['connect']>>
type Queryable = Pick<Adapter, 'queryRaw' | 'executeRaw'>
type Query = Parameters<Adapter['queryRaw']>[0]

/** Makes Prisma write JSON as writeJson does: rows of its models may hold texts of strangers, too, which a statement reads later. */
export function storeJson(factory: PrismaPg): PrismaPg {
  const { connect } = factory
  factory.connect = async () => {
    const adapter = withStorableJson(await connect.call(factory))
    const { startTransaction } = adapter
    adapter.startTransaction = async (...of) => withStorableJson(await startTransaction.apply(adapter, of))
    return adapter
  }
  return factory
}

function withStorableJson<Adapted extends Queryable>(adapted: Adapted): Adapted {
  const { queryRaw, executeRaw } = adapted
  adapted.queryRaw = (query) => queryRaw.call(adapted, makeQueryStorable(query))
  adapted.executeRaw = (query) => executeRaw.call(adapted, makeQueryStorable(query))
  return adapted
}

function makeQueryStorable(query: Query): Query {
  const { args, argTypes } = query
  if (!argTypes.some(({ scalarType }) => scalarType === 'json')) return query
  const isJson = (arg: unknown, index: number): arg is string =>
    typeof arg === 'string' && argTypes[index]?.scalarType === 'json'
  return { ...query, args: args.map((arg, index) => (isJson(arg, index) ? makeStorable(arg) : arg)) }
}
